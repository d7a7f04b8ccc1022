#include "bridge/module_worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "bridge/bridge_process.hpp"
#include "bridge/python_nursery.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds longest_start{300}, longest_making{1800}, longest_call{300}, longest_measurement{600};
constexpr std::size_t max_answer_bytes = std::size_t{1} << 20;

}  // namespace

fs::path inductor_cache() { return cache_directory() / "inductor"; }

ModuleWorker::ModuleWorker(const fs::path& module, const std::string& device, int compile_threads)
    : subject_(module.string()) {
  UniqueFd theirs;
  socket_ = LineSocket(theirs);
  const UniqueFd messages(
      ::open((scratch_.path() / "messages").c_str(), O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600));
  ChildOptions options = bridge_child("cudal1_bridge.worker", {fs::absolute(module).string(), "--device", device});
  options.environment.emplace_back("TORCHINDUCTOR_CACHE_DIR", inductor_cache().string());
  if (compile_threads > 0)
    options.environment.emplace_back("TORCHINDUCTOR_COMPILE_THREADS", std::to_string(compile_threads));
  options.descriptors = {{theirs.get(), 0}, {theirs.get(), 1}, {messages.get(), 2}};
  child_ = start_bridge_child(options);
}

std::vector<std::string> ModuleWorker::ways() {
  return ask({{"do", "variants"}}, longest_start).at("variants").get<std::vector<std::string>>();
}

double ModuleWorker::make(const std::string& way) {
  return ask({{"do", "make"}, {"variant", way}}, longest_making).at("seconds").get<double>();
}

double ModuleWorker::compile(const std::string& way) {
  return ask({{"do", "compile"}, {"variant", way}}, longest_making).at("seconds").get<double>();
}

double ModuleWorker::make_program(const fs::path& package) {
  return ask({{"do", "package"}, {"folder", fs::absolute(package).string()}}, longest_making)
      .at("seconds")
      .get<double>();
}

void ModuleWorker::draw_inputs(std::uint64_t seed) { ask({{"do", "inputs"}, {"seed", seed}}, longest_call); }

ModuleWorker::Times ModuleWorker::time(const std::string& way) {
  const json said = ask({{"do", "time"}, {"variant", way}}, longest_call);
  return {said.at("device_ms").get<double>(), said.at("host_ms").get<double>()};
}

std::vector<std::map<std::string, ModuleWorker::Times>> ModuleWorker::time_rounds(const std::vector<Round>& rounds,
                                                                                  double seconds, int least) {
  json wanted = json::array();
  for (const Round& round : rounds) wanted.push_back({{"seed", round.seed}, {"order", round.order}});
  const json said =
      ask({{"do", "rounds"}, {"rounds", wanted}, {"seconds", seconds}, {"least", least}}, longest_measurement);
  std::vector<std::map<std::string, Times>> times;
  for (const json& round : said.at("times"))
    for (times.emplace_back(); const auto& [way, ms] : round.items())
      times.back()[way] = {ms.at(0).get<double>(), ms.at(1).get<double>()};
  return times;
}

ModuleWorker::Difference ModuleWorker::compare(const std::string& way) {
  const json said = ask({{"do", "compare"}, {"variant", way}}, longest_call);
  return {said.at("error").get<double>(), said.at("scale").get<double>(), said.value("own_error", 0.0)};
}

json ModuleWorker::ask(const json& request, std::chrono::seconds limit) {
  socket_.send(request.dump());
  const std::string line = read_line(Clock::now() + limit);
  const json said = json::parse(line, nullptr, false);
  if (said.is_discarded() || !said.is_object()) throw Error(fmt::format("{}: the worker talks nonsense", subject_));
  if (said.contains("failure")) throw Error(said.at("failure").get<std::string>());
  return said;
}

std::string ModuleWorker::read_line(Clock::time_point deadline) {
  std::string line;
  switch (socket_.read(line, max_answer_bytes, deadline)) {
    case LineSocket::Heard::line:
      return line;
    case LineSocket::Heard::too_long:
      throw Error(fmt::format("{}: the worker talks too much", subject_));
    case LineSocket::Heard::too_late:
      child_.kill();
      throw Error(fmt::format("{}: the worker takes too long", subject_));
    case LineSocket::Heard::end:
      break;
  }
  fail_ended();
}

void ModuleWorker::fail_ended() {
  const auto waited = child_.wait_for(std::chrono::seconds(10));
  const ChildExit ended = waited ? *waited : child_.kill();
  if (!ended.exited) throw Error(fmt::format("{}: Python was ended by signal {}", subject_, ended.code));
  throw Error(bridge_complaint(scratch_.path() / "messages", subject_));
}

}  // namespace cudal1

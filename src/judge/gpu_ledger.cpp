#include "judge/gpu_ledger.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/result.hpp"

namespace cudal1 {
namespace {

constexpr std::array<const char*, 3> names = {"model", "check", "measurement"};

std::optional<GpuTurnTaken> turn_of(const std::string& line) {
  std::istringstream words(line);
  GpuTurnTaken turn;
  std::string name;
  if (!(words >> turn.begin_s >> turn.end_s >> name)) return std::nullopt;
  const auto found = std::ranges::find(names, name);
  if (found == names.end() || turn.end_s < turn.begin_s) return std::nullopt;
  turn.use = static_cast<GpuUse>(found - names.begin());
  return turn;
}

}  // namespace

GpuLedger::GpuLedger(const std::filesystem::path& file)
    : file_(::open(file.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644)) {
  if (!file_) throw Error(fmt::format("{}: {}", file.string(), std::strerror(errno)));
}

std::shared_ptr<const GpuLedger> GpuLedger::of_environment() {
  const char* const file = std::getenv(variable);
  if (file == nullptr || *file == '\0') return nullptr;
  try {
    return std::make_shared<const GpuLedger>(file);
  } catch (const Error&) {
    return nullptr;
  }
}

//! One call of write() for a short line: O_APPEND keeps those of several processes apart.
void GpuLedger::add(const GpuTurnTaken& turn) const noexcept {
  std::array<char, 96> line{};
  const int length = std::snprintf(line.data(), line.size(), "%.6f %.6f %s\n", turn.begin_s, turn.end_s,
                                   names[static_cast<std::size_t>(turn.use)]);
  [[maybe_unused]] const ssize_t written = ::write(file_.get(), line.data(), static_cast<std::size_t>(length));
}

double GpuLedger::now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<GpuTurnTaken> GpuLedgerReader::read() {
  std::ifstream file(file_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(read_bytes_));
  std::vector<GpuTurnTaken> turns;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    read_bytes_ += line.size() + 1;
    if (const auto turn = turn_of(line)) turns.push_back(*turn);
  }
  return turns;
}

double busy_seconds(std::vector<GpuTurnTaken> turns, double begin_s, double end_s) {
  std::ranges::sort(turns, {}, &GpuTurnTaken::begin_s);
  double busy = 0.0, until = begin_s;
  for (const GpuTurnTaken& turn : turns) {
    const double from = std::max(turn.begin_s, until), to = std::min(turn.end_s, end_s);
    busy += std::max(0.0, to - from);
    until = std::max(until, to);
  }
  return busy;
}

}  // namespace cudal1

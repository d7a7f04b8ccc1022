#include "runner/runner_main.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/sandbox.hpp"
#include "device/op_runtime.hpp"
#include "runner/protocol.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

constexpr int socket_descriptor = 3;
// The judge needs about a millisecond to write and poison before a timed call.
constexpr std::chrono::milliseconds longest_wait_awake{20};

std::string read_blob(const UniqueFd& descriptor) {
  struct stat info {};
  if (::fstat(descriptor.get(), &info) != 0) throw Error("a blob's descriptor is not readable");
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  const ssize_t got = ::pread(descriptor.get(), bytes.data(), bytes.size(), 0);
  if (got != static_cast<ssize_t>(bytes.size())) throw Error("a blob is shorter than it says");
  return bytes;
}

CompiledModule module_of(const json& request, const Message& message) {
  CompiledModule module;
  if (!message.descriptors.empty()) module.binary = read_blob(message.descriptors.front());
  module.symbols = request.value("symbols", std::map<std::string, std::string>{});
  return module;
}

class Server {
 public:
  Server(const std::function<std::unique_ptr<Device>()>& make_device, const std::function<void()>& restrict)
      : make_device_(make_device), restrict_(restrict) {}

  json answer(const json& request, Message& message) {
    const std::string what = request.at(protocol::request_key);
    if (what == protocol::wake) return wake(request);
    if (what == protocol::start) return start(request, message);
    if (what == protocol::map) return map(request, message);
    if (what == protocol::load) return load(request, message);
    if (what == protocol::unload) return unload();
    if (!plan_) throw DeviceError(Status::judge_error, "no plan is loaded", false);
    const BufferOffsets offsets = protocol::offsets_from_json(request.at("offsets"));
    if (what == protocol::prepare) {
      plan_->prepare(offsets);
      return {{"ok", true}};
    }
    if (what != protocol::call) throw DeviceError(Status::judge_error, "unknown request '" + what + "'", false);
    return call(request, offsets);
  }

 private:
  json call(const json& request, const BufferOffsets& offsets) {
    const bool time_steps = request.value("time_steps", false);
    const CallTimes times =
        plan_->call(offsets, {.hold_device = request.value("hold_device", false), .time_steps = time_steps});
    json answer{{"ok", true},
                {"device_ms", times.device_ms},
                {"host_ms", times.host_ms},
                {"enqueue_ms", times.enqueue_ms},
                {"gate", static_cast<int>(times.gate)},
                {"findings", protocol::findings_to_json(times.findings)},
                {"printed", times.printed},
                {"profile", times.profile}};
    if (time_steps) answer["step_times"] = protocol::step_times_to_json(times.steps);
    return answer;
  }

  static json wake(const json& request) {
    if (request.value("library", false)) open_op_library();
    return {{"ok", true}};
  }

  json start(const json& request, const Message& message) {
    device_ = make_device_();
    if (!message.descriptors.empty()) device_->set_runtime_kernels(module_of(request, message));
    restrict_();
    return {{"ok", true}};
  }

  json map(const json& request, Message& message) {
    plan_.reset();
    device_->map_arena(std::move(message.descriptors.at(0)),
                       {request.at("bytes"), request.at("op_region_offset"), request.at("op_region_bytes")});
    return {{"ok", true}};
  }

  json load(const json& request, const Message& message) {
    plan_.reset();
    const PrecisionFlags flags{request.at("tf32_convolution"), request.at("tf32_matmul")};
    plan_ = device_->load(plan_from_json(request.at("plan")), module_of(request, message), flags);
    return {{"ok", true}};
  }

  json unload() {
    plan_.reset();
    return {{"ok", true}};
  }

  std::function<std::unique_ptr<Device>()> make_device_;
  std::function<void()> restrict_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<LoadedPlan> plan_;
};

}  // namespace

void serve_runner(Channel& channel, const std::function<std::unique_ptr<Device>()>& make_device,
                  const std::function<void()>& restrict) {
  Server server(make_device, restrict);
  Message message;
  while (channel.receive(message) == Channel::Outcome::message) {
    json reply;
    bool fatal = false;
    channel.set_spin(std::chrono::microseconds(0));
    try {
      const json request = json::parse(message.bytes);
      if (request.at(protocol::request_key) == protocol::ready) {
        channel.set_spin(longest_wait_awake);
        continue;
      }
      reply = server.answer(request, message);
    } catch (const DeviceError& error) {
      fatal = error.fatal;
      reply = protocol::failure_to_json(error.failure, fatal);
    } catch (const std::exception& error) {
      fatal = true;
      reply = protocol::failure_to_json({Status::crashed, error.what(), {}, {}}, true);
    }
    if (!channel.send(reply.dump(-1, ' ', false, json::error_handler_t::replace))) break;
    // The destructors would touch a dead context; the operating system cleans up faster.
    if (fatal) ::_exit(protocol::exit_after_fatal_error);
  }
  ::_exit(0);
}

int runner_main(int argc, char** argv, const std::function<std::unique_ptr<Device>()>& make_device) {
  SandboxPolicy policy;
  policy.readable = {"/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev", "/opt"};
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--readable") policy.readable.emplace_back(argv[i + 1]);
    if (std::string_view(argv[i]) == "--writable") policy.writable.emplace_back(argv[i + 1]);
  }
  // In whatever thread it happens; the judge knows the limit.
  std::set_new_handler([] { ::_exit(protocol::exit_without_memory); });
  Channel channel{UniqueFd(socket_descriptor)};
  serve_runner(channel, make_device, [policy] { restrict_this_process(policy); });
}

}  // namespace cudal1

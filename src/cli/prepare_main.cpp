// cudal1-prepare: what bench does for a task before it measures, in a process of its own. Reads requests from standard
// input, a socket, one a line, and answers each there.
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/crash_trace.hpp"
#include "base/line_socket.hpp"
#include "bench/preparation.hpp"
#include "cli/device_choice.hpp"
#include "judge/judge.hpp"

namespace {

using cudal1::LineSocket;
using nlohmann::json;

constexpr std::size_t most_request_bytes = std::size_t{64} << 20;  // a solution may be part of it

//! Devices that were asked for before.
class Backends {
 public:
  std::shared_ptr<cudal1::Backend> get(const std::string& device, const std::string& gpu) {
    std::shared_ptr<cudal1::Backend>& made = made_[{device, gpu}];
    if (!made) made = make(device, gpu);
    return made;
  }

  //! Between tasks others shall have it.
  void give_back_memory() const {
    for (const auto& [name, backend] : made_)
      if (backend) cudal1::give_back_cached_memory(*backend);
  }

 private:
  static std::shared_ptr<cudal1::Backend> make(const std::string& device, const std::string& gpu) {
    cudal1::VgpuOptions vgpu;
    if (!gpu.empty()) vgpu.gpu = gpu;
    if (device == "cuda") cudal1::leave_cores_to_others();
    return cudal1::choose_backend(device, vgpu);
  }

  std::map<std::pair<std::string, std::string>, std::shared_ptr<cudal1::Backend>> made_;
};

cudal1::Preparation prepared(const std::string& request, Backends& backends) {
  try {
    return cudal1::prepare(
        cudal1::preparation_request_from_json(json::parse(request)),
        [&](const std::string& device, const std::string& gpu) { return backends.get(device, gpu); });
  } catch (const std::exception& problem) {
    return cudal1::failed_preparation(problem.what());
  }
}

//! A GPU on which the judge's own work has failed is of no more use to this process.
bool gives_back_memory(const Backends& backends) try {
  backends.give_back_memory();
  return true;
} catch (const std::exception&) {
  return false;
}

}  // namespace

int main() {
  cudal1::tell_where_it_crashes();
  LineSocket socket = LineSocket::taken_from_standard_input();
  Backends backends;
  std::string request;
  constexpr auto forever = std::chrono::steady_clock::time_point::max();
  while (socket.read(request, most_request_bytes, forever) == LineSocket::Heard::line) {
    const json report = cudal1::to_json(prepared(request, backends));
    const bool goes_on = gives_back_memory(backends);
    socket.send(report.dump(-1, ' ', false, json::error_handler_t::replace));
    if (!goes_on) return 1;
  }
  return 0;
}

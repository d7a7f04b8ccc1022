// cudal1-prepare REQUEST REPORT: what bench does for one task before it measures, in a process of its own.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "bench/preparation.hpp"
#include "cli/device_choice.hpp"
#include "device/cuda/driver.hpp"

namespace {

//! Many of these run at once: while one waits for the GPU, it sleeps. A context keeps the way to wait it was made with.
void leave_cores_to_others() {
  std::string reason;
  if (cudal1::cuda::device_count(reason) > 0) cudal1::cuda::use_primary_context(0, CU_CTX_SCHED_BLOCKING_SYNC);
}

cudal1::Preparation prepared(const char* request_file) {
  try {
    const auto request = cudal1::preparation_request_from_json(nlohmann::json::parse(cudal1::read_file(request_file)));
    return cudal1::prepare(request, [](const std::string& device, const std::string& gpu) {
      cudal1::VgpuOptions vgpu;
      if (!gpu.empty()) vgpu.gpu = gpu;
      if (device == "cuda") leave_cores_to_others();
      return cudal1::choose_backend(device, vgpu);
    });
  } catch (const std::exception& problem) {
    cudal1::Preparation failed;
    failed.status = "failed";
    failed.error = problem.what();
    return failed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: cudal1-prepare REQUEST REPORT\n");
    return 2;
  }
  const nlohmann::json report = cudal1::to_json(prepared(argv[1]));
  cudal1::write_file_atomically(argv[2], report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return 0;
}

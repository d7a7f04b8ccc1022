#include "accelerator/cuda_runtime.hpp"

#include <fmt/format.h>

#include <array>

#include "base/result.hpp"
#include "compile/nvrtc_compiler.hpp"

namespace cudal1 {
namespace {

CUcontext context_of(int gpu) {
  std::string reason;
  if (cuda::device_count(reason) <= gpu)
    throw Error(fmt::format("there is no GPU {} to compute on{}{}", gpu, reason.empty() ? "" : ": ", reason));
  return cuda::use_primary_context(gpu);
}

class RecordedGraph final : public RecordedWork {
 public:
  RecordedGraph(cuda::CapturedGraph graph, CUstream stream) : graph_(std::move(graph)), stream_(stream) {
    cuda::check(cuda::driver().cuGraphInstantiate(&executable_, graph_.graph, 0), "instantiate a recorded graph");
    cuda::check(cuda::driver().cuGraphUpload(executable_, stream_), "upload a recorded graph");
  }
  RecordedGraph(const RecordedGraph&) = delete;
  RecordedGraph& operator=(const RecordedGraph&) = delete;
  ~RecordedGraph() override {
    if (executable_) cuda::driver().cuGraphExecDestroy(executable_);
  }
  void play() override { cuda::check(cuda::driver().cuGraphLaunch(executable_, stream_), "launch a recorded graph"); }

 private:
  cuda::CapturedGraph graph_;
  CUstream stream_;
  CUgraphExec executable_ = nullptr;
};

//! An argument's bytes, in the order of the kernel's parameters.
struct PassedArgument {
  std::uint64_t bits = 0;
  std::size_t bytes = 0;
};

PassedArgument passed(const KernelOperand& argument) {
  if (const auto* tensor = std::get_if<at::Tensor>(&argument))
    return {reinterpret_cast<std::uint64_t>(tensor->data_ptr()), sizeof(CUdeviceptr)};
  return {static_cast<std::uint32_t>(std::get<std::int32_t>(argument)), sizeof(std::int32_t)};
}

}  // namespace

CudaRuntime::CudaRuntime(int gpu) : gpu_(gpu), context_(context_of(gpu)), stream_(std::make_unique<TorchStream>(gpu)) {}

CudaRuntime::~CudaRuntime() { cuda::driver().cuCtxSetCurrent(context_); }  // of the thread that ends it

void CudaRuntime::enter() const { cuda::check(cuda::driver().cuCtxSetCurrent(context_), "use the GPU's context"); }

std::optional<std::int64_t> CudaRuntime::free_bytes() const {
  enter();
  std::size_t free = 0, total = 0;
  cuda::check(cuda::driver().cuMemGetInfo(&free, &total), "read how much memory is free");
  return static_cast<std::int64_t>(free);
}

CudaRuntime::Function CudaRuntime::function_of(const cuda::Module& module, const std::string& symbol) {
  Function found{module.function(symbol), {}};
  std::size_t offset = 0, bytes = 0;
  while (cuda::driver().cuFuncGetParamInfo(found.handle, found.parameter_bytes.size(), &offset, &bytes) == CUDA_SUCCESS)
    found.parameter_bytes.push_back(bytes);
  return found;
}

void CudaRuntime::load_kernels(const std::string& source, const std::vector<std::string>& kernels) {
  enter();
  const Result<CompiledModule> compiled = NvrtcCompiler().compile({source, kernels, cuda::device_info(gpu_).target});
  if (!compiled) throw Error("the model's kernels do not compile: " + compiled.failure().message);
  functions_.clear();
  module_ = std::make_unique<cuda::Module>(compiled.value().binary);
  for (const auto& [kernel, symbol] : compiled.value().symbols) functions_[kernel] = function_of(*module_, symbol);
}

void CudaRuntime::on_stream(const std::function<void()>& work) {
  enter();
  stream_->run(work);
}

void CudaRuntime::launch(const KernelLaunch& launch) {
  const Function& function = functions_.at(launch.kernel);
  std::vector<PassedArgument> arguments;
  for (const KernelOperand& argument : launch.arguments) arguments.push_back(passed(argument));
  bool fits = arguments.size() == function.parameter_bytes.size();
  for (std::size_t i = 0; fits && i < arguments.size(); ++i) fits = arguments[i].bytes == function.parameter_bytes[i];
  if (!fits) throw Error(fmt::format("kernel {} is launched with arguments that it does not take", launch.kernel));
  std::vector<void*> parameters;
  for (PassedArgument& argument : arguments) parameters.push_back(&argument.bits);
  CUlaunchConfig config{};
  config.gridDimX = launch.grid[0];
  config.gridDimY = launch.grid[1];
  config.blockDimX = launch.threads;
  config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream_->stream();
  const CUresult result = cuda::driver().cuLaunchKernelEx(&config, function.handle, parameters.data(), nullptr);
  if (result != CUDA_SUCCESS) cuda::check(result, fmt::format("launch kernel {}", launch.kernel));
}

std::unique_ptr<RecordedWork> CudaRuntime::record(const std::function<void()>& work) {
  return std::make_unique<RecordedGraph>(stream_->capture(work), stream_->stream());
}

void CudaRuntime::synchronise() {
  enter();
  cuda::check(cuda::driver().cuStreamSynchronize(stream_->stream()), "compute on the GPU");
}

void CudaRuntime::wait_for_everybody() {
  enter();
  cuda::check(cuda::driver().cuCtxSynchronize(), "wait for the GPU");
}

}  // namespace cudal1

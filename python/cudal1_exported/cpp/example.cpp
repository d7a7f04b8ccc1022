// Runs a package on files: example PACKAGE [--host] [--weights FILE] INPUT… -- OUTPUT…
// Each file holds the bytes of one tensor, as inputs() and outputs() lay it out.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "cudal1_model.hpp"

namespace {

// A program of yours has its memory from cudaMalloc; this one gets along without the CUDA toolkit.
class Memory {
 public:
  explicit Memory(bool on_host) : on_host_(on_host) {
    if (on_host_) return;
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) throw std::runtime_error("no NVIDIA driver");
    find(driver, "cuMemAlloc_v2", allocate_);
    find(driver, "cuMemcpyHtoD_v2", to_device_);
    find(driver, "cuMemcpyDtoH_v2", to_host_);
  }

  void* allocate(std::size_t bytes) {
    if (on_host_) return std::aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    unsigned long long address = 0;
    check(allocate_(&address, bytes + 1));
    return reinterpret_cast<void*>(address);
  }
  void write(void* target, const std::vector<char>& bytes) {
    if (on_host_)
      std::memcpy(target, bytes.data(), bytes.size());
    else
      check(to_device_(reinterpret_cast<unsigned long long>(target), bytes.data(), bytes.size()));
  }
  std::vector<char> read(const void* source, std::size_t count) {
    std::vector<char> bytes(count);
    if (on_host_)
      std::memcpy(bytes.data(), source, count);
    else
      check(to_host_(bytes.data(), reinterpret_cast<unsigned long long>(source), count));
    return bytes;
  }

 private:
  template <class Function>
  static void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (!function) throw std::runtime_error(std::string("the driver lacks ") + name);
  }
  static void check(int result) {
    if (result != 0) throw std::runtime_error("the driver says " + std::to_string(result));
  }

  bool on_host_;
  int (*allocate_)(unsigned long long*, std::size_t) = nullptr;
  int (*to_device_)(unsigned long long, const void*, std::size_t) = nullptr;
  int (*to_host_)(void*, unsigned long long, std::size_t) = nullptr;
};

std::vector<char> read_file(const std::string& path, std::size_t bytes) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
  if (content.size() != bytes) throw std::runtime_error(path + " does not hold " + std::to_string(bytes) + " bytes");
  return content;
}

void run(const std::string& package, const std::string& weights, bool on_host, const std::vector<std::string>& in,
         const std::vector<std::string>& out) {
  cudal1::Model model(package, on_host ? cudal1::Model::on_host : 0);
  if (!weights.empty()) model.load_weights(weights);
  if (in.size() != model.inputs().size() || out.size() != model.outputs().size())
    throw std::runtime_error("it takes " + std::to_string(model.inputs().size()) + " inputs and gives " +
                             std::to_string(model.outputs().size()) + " outputs");
  Memory memory(on_host);
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (std::size_t i = 0; i < in.size(); ++i) {
    void* address = memory.allocate(model.inputs()[i].bytes);
    memory.write(address, read_file(in[i], model.inputs()[i].bytes));
    inputs.push_back(address);
  }
  for (const cudal1::ModelTensor& output : model.outputs()) outputs.push_back(memory.allocate(output.bytes));
  for (int i = 0; i < 3; ++i) model.run(inputs.data(), outputs.data());
  for (std::size_t i = 0; i < out.size(); ++i) {  // reading waits for the default stream
    const std::vector<char> bytes = memory.read(outputs[i], model.outputs()[i].bytes);
    std::ofstream(out[i], std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}

}  // namespace

int main(int count, char** arguments) try {
  std::string package, weights;
  bool on_host = false, after_dashes = false;
  std::vector<std::string> in, out;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--host")
      on_host = true;
    else if (argument == "--weights" && i + 1 < count)
      weights = arguments[++i];
    else if (argument == "--")
      after_dashes = true;
    else if (package.empty())
      package = argument;
    else
      (after_dashes ? out : in).push_back(argument);
  }
  run(package, weights, on_host, in, out);
  return 0;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 1;
}

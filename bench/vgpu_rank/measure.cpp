// Times on this machine's GPU: the median of several launches, each with its buffers as they were and cold caches.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "corpus.hpp"
#include "cuda_run.hpp"
#include "device/cuda/driver.hpp"

namespace cudal1::rank {
namespace {

using namespace conformance;
using cuda::check;
using cuda::driver;

constexpr int warm_up_launches = 2, timed_launches = 15;
//! More than the second-level cache of any GPU; to write them takes longer than to enqueue a launch, too.
constexpr std::size_t flushed_bytes = std::size_t{256} << 20;

//! A family's buffers: as they were made, and those that kernels write once more.
class FamilyBuffers {
 public:
  struct Use {
    CUdeviceptr address = 0, pristine = 0;  //!< pristine: 0 for those that are only read
    std::size_t bytes = 0;
  };

  Use use(const BufferSpec& spec) {
    const CUdeviceptr original = pristine(spec);
    if (!spec.writable) return {original, 0, spec.bytes()};
    const auto found = written_.find(identity(spec));
    if (found != written_.end()) return {found->second.address(), original, spec.bytes()};
    return {written_.emplace(identity(spec), DeviceBuffer(spec.bytes())).first->second.address(), original,
            spec.bytes()};
  }

 private:
  CUdeviceptr pristine(const BufferSpec& spec) {
    if (const auto found = pristine_.find(identity(spec)); found != pristine_.end()) return found->second.address();
    const Bytes bytes = initial_bytes(spec);
    const auto added = pristine_.emplace(identity(spec), DeviceBuffer(bytes.size())).first;
    check(driver().cuMemcpyHtoD(added->second.address(), bytes.data(), bytes.size()), "fill a buffer");
    return added->second.address();
  }

  std::map<std::string, DeviceBuffer> pristine_, written_;
};

class Stopwatch {
 public:
  Stopwatch() : flushed_(flushed_bytes) {
    check(driver().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "make a stream");
    check(driver().cuEventCreate(&begin_, CU_EVENT_DEFAULT), "make an event");
    check(driver().cuEventCreate(&end_, CU_EVENT_DEFAULT), "make an event");
  }

  //! Sorted, without those that warm up.
  std::vector<double> times_ms(const Case& given, const CompiledCase& compiled, FamilyBuffers& buffers) {
    const LoadedCase loaded(given, compiled);
    std::map<std::string, FamilyBuffers::Use> uses;
    Addresses addresses;
    for (const BufferSpec& spec : given.buffers) {
      uses[spec.name] = buffers.use(spec);
      addresses[spec.name] = uses[spec.name].address;
    }
    std::vector<double> times;
    for (int i = 0; i < warm_up_launches + timed_launches; ++i) {
      restore(uses);
      const double time = time_ms(loaded, addresses);
      if (i >= warm_up_launches) times.push_back(time);
    }
    std::ranges::sort(times);
    return times;
  }

 private:
  void restore(const std::map<std::string, FamilyBuffers::Use>& uses) {
    for (const auto& [name, use] : uses)
      if (use.pristine != 0)
        check(driver().cuMemcpyDtoDAsync(use.address, use.pristine, use.bytes, stream_), "restore a buffer");
    check(driver().cuMemsetD8Async(flushed_.address(), 0, flushed_bytes, stream_), "flush the caches");
  }

  double time_ms(const LoadedCase& loaded, const Addresses& addresses) {
    check(driver().cuEventRecord(begin_, stream_), "record an event");
    loaded.launch(addresses, stream_);
    check(driver().cuEventRecord(end_, stream_), "record an event");
    check(driver().cuStreamSynchronize(stream_), "wait for the kernel");
    float milliseconds = 0.0f;
    check(driver().cuEventElapsedTime(&milliseconds, begin_, end_), "read the time");
    return milliseconds;
  }

  DeviceBuffer flushed_;
  CUstream stream_ = nullptr;
  CUevent begin_ = nullptr, end_ = nullptr;
};

}  // namespace

void measure_corpus(const std::filesystem::path& folder, const std::filesystem::path& result,
                    const std::string& only_family) {
  std::string reason;
  if (cuda::device_count(reason) == 0) throw Error(reason);
  cuda::use_primary_context(0);
  const std::string gpu = cuda::device_info(0).name;
  Stopwatch stopwatch;
  std::string family;
  std::optional<FamilyBuffers> buffers;
  std::ofstream lines(result);
  each_variant(folder, only_family, [&](const Case& given, const CompiledCase& compiled) {
    if (given.family != family) buffers.emplace();
    family = given.family;
    const std::vector<double> times = stopwatch.times_ms(given, compiled, *buffers);
    nlohmann::json line = described(given);
    line["measured_ms"] = times[times.size() / 2];
    line["fastest_ms"] = times.front();
    line["slowest_ms"] = times.back();
    line["gpu"] = gpu;
    lines << line.dump() << std::endl;
    fmt::print("{:<45} {:9.4f} ms ({:.4f} to {:.4f})\n", given.name(), times[times.size() / 2], times.front(),
               times.back());
  });
  if (!lines) throw Error(fmt::format("{} cannot be written", result.string()));
}

}  // namespace cudal1::rank

#pragma once

#include <vector>

#include "compile/compiler.hpp"
#include "device/cuda/cuda_device.hpp"
#include "program/plan.hpp"

namespace cudal1::cuda {

//! A launch with its function found and its parameters laid out; addresses are filled in at each call.
class PreparedLaunch {
 public:
  PreparedLaunch(const LaunchStep& step, const Module& module, const CompiledModule& compiled);
  PreparedLaunch(PreparedLaunch&&) noexcept = default;
  PreparedLaunch(const PreparedLaunch&) = delete;  // parameters_ points into values_
  PreparedLaunch& operator=(const PreparedLaunch&) = delete;

  void set_addresses(const std::vector<std::byte*>& addresses);
  void launch(CUstream stream);
  //! Puts the present parameters into the node of an instantiated graph.
  void patch(CUgraphExec graph, CUgraphNode node);
  //! What the kernel gets, one slot an argument.
  const std::vector<std::uint64_t>& parameters() const { return values_; }
  //! `most_resident_threads`: of a multiprocessor.
  LaunchResources resources(int most_resident_threads) const;

 private:
  struct Pointer {
    std::size_t argument;
    int buffer;
    std::int64_t byte_offset;
  };
  void check_against_function(const LaunchStep& step) const;
  LaunchStep step_;
  CUfunction function_ = nullptr;
  CUlaunchConfig config_{};
  CUlaunchAttribute cluster_{};
  std::vector<std::uint64_t> values_;  // one slot an argument; smaller ones use the first bytes
  std::vector<void*> parameters_;      // where each of them lies
  std::vector<Pointer> pointers_;
};

//! The launches among these steps, in order; `module` may be null where there are none.
std::vector<PreparedLaunch> launches_of(const std::vector<Step>& steps, const Module* module,
                                        const CompiledModule& compiled);

}  // namespace cudal1::cuda

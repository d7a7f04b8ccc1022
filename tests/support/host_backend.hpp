// The host device as the judge sees it. Test support only.
#pragma once

#include "host_device/host_compiler.hpp"
#include "host_device/host_quirks.hpp"
#include "judge/backend.hpp"

namespace cudal1 {

class HostBackend : public Backend {
 public:
  HostBackend();
  ~HostBackend() override;
  const DeviceInfo& info() const override { return info_; }
  bool tensors_on_cuda() const override { return false; }
  Compiler& compiler() override { return compiler_; }
  RunnerOptions runner_options() override;
  std::unique_ptr<Arena> make_arena(std::uint64_t bytes) override;
  std::uint64_t free_bytes() const override { return std::uint64_t{8} << 30; }
  void synchronize() override {}
  double peak_bytes_per_second() const override { return peak_bytes_per_second_; }
  void set_peak_bytes_per_second(double value) { peak_bytes_per_second_ = value; }
  //! Of the runners that are started from now on.
  void set_quirks(const HostQuirks& quirks) {
    choose_quirks_ = [quirks] { return quirks; };
  }
  void choose_quirks(ChooseQuirks choose) { choose_quirks_ = std::move(choose); }

 private:
  DeviceInfo info_;
  HostCompiler compiler_;
  ChooseQuirks choose_quirks_ = [] { return HostQuirks{}; };
  double peak_bytes_per_second_ = 0.0;  // a processor's caches have no such floor
};

}  // namespace cudal1

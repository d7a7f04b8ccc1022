// Who had the GPU's lock and from when to when: a line for each turn that is over, in a file that all processes of a
// machine add to. So much of a run's time is known afterwards in which nobody used the GPU.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"

namespace cudal1 {

//! What a turn on the GPU was for.
enum class GpuUse {
  model,       //!< texts written, gradients, log-probabilities
  check,       //!< programs verified, their contexts and inputs
  measurement  //!< programs timed, alone on the GPU
};

//! In seconds of the machine's monotonic clock, which all its processes share.
struct GpuTurnTaken {
  double begin_s = 0.0, end_s = 0.0;
  GpuUse use = GpuUse::check;
};

class GpuLedger {
 public:
  //! The file's name, for this process and those that it starts.
  static constexpr const char* variable = "CUDAL1_GPU_LEDGER";

  //! Opens or makes it. Throws Error.
  explicit GpuLedger(const std::filesystem::path& file);
  //! The one that the environment names; null where it names none, or one that cannot be opened: nobody's work fails
  //! for want of a ledger.
  static std::shared_ptr<const GpuLedger> of_environment();

  //! Whole or not at all, also beside other processes; nothing happens where the disk is full.
  void add(const GpuTurnTaken& turn) const noexcept;
  static double now_s();

 private:
  UniqueFd file_;
};

//! Writes a turn down when it goes, unless it was moved away.
class GpuTurnRecord {
 public:
  GpuTurnRecord() = default;
  //! The turn begins now. `ledger` may be null.
  GpuTurnRecord(std::shared_ptr<const GpuLedger> ledger, GpuUse use)
      : ledger_(std::move(ledger)), use_(use), begin_s_(ledger_ ? GpuLedger::now_s() : 0.0) {}
  GpuTurnRecord(GpuTurnRecord&&) noexcept = default;
  GpuTurnRecord& operator=(GpuTurnRecord&&) = delete;
  ~GpuTurnRecord() {
    if (ledger_) ledger_->add({begin_s_, GpuLedger::now_s(), use_});
  }

 private:
  std::shared_ptr<const GpuLedger> ledger_;
  GpuUse use_ = GpuUse::check;
  double begin_s_ = 0.0;
};

//! Reads a ledger that grows.
class GpuLedgerReader {
 public:
  explicit GpuLedgerReader(std::filesystem::path file) : file_(std::move(file)) {}
  //! Turns that were written down since the last call. A line that is no turn is passed over; one that is not whole yet
  //! is read the next time.
  std::vector<GpuTurnTaken> read();

 private:
  std::filesystem::path file_;
  std::uintmax_t read_bytes_ = 0;
};

//! Seconds between `begin_s` and `end_s` in which at least one of these turns went on.
double busy_seconds(std::vector<GpuTurnTaken> turns, double begin_s, double end_s);

}  // namespace cudal1

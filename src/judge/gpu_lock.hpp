#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "judge/gpu_ledger.hpp"
#include "judge/lock_file.hpp"

namespace cudal1 {

//! One lock a GPU, shared by all processes and users of the machine: measuring takes it alone, everything else that
//! uses the GPU shares it. Who waits to measure is let in before those who wait to share, so measurements follow each
//! other: the GPU need not be emptied before each of them. Who measures in turns with sharing keeps nobody out. The
//! operating system releases it when a process dies. Turns are written down where the environment names a ledger.
class GpuLock {
 public:
  //! `folder` may be one that everybody writes to. Throws Error when the lock's files can be neither made nor opened,
  //! or when something else has their names.
  explicit GpuLock(const std::string& gpu_id, const std::filesystem::path& folder = "/tmp");

  //! Held until this goes.
  class Guard {
   public:
    Guard(Guard&&) noexcept = default;
    Guard& operator=(Guard&&) = delete;

   private:
    friend class GpuLock;
    Guard(GpuTurnRecord record, UniqueFd file, UniqueFd turn = {})
        : record_(std::move(record)), turn_(std::move(turn)), file_(std::move(file)) {}
    GpuTurnRecord record_;  // first, and so the last to go: nobody waits while it is written
    UniqueFd turn_;  // of who measures
    UniqueFd file_;  // closing it releases the lock; before the turn is given away
  };

  //! Not while the caller holds a guard already, of either kind: the second would wait for the first, or for somebody
  //! who waits to measure and thus for the first.
  [[nodiscard]] Guard share(GpuUse use = GpuUse::check) const;
  [[nodiscard]] Guard alone() const;
  //! Does somebody measure, or wait for it?
  bool is_awaited() const { return turnstile_.is_shared(); }
  const std::filesystem::path& path() const { return lock_.path(); }

 private:
  LockFile lock_;
  LockFile turnstile_;  // who measures shares it until that is done; who comes to share passes it alone
  std::shared_ptr<const GpuLedger> ledger_;  // null: nobody wants to know
};

}  // namespace cudal1

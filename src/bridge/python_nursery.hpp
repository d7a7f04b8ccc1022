// Many Python programs of the bridge in a row start from one process that has PyTorch loaded already.
#pragma once

#include <cstddef>
#include <memory>

#include "base/child_process.hpp"
#include "base/files.hpp"

namespace cudal1 {

//! While one exists, bridge processes of this process and of its children are forked from it (cudal1_bridge.nursery).
//! To be made before other threads are, by one that outlives it: it ends with that thread, and sets environment
//! variables. Where it does not come up, everything starts as it would without.
class PythonNursery {
 public:
  //! `threads`: that PyTorch may use in each of them; 0: as many as it wants.
  explicit PythonNursery(int threads);
  ~PythonNursery();
  PythonNursery(const PythonNursery&) = delete;
  PythonNursery& operator=(const PythonNursery&) = delete;

 private:
  TemporaryFolder folder_;
  ChildProcess process_;
  bool sets_threads_ = false;
};

//! One that pays for so many programs, or none: loading everything takes longer than starting a few by themselves.
std::unique_ptr<PythonNursery> nursery_for(std::size_t programs, int threads);

//! Starts what bridge_child() describes: forked from a nursery where there is one. Throws Error.
ChildProcess start_bridge_child(const ChildOptions& options);

}  // namespace cudal1

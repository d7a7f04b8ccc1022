#pragma once

#include <filesystem>
#include <vector>

namespace cudal1 {

//! What a process that handles hostile input may still do. Reading and writing below are about opening files;
//! descriptors that are already open stay usable.
struct SandboxPolicy {
  std::vector<std::filesystem::path> readable;  //!< files and folders; those that do not exist are left out
  std::vector<std::filesystem::path> writable;  //!< files and folders for reading, writing and ioctl; none are created
  std::vector<std::filesystem::path> scratch;   //!< folders in which files may be made, changed, removed and executed
  bool allow_threads = true;
  bool allow_exec = false;  //!< to become another program of `readable`, which then lives under the same restrictions
  bool allow_processes = false;  //!< to start others, which live under the same restrictions
  bool every_thread = false;     //!< paths: for threads that run already as well; system calls always are
};

struct SandboxReport {
  int landlock_abi = 0;  //!< 0: this kernel has no Landlock, so paths are not restricted
};

//! Gives up for good: network, exec, new processes, looking into other processes, changing the file system, and
//! every path outside the policy. What is said of paths holds for this thread and those it starts later, so call it
//! before there are others, or say `every_thread`. Throws Error when the system call filter cannot be installed, or a
//! thread cannot be reached; a kernel without Landlock is reported, not an error.
SandboxReport restrict_this_process(const SandboxPolicy& policy);

//! The two halves of it: paths through Landlock, system calls through seccomp.
SandboxReport restrict_paths(const SandboxPolicy& policy);
void restrict_system_calls(const SandboxPolicy& policy);

//! The Landlock version of this kernel, 0 when it has none.
int landlock_abi();

}  // namespace cudal1

// Packages that workers wait for while their programs are judged.
#pragma once

#include <filesystem>
#include <future>
#include <map>

namespace cudal1 {

//! By the item's number: where a package comes once its program is judged.
using AwaitedPackages = std::map<std::size_t, std::promise<std::filesystem::path>>;

//! Whoever still waits when this goes, waits no longer: its promise is broken.
struct NobodyAwaited {
  explicit NobodyAwaited(AwaitedPackages& packages) : awaited(packages) {}
  ~NobodyAwaited() { awaited.clear(); }
  NobodyAwaited(const NobodyAwaited&) = delete;
  NobodyAwaited& operator=(const NobodyAwaited&) = delete;
  AwaitedPackages& awaited;
};

}  // namespace cudal1

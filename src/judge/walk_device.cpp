#include "judge/walk_device.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace cudal1 {
namespace {

struct KnownDevices {
  std::mutex mutex;
  std::map<int, std::shared_ptr<WalkDevice>> by_ordinal;
};

//! Never destroyed: when the process ends, the driver may be gone before the modules that are loaded there.
KnownDevices& known() {
  static auto* devices = new KnownDevices;
  return *devices;
}

}  // namespace

void use_walk_device(int ordinal, std::shared_ptr<WalkDevice> device) {
  const std::scoped_lock lock(known().mutex);
  known().by_ordinal[ordinal] = std::move(device);
}

std::shared_ptr<WalkDevice> walk_device_of(int ordinal) {
  const std::scoped_lock lock(known().mutex);
  const auto found = known().by_ordinal.find(ordinal);
  return found == known().by_ordinal.end() ? nullptr : found->second;
}

}  // namespace cudal1

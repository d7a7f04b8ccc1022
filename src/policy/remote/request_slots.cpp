#include "policy/remote/request_slots.hpp"

#include <chrono>

namespace cudal1 {

bool RequestSlots::take(const std::function<bool()>& cancelled) {
  std::unique_lock lock(mutex_);
  while (free_ == 0) {
    if (cancelled()) return false;
    given_back_.wait_for(lock, std::chrono::milliseconds(50));
  }
  if (cancelled()) return false;
  --free_;
  return true;
}

void RequestSlots::give_back() {
  {
    const std::lock_guard lock(mutex_);
    ++free_;
  }
  given_back_.notify_one();
}

}  // namespace cudal1

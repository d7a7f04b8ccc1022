#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

namespace cudal1 {

//! At most so many requests at once, whoever asks.
class RequestSlots {
 public:
  explicit RequestSlots(int count) : free_(count) {}

  //! One slot, held as long as this lives.
  class Slot {
   public:
    Slot(RequestSlots& slots, const std::function<bool()>& cancelled) : slots_(slots), held_(slots.take(cancelled)) {}
    ~Slot() {
      if (held_) slots_.give_back();
    }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    bool held() const { return held_; }  //!< false: cancelled while it waited

   private:
    RequestSlots& slots_;
    bool held_;
  };

 private:
  bool take(const std::function<bool()>& cancelled);
  void give_back();

  std::mutex mutex_;
  std::condition_variable given_back_;
  int free_;
};

}  // namespace cudal1

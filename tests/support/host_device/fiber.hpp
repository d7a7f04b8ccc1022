#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace cudal1 {

//! A point of execution with a stack of its own. A default-made one stands for the stack that is running.
class Fiber {
 public:
  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  //! `entry` runs at the first switch to this fiber and must never return.
  void start(std::byte* stack, std::size_t stack_bytes, void (*entry)());
  //! Keeps the running point in `from` and goes on where `to` stopped.
  static void switch_between(Fiber& from, Fiber& to);

 private:
#if defined(__x86_64__)
  void* stack_pointer_ = nullptr;
#else
  ucontext_t context_{};
#endif
};

}  // namespace cudal1

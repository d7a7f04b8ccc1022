// How much memory the machine has left, and how much of it what others wrote may take.
#pragma once

#include <cstdint>

namespace cudal1 {

//! On this machine or, where that is less, in this container.
std::uint64_t free_memory_bytes();

//! What is left must not fall below this: the machine would become unusable, or the kernel would end somebody.
std::uint64_t least_free_memory_bytes();

//! Of a process that runs what others wrote: three quarters of what is free when it starts.
std::uint64_t share_of_free_memory_bytes();

}  // namespace cudal1

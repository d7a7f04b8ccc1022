// Threads of the host that outlive a launch: many launches take less time than it takes to start one and have it moved
// to another core.
#pragma once

#include <cstddef>
#include <functional>

namespace cudal1::vgpu {

//! work(0) here and work(1) to work(count - 1) on other threads, at the same time; back when all have ended. `work`
//! must not throw. May be called from several threads at once.
void run_on_host_threads(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace cudal1::vgpu

// Ways in which the host device misbehaves on demand: tests provoke verdicts with them that an honest device gives no
// reason for, or take chance out of its times.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "device/device.hpp"

namespace cudal1 {

//! A plan of kernels has at least one launch; a plan of the library has none, as the reference.
struct HostQuirks {
  double kernels_ms = 0.0;        //!< what a call of a plan of kernels is said to take; 0: what the clock says
  double library_ms = 0.0;        //!< the same for a plan of the library
  double unseen_ms = 0.0;         //!< kernels: work that device events do not see but the host waits for
  int calls_per_phase = 0;        //!< kernels: so many calls are followed by as many that take twice as long
  int last_right_call = 0;        //!< kernels: later calls leave a wrong first output; 0: never
  int wrong_calls = 1 << 30;      //!< so many of them
  float wrong_by = 0.0f;          //!< what they add to its first number; 0: all bits of that are flipped
  int last_library_call = 0;      //!< library: the process ends in the call after this one; 0: never
  double slow_host_factor = 1.0;  //!< in one call of three the host is late, and a device that does not wait until the
                                  //!< call is enqueued takes so many times longer
  bool gate_expires = false;      //!< and one that does has waited in vain
  bool cannot_be_held = false;    //!< library: the device never waits, and every call takes twice as long for it
  double unusual_factor = 1.0;    //!< kernels: so many times longer on inputs that do not look like a normal draw
};

//! Called for every runner that is started.
using ChooseQuirks = std::function<HostQuirks()>;

//! The runners that this process starts from now on have these quirks.
void pass_quirks_to_runners(const HostQuirks& quirks);

//! What the process that started this one asked for.
HostQuirks quirks_of_this_runner();

//! `plan`, loaded as `loaded`, with these quirks.
std::unique_ptr<LoadedPlan> with_quirks(std::unique_ptr<LoadedPlan> loaded, const Plan& plan,
                                        std::span<std::byte> arena, const HostQuirks& quirks);

}  // namespace cudal1

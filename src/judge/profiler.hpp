// Where does the time of a program go, on a device that can be timed? Its steps are timed there, and counted on the
// virtual GPU.
#pragma once

#include "judge/judge.hpp"
#include "judge/measured_profile.hpp"
#include "judge/task_context.hpp"

namespace cudal1 {

struct ProfileJob {
  TaskContext& context;
  Backend& backend;
  const CompiledProgram& program;
  const TensorTable& constants;
  std::chrono::milliseconds call_limit;
};

//! Several calls of the context's candidate, which is loaded again if it has no runner. What goes wrong becomes a note
//! of the report.
vgpu::ProfileReport time_steps(const ProfileJob& job, Random& random);

//! One call on the virtual GPU, with the profile for this device. Where that cannot be, a note says why.
void count_steps(const ProfileJob& job, const MakeCountingBackend& make_backend, Random& random,
                 vgpu::ProfileReport& report);

}  // namespace cudal1

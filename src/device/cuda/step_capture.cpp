#include "device/cuda/step_capture.hpp"

namespace cudal1::cuda {
namespace {

void wait_for(CUstream stream, CUevent event) {
  check(driver().cuStreamWaitEvent(stream, event, 0), "order the branches of the graph");
}

}  // namespace

StepCapture::StepCapture(const Plan& plan, CapturedCall& call, std::vector<CUstream> streams)
    : plan_(plan),
      call_(call),
      streams_(std::move(streams)),
      entered_(streams_.size(), false),
      is_awaited_(plan.call.size(), false),
      done_(plan.call.size(), nullptr) {
  for (const BranchStep& step : plan.branches)
    for (const std::size_t earlier : step.waits_for) is_awaited_[earlier] = true;
  entered_[0] = true;
}

StepCapture::~StepCapture() {
  for (const CUevent event : events_) driver().cuEventDestroy(event);
}

std::size_t StepCapture::branch_of(std::size_t step) const {
  return plan_.branches.empty() ? 0 : static_cast<std::size_t>(plan_.branches[step].branch);
}

CUevent StepCapture::recorded_on(CUstream stream) {
  CUevent& event = events_.emplace_back(nullptr);
  check(driver().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "make an event");
  check(driver().cuEventRecord(event, stream), "order the branches of the graph");
  return event;
}

//! A stream becomes part of a capture by waiting for an event of it; this one is from before all steps.
void StepCapture::enter(std::size_t branch) {
  if (entered_[branch]) return;
  wait_for(streams_[branch], fork_);
  entered_[branch] = true;
}

CUstream StepCapture::begin(std::size_t step) {
  if (step == 0 && streams_.size() > 1) fork_ = recorded_on(streams_[0]);
  const std::size_t branch = branch_of(step);
  enter(branch);
  if (!plan_.branches.empty())
    for (const std::size_t earlier : plan_.branches[step].waits_for) wait_for(streams_[branch], done_[earlier]);
  return streams_[branch];
}

void StepCapture::end(std::size_t step) {
  const CUstream stream = streams_[branch_of(step)];
  if (std::holds_alternative<LaunchStep>(plan_.call[step])) call_.note_launch(stream);
  if (is_awaited_[step]) done_[step] = recorded_on(stream);
}

void StepCapture::join() {
  for (std::size_t branch = 1; branch < streams_.size(); ++branch)
    if (entered_[branch]) wait_for(streams_[0], recorded_on(streams_[branch]));
}

}  // namespace cudal1::cuda

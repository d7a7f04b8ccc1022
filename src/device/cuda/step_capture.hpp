// Steps of a call while they are captured: each on the stream of its branch, behind the steps that it needs.
#pragma once

#include <vector>

#include "device/cuda/captured_call.hpp"

namespace cudal1::cuda {

class StepCapture {
 public:
  //! `streams`: the one that is captured, then one for every further branch. All must outlive it.
  StepCapture(const Plan& plan, CapturedCall& call, std::vector<CUstream> streams);
  ~StepCapture();
  StepCapture(const StepCapture&) = delete;
  StepCapture& operator=(const StepCapture&) = delete;

  //! The stream for a step, which waits for all that the step needs. Steps come in the plan's order.
  CUstream begin(std::size_t step);
  void end(std::size_t step);
  //! After the last step: the captured stream waits for all others.
  void join();

 private:
  std::size_t branch_of(std::size_t step) const;
  CUevent recorded_on(CUstream stream);
  void enter(std::size_t branch);

  const Plan& plan_;
  CapturedCall& call_;
  std::vector<CUstream> streams_;
  std::vector<bool> entered_;     // by branch: has it a part in the capture?
  std::vector<bool> is_awaited_;  // by step
  std::vector<CUevent> done_;     // by step; null where nobody waits
  std::vector<CUevent> events_;
  CUevent fork_ = nullptr;
};

}  // namespace cudal1::cuda

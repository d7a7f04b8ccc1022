#include "policy/remote/cost_meter.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace cudal1 {

double cost_of(const TokenUsage& usage, const Prices& prices) {
  return (static_cast<double>(usage.prompt) * prices.input_per_million +
          static_cast<double>(usage.completion) * prices.output_per_million) *
         1e-6;
}

std::string describe(const CostEstimate& estimate, const Prices& prices) {
  std::string line =
      fmt::format("{} samples to ask for ({} from the cache), about {} prompt tokens, at most {} tokens of answers",
                  estimate.samples, estimate.cached_samples, estimate.prompt_tokens, estimate.most_completion_tokens);
  if (!prices.known()) return line + "; cost unknown without --price-in and --price-out";
  return line +
         fmt::format("; cost {:.4f} for the prompts, at most {:.4f} in all", estimate.prompt_cost, estimate.at_most);
}

void CostMeter::Reservation::settle(double spent) {
  if (std::exchange(granted_, false)) meter_.settle(at_most_, spent);
}

bool CostMeter::reserve(double at_most, const std::function<bool()>& cancelled) {
  std::unique_lock lock(mutex_);
  while (ceiling_ && spent_ + reserved_ + at_most > *ceiling_) {
    if (reservations_ == 0 || spent_ + at_most > *ceiling_ || cancelled()) return false;
    settled_.wait_for(lock, std::chrono::milliseconds(50));
  }
  ++reservations_;
  reserved_ += at_most;
  return true;
}

void CostMeter::settle(double reserved, double spent) {
  {
    const std::lock_guard lock(mutex_);
    reserved_ = --reservations_ == 0 ? 0.0 : reserved_ - reserved;  // rounding does not add up
    spent_ += spent;
  }
  settled_.notify_all();
}

double CostMeter::spent() const {
  const std::lock_guard lock(mutex_);
  return spent_;
}

}  // namespace cudal1

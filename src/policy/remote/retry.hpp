#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace cudal1 {

struct RetryRules {
  int attempts = 6;
  double first_wait_s = 0.5;
  double longest_wait_s = 30.0;
  double longest_retry_after_s = 120.0;  //!< a server that asks for more is given up
};

//! Doubles with every failed attempt (the first is 1); `uniform` in [0, 1) takes away up to half of it, so that many
//! clients do not come back at once.
double backoff_seconds(int failed_attempts, double uniform, const RetryRules& rules);

//! The header Retry-After: seconds or a date; at least 0. Nothing if it is neither.
std::optional<double> retry_after_seconds(std::string_view header, std::chrono::system_clock::time_point now);

}  // namespace cudal1

#include "policy/remote/retry.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace cudal1 {

double backoff_seconds(int failed_attempts, double uniform, const RetryRules& rules) {
  const double doubled = std::ldexp(rules.first_wait_s, std::clamp(failed_attempts - 1, 0, 30));
  return std::min(doubled, rules.longest_wait_s) * (1.0 - 0.5 * uniform);
}

std::optional<double> retry_after_seconds(std::string_view header, std::chrono::system_clock::time_point now) {
  double seconds = 0.0;
  const auto [end, error] =
      std::from_chars(header.data(), header.data() + header.size(), seconds, std::chars_format::fixed);
  if (error == std::errc() && end == header.data() + header.size())
    return std::isfinite(seconds) ? std::optional(std::max(seconds, 0.0)) : std::nullopt;
  const std::time_t date = ::curl_getdate(std::string(header).c_str(), nullptr);
  if (date < 0) return std::nullopt;
  return std::max(std::chrono::duration<double>(std::chrono::system_clock::from_time_t(date) - now).count(), 0.0);
}

}  // namespace cudal1

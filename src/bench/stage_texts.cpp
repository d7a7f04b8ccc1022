#include "bench/stage_texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1 {

std::string memory_text(const BenchItem& item) {
  constexpr double gibibyte = 1 << 30;
  if (item.worker_bytes == 0) return {};
  return fmt::format("judge {:.1f} GiB, worker {:.1f} GiB", static_cast<double>(item.judge_bytes) / gibibyte,
                     static_cast<double>(item.worker_bytes) / gibibyte);
}

std::string stages_text(const std::vector<std::pair<std::string, double>>& stages) {
  std::vector<std::string> parts;
  for (const auto& [stage, seconds] : stages) parts.push_back(fmt::format("{} {:.1f}", stage, seconds));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string peak_text(const Preparation& made) {
  if (made.peak_tensor_bytes == 0) return {};
  return fmt::format(", tensors {:.1f} GiB", static_cast<double>(made.peak_tensor_bytes) / (1 << 30));
}

}  // namespace cudal1

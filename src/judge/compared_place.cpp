#include "judge/compared_place.hpp"

#include <ATen/ops/cat.h>

#include <cstdint>
#include <map>

namespace cudal1 {
namespace {

constexpr std::int64_t most_on_host = 1 << 16;

bool is_to_be_brought(const at::Tensor& result) {
  return result.defined() && !result.is_cpu() && result.numel() <= most_on_host;
}

}  // namespace

std::vector<at::Tensor> where_compared(std::vector<at::Tensor> results) {
  std::map<at::ScalarType, std::vector<std::size_t>> together;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (is_to_be_brought(results[i])) together[results[i].scalar_type()].push_back(i);
  for (const auto& [type, indices] : together) {
    std::vector<at::Tensor> flat;
    for (const std::size_t i : indices) flat.push_back(results[i].reshape({-1}));
    const at::Tensor brought = at::cat(flat).to(at::kCPU);
    std::int64_t begin = 0;
    for (const std::size_t i : indices) {
      const std::int64_t count = results[i].numel();
      results[i] = brought.narrow(0, begin, count).view(results[i].sizes());
      begin += count;
    }
  }
  return results;
}

at::Tensor where_compared(const at::Tensor& result) { return is_to_be_brought(result) ? result.to(at::kCPU) : result; }

}  // namespace cudal1

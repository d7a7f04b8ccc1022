#include "model/transformer/joined_rows.hpp"

#include <ATen/ops/cat.h>

namespace cudal1 {

at::Tensor joined_rows(std::vector<at::Tensor> parts) {
  if (parts.size() == 1) return parts[0].detach();
  const at::Tensor all = at::cat(parts, 0).detach();
  std::int64_t first = 0;
  for (at::Tensor& part : parts) {
    const std::int64_t rows = part.size(0);
    part.set_data(all.narrow(0, first, rows));
    first += rows;
  }
  return all;
}

}  // namespace cudal1

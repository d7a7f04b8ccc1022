#include "tasks/families.hpp"

#include <array>

namespace cudal1 {

std::span<const ModuleFamily> module_families() {
  static constexpr std::array families{
      ModuleFamily{"product", "A matrix product and what is done with its result.", describe_product},
      ModuleFamily{"rows", "A norm or a reduction of rows, between pointwise lines.", describe_rows},
      ModuleFamily{"pointwise", "Pointwise lines on several tensors, with transposes and broadcasts.",
                   describe_pointwise},
      ModuleFamily{"convolution", "A convolution, a norm, an activation, a pooling.", describe_convolution},
      ModuleFamily{"attention", "A small attention block.", describe_attention},
      ModuleFamily{"recurrent", "A few steps of a recurrent cell.", describe_recurrent},
      ModuleFamily{"mix", "Layers, norms and pointwise lines in a row.", describe_mix},
  };
  return families;
}

}  // namespace cudal1

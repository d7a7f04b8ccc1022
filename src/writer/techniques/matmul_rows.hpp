// Matrix products whose rows are reduced before they are stored, with the pointwise nodes around.
#pragma once

#include <optional>

#include "writer/technique.hpp"

namespace cudal1 {

class RowProductFusion : public FusionTechnique {
 public:
  const TechniqueDescription& description() const override;
  bool is_for(const Region& region) const override;
  WrittenGroup write(const Region& region, const ParameterValues& parameters, SourcePosition at,
                     const std::string& name) const override;
};

//! What a region of this technique asks of a GPU where its directive says nothing.
struct RowProductUse {
  std::int64_t kernels = 1;
  std::int64_t blocks = 1;         //!< of the first, which multiplies
  std::int64_t scratch_bytes = 0;  //!< that it writes and another reads
};
//! Nothing where the technique is another one's, or refuses.
std::optional<RowProductUse> use_of_row_product(const Region& region);

}  // namespace cudal1

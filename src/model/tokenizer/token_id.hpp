#pragma once

#include <cstdint>

namespace cudal1 {

using TokenId = std::int32_t;  //!< a row of the model's embedding

}  // namespace cudal1

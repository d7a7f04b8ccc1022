#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"

namespace cudal1 {

//! `error` of `--json`: message, and line, column and details where there are any; null where nothing went wrong.
nlohmann::json error_json(const Failure& failure);

}  // namespace cudal1

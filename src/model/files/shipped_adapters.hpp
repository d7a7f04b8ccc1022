// Adapters that come with the program: folders below models/ of the repository, as `cudal1 models publish` makes them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

struct ShippedAdapter {
  std::filesystem::path folder;
  std::string base_name, base_sha256;  //!< of the model that it was trained on
};

//! $CUDAL1_ADAPTERS_DIR, else models/ of the repository that the program was built from.
std::filesystem::path shipped_adapters_directory();

//! Those that say which model they are for, by name. None where there is no such folder: none has to be there.
std::vector<ShippedAdapter> shipped_adapters();

//! The last by name of those for the model with this hash, so that a second version takes the place of the first; null:
//! there is none.
const ShippedAdapter* shipped_for(const std::vector<ShippedAdapter>& adapters, std::string_view model_sha256);

}  // namespace cudal1

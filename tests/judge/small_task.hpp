// Examples at a size that a processor can emulate.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace cudal1::testing {

//! Every size of 128 and more divided by eight. Example programs take their sizes from the task, so they still hold.
inline void shrink_sizes(nlohmann::json& json, bool inside_list = false) {
  if (json.is_number_integer() && inside_list && json.get<std::int64_t>() >= 128) json = json.get<std::int64_t>() / 8;
  if (json.is_array())
    for (auto& item : json) shrink_sizes(item, true);
  if (json.is_object())
    for (auto& [key, value] : json.items()) shrink_sizes(value);
}

inline std::filesystem::path make_small_task(const std::filesystem::path& example,
                                             const std::filesystem::path& folder) {
  std::ifstream in(example / "graph.json");
  nlohmann::json graph = nlohmann::json::parse(in);
  shrink_sizes(graph);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "graph.json") << graph.dump(1);
  return folder;
}

}  // namespace cudal1::testing

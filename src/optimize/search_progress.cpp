#include "optimize/search_progress.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

json to_json(const SearchIdentity& identity) {
  return {{"task_hash", identity.task_hash}, {"device", identity.device}, {"policy", identity.policy}};
}

//! Of every search that has written into the file; empty where there is none, or it is broken.
json searches_in(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return json::array();
  const json found = json::parse(read_file(file), nullptr, false);
  const bool readable = found.is_object() && found.contains("searches") && found["searches"].is_array();
  return readable ? found["searches"] : json::array();
}

bool is_of(const json& entry, const SearchIdentity& identity) {
  return entry.is_object() && entry.value("search", json()) == to_json(identity) && entry.contains("evaluations") &&
         entry["evaluations"].is_number_integer() && entry.contains("seconds") && entry["seconds"].is_number();
}

}  // namespace

SearchRun::Spent read_progress(const std::filesystem::path& file, const SearchIdentity& identity) {
  for (const json& entry : searches_in(file))
    if (is_of(entry, identity))
      return {std::max(0, entry["evaluations"].get<int>()), std::max(0.0, entry["seconds"].get<double>())};
  return {};
}

void write_progress(const std::filesystem::path& file, const SearchIdentity& identity, const SearchRun::Spent& spent) {
  json kept = json::array();
  for (const json& entry : searches_in(file))
    if (!is_of(entry, identity)) kept.push_back(entry);
  kept.push_back({{"search", to_json(identity)}, {"evaluations", spent.evaluations}, {"seconds", spent.seconds}});
  write_file_atomically(file, json{{"searches", kept}}.dump(1) + "\n");
}

}  // namespace cudal1

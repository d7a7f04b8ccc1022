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

}  // namespace

SearchRun::Spent read_progress(const std::filesystem::path& file, const SearchIdentity& identity) {
  if (!std::filesystem::exists(file)) return {};
  const json found = json::parse(read_file(file), nullptr, false);
  if (!found.is_object() || found.value("search", json()) != to_json(identity)) return {};
  const json& evaluations = found.contains("evaluations") ? found["evaluations"] : json();
  const json& seconds = found.contains("seconds") ? found["seconds"] : json();
  if (!evaluations.is_number_integer() || !seconds.is_number()) return {};
  return {std::max(0, evaluations.get<int>()), std::max(0.0, seconds.get<double>())};
}

void write_progress(const std::filesystem::path& file, const SearchIdentity& identity, const SearchRun::Spent& spent) {
  const json made{{"search", to_json(identity)}, {"evaluations", spent.evaluations}, {"seconds", spent.seconds}};
  write_file_atomically(file, made.dump(1) + "\n");
}

}  // namespace cudal1

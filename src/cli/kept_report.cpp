#include "cli/kept_report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "bench/row_key.hpp"
#include "cli/policy_choice.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t any_size = std::uint64_t{1} << 40;

bool is_there(const fs::path& named) {
  std::error_code unknown;
  return named.empty() || fs::exists(named, unknown);
}

bool is_done(const TaskReport& report, int evaluations) {
  const json& said = report.fields;
  return report.error.empty() && !report.wants_another_process && !said.value("stopped", true) &&
         (said.value("evaluations", 0) >= evaluations || said.value("exhausted", false));
}

bool asks_nobody_else(const PolicyShare& share) { return share.name == "search" || share.name == "local"; }

}  // namespace

std::string key_of_searches(const SearchRequest& request, const std::string& device_name) try {
  PolicyOptions policies;
  read_policy_arguments(request.policy_arguments, policies);
  if (!std::ranges::all_of(policy_shares(policies), asks_nobody_else)) return {};
  Sha256 hash;
  add_local_model(hash, policies);
  hash.add_field(hash_of_code()).add_field(read_file(executable_directory() / "cudal1-search", any_size));
  hash.add_field(request.device).add_field(device_name).add_field(request.archive.string());
  for (const std::string& argument : request.policy_arguments) hash.add_field(argument);
  hash.add_field(std::to_string(request.evaluations)).add_field(request.explain ? "e" : "");
  return hash.add_field(request.best_is_timed_later ? "t" : "").hex();
} catch (const Error&) {
  return {};  // a model that cannot be read: whoever searches says so
}

KeptReport::KeptReport(const fs::path& folder, const std::string& key_of_searches, const std::string& task_hash) {
  if (folder.empty() || key_of_searches.empty()) return;
  file_ = folder / "report.json";
  Sha256 hash;
  key_ = hash.add_field(key_of_searches).add_field(task_hash).hex();
}

std::optional<TaskReport> KeptReport::read() const try {
  if (file_.empty() || !fs::exists(file_)) return std::nullopt;
  const json kept = json::parse(read_file(file_));
  if (kept.at("key") != key_) return std::nullopt;
  TaskReport report = report_of_message(kept.at("report"));
  if (!is_there(report.program) || !is_there(report.package)) return std::nullopt;
  for (const char* done_now : {"judged", "right", "seconds"}) report.fields[done_now] = 0;
  return report;
} catch (const std::exception&) {
  return std::nullopt;  // it cannot be read, so it is made anew
}

void KeptReport::write(const TaskReport& report, int evaluations) const try {
  if (file_.empty() || !is_done(report, evaluations)) return;
  const json kept{{"key", key_}, {"report", message_of(report)}};
  write_file_atomically(file_, kept.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
} catch (const std::exception&) {
}

}  // namespace cudal1

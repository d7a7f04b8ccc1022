#include "program/plan_hash.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "program/source_scan.hpp"

namespace cudal1 {
namespace {

//! # and ## inside macros turn spelling into values, and __LINE__ makes line breaks matter. Two programs that behave
//! differently must never share a hash, so such code is not folded.
bool spelling_matters(const CodeToken& token) {
  const bool hash_sign = token.text == "#" || token.text == "%:";
  if (hash_sign) return token.in_preprocessor && !token.starts_line;
  if (token.text == "##" || token.text == "%:%:") return true;
  return token.kind == CodeTokenKind::word &&
         (token.text.find("LINE") != token.text.npos || token.text.find("source_location") != token.text.npos);
}

//! What stands between a token and the one before it.
std::string_view separator(const CodeToken& before, const CodeToken& token) {
  if (token.starts_line && (before.in_preprocessor || token.in_preprocessor)) return "\n";
  const bool literal = before.kind == CodeTokenKind::literal || token.kind == CodeTokenKind::literal;
  if (literal && !token.space_before && !token.starts_line) return "";  // L"x" and "x"_suffix are not L "x"
  const bool macro_parameters = token.in_preprocessor && token.text == "(" && !token.space_before;
  return macro_parameters ? "" : " ";  // #define F(x) is not #define F (x)
}

void erase_what_does_not_run(nlohmann::json& steps) {
  for (nlohmann::json& step : steps) {
    step.erase("at");
    if (step.contains("node")) step["node"].erase("name");
  }
}

}  // namespace

std::string canonical_code(std::string_view code) {
  const SourceScan scan = scan_source(code);
  if (std::any_of(scan.tokens.begin(), scan.tokens.end(), spelling_matters)) return std::string(code);
  std::string text;
  for (std::size_t i = 0; i < scan.tokens.size(); ++i) {
    if (i > 0) text += separator(scan.tokens[i - 1], scan.tokens[i]);
    text += scan.tokens[i].text;
  }
  return text;
}

std::string plan_hash(const Plan& plan) {
  nlohmann::json json = plan_to_json(plan);
  for (const char* field : {"code", "hash", "kernels"}) json.erase(field);
  for (nlohmann::json& buffer : json["buffers"]) buffer.erase("name");
  erase_what_does_not_run(json["prepare"]);
  erase_what_does_not_run(json["call"]);
  Sha256 hash;
  hash.add_field("plan 1").add_field(json.dump()).add_field(canonical_code(plan.code));
  return hash.hex();
}

}  // namespace cudal1

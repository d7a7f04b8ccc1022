#include "cli/policy_record.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace cudal1 {

std::string record_text(const PolicyRecord& record) {
  const GenerationTotals& totals = record.totals;
  const int nothing = totals.no_program + totals.refusals + totals.cut_off + totals.empty_programs;
  std::string text = fmt::format("{}: {} samples, {} new programs, {} copies, {} without a program", record.policy,
                                 totals.samples, totals.programs, totals.copies, nothing);
  if (totals.failures > 0) text += fmt::format(", {} not answered", totals.failures);
  text += fmt::format("; {} tokens read, {} written", totals.prompt_tokens, totals.new_tokens);
  return totals.cost > 0.0 ? text + fmt::format("; cost {:.4g}", totals.cost) : text;
}

nlohmann::json to_json(const PolicyRecord& record) {
  const GenerationTotals& totals = record.totals;
  return {{"policy", record.policy},
          {"samples", totals.samples},
          {"programs", totals.programs},
          {"copies", totals.copies},
          {"no_program", totals.no_program},
          {"refusals", totals.refusals},
          {"cut_off", totals.cut_off},
          {"empty_programs", totals.empty_programs},
          {"failures", totals.failures},
          {"repairs", totals.repairs},
          {"prompt_tokens", totals.prompt_tokens},
          {"new_tokens", totals.new_tokens},
          {"cost", totals.cost}};
}

}  // namespace cudal1

#include "policy/prompt/exemplar_selection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/hash.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

using Indices = std::vector<std::size_t>;

constexpr std::array<std::pair<ExemplarChoice, std::string_view>, 4> choice_names{{{ExemplarChoice::bucket, "bucket"},
                                                                                   {ExemplarChoice::island, "island"},
                                                                                   {ExemplarChoice::random, "random"},
                                                                                   {ExemplarChoice::none, "none"}}};

//! White space at both ends makes no other program.
std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

//! Of each text the last one, if it was right.
Indices distinct_right_ones(const std::vector<ScoredProgram>& programs) {
  std::map<std::string_view, std::size_t> last;
  for (std::size_t i = 0; i < programs.size(); ++i) last[trimmed(programs[i].text)] = i;
  Indices indices;
  for (const auto& [text, index] : last)
    if (std::isfinite(programs[index].reward) && programs[index].reward > 0.0) indices.push_back(index);
  std::ranges::sort(indices);
  return indices;
}

//! NaN or infinite where a program was not right.
std::vector<double> log_scores(const std::vector<ScoredProgram>& programs) {
  std::vector<double> scores;
  for (const ScoredProgram& program : programs) scores.push_back(std::log(program.reward));
  return scores;
}

//! The island follows from the text, as in the search: a run that begins again finds the same ones.
std::vector<Indices> islands_of(const std::vector<ScoredProgram>& programs, const Indices& right, std::size_t count) {
  std::vector<Indices> islands(count);
  for (const std::size_t index : right) {
    const std::string hash = sha256_hex(trimmed(programs[index].text));
    islands[std::stoull(hash.substr(0, 8), nullptr, 16) % count].push_back(index);
  }
  std::erase_if(islands, [](const Indices& island) { return island.empty(); });
  return islands;
}

Indices from_an_island(const std::vector<ScoredProgram>& programs, const Indices& right, const ExemplarOptions& options,
                       Random& random) {
  const std::vector<Indices> islands = islands_of(programs, right, options.islands);
  if (islands.empty()) return {};
  return draw_by_score(log_scores(programs), islands[random.below(islands.size())], options.count, options.temperature,
                       random);
}

}  // namespace

std::string_view to_string(ExemplarChoice choice) {
  return std::ranges::find(choice_names, choice, &std::pair<ExemplarChoice, std::string_view>::first)->second;
}

std::optional<ExemplarChoice> exemplar_choice_from_string(std::string_view name) {
  for (const auto& [choice, known] : choice_names)
    if (known == name) return choice;
  return std::nullopt;
}

std::vector<ScoreBucket> score_buckets(const std::vector<ScoredProgram>& programs, double width) {
  return score_buckets(log_scores(programs), distinct_right_ones(programs), width);
}

void check(const ExemplarOptions& options) {
  if (!(options.bucket_width > 0.0) || !(options.temperature > 0.0) || options.islands == 0)
    throw Error("exemplars: the width of buckets, the temperature and the number of islands must be above 0");
}

std::vector<std::size_t> select_exemplars(const std::vector<ScoredProgram>& programs, const ExemplarOptions& options,
                                          Random& random) {
  check(options);
  if (options.choice == ExemplarChoice::none || options.count == 0) return {};
  const Indices right = distinct_right_ones(programs);
  Indices chosen;
  if (options.choice == ExemplarChoice::bucket)
    chosen =
        draw_from_buckets(score_buckets(programs, options.bucket_width), options.count, options.temperature, random);
  if (options.choice == ExemplarChoice::island) chosen = from_an_island(programs, right, options, random);
  fill_up_exemplars(chosen, right, options.count, random);
  std::ranges::stable_sort(chosen, {}, [&](std::size_t index) { return programs[index].reward; });
  return chosen;
}

}  // namespace cudal1

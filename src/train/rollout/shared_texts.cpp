#include "train/rollout/shared_texts.hpp"

#include <algorithm>
#include <numeric>

#include "base/result.hpp"

namespace cudal1 {

TrainingText text_of(const std::vector<std::int32_t>& prompt, const std::vector<std::int32_t>& answer) {
  TrainingText text{prompt, std::vector<float>(prompt.size() + answer.size())};
  text.tokens.insert(text.tokens.end(), answer.begin(), answer.end());
  return text;
}

std::int64_t all_tokens(std::span<const TrainingText> texts) {
  return std::accumulate(texts.begin(), texts.end(), std::int64_t{0}, [](std::int64_t sum, const TrainingText& text) {
    return sum + static_cast<std::int64_t>(text.tokens.size());
  });
}

std::vector<std::pair<std::size_t, std::size_t>> parts_of(std::span<const TrainingText> texts,
                                                          std::int64_t tokens_at_once) {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  for (std::size_t begin = 0, end = 0; begin < texts.size(); begin = end) {
    std::int64_t tokens = 0;
    do tokens += static_cast<std::int64_t>(texts[end++].tokens.size());
    while (end < texts.size() && tokens + static_cast<std::int64_t>(texts[end].tokens.size()) <= tokens_at_once);
    parts.emplace_back(begin, end - begin);
  }
  return parts;
}

std::vector<std::size_t> own_share(std::span<const TrainingText> texts, const ProcessGroup& group) {
  std::vector<std::size_t> counting, lengths;
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (std::ranges::any_of(texts[i].weights, [](float weight) { return weight != 0.0F; })) {
      counting.push_back(i);
      lengths.push_back(texts[i].tokens.size());
    }
  if (counting.empty()) throw Error("no token of these texts counts: there is nothing to learn");
  std::vector<std::size_t> share = shares_of(lengths, group.size())[group.member()];
  for (std::size_t& place : share) place = counting[place];
  return share;
}

}  // namespace cudal1

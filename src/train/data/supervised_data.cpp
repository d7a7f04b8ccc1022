#include "train/data/supervised_data.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "base/result.hpp"
#include "train/data/exemplar_analysis.hpp"
#include "train/data/written_out.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t exemplar_counts = 3;  // 0, 1, 2
constexpr int draws_a_pair = 8;

template <class T>
void shuffle(std::vector<T>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

//! Numbers below a bound in random order, and again in another when all have come.
class Deck {
 public:
  explicit Deck(std::size_t size) : left_(0), order_(size) { std::iota(order_.begin(), order_.end(), std::size_t{0}); }

  std::size_t next(Random& random) {
    if (left_ == 0) {
      shuffle(order_, random);
      left_ = order_.size();
    }
    return order_[--left_];
  }

 private:
  std::size_t left_;
  std::vector<std::size_t> order_;
};

struct PairKind {
  std::size_t exemplars = 0;
  ProgramForm form = ProgramForm::directives;
};

//! In shares that hold exactly; how many exemplars and which form have nothing to do with each other.
std::vector<PairKind> pair_kinds(const SupervisedDataOptions& options, Random& random) {
  std::vector<std::size_t> exemplars(options.pairs);
  for (std::size_t i = 0; i < exemplars.size(); ++i) exemplars[i] = i % exemplar_counts;
  shuffle(exemplars, random);
  const auto written_out =
      static_cast<std::size_t>(std::llround(options.written_out_share * static_cast<double>(options.pairs)));
  std::vector<ProgramForm> forms(options.pairs, ProgramForm::directives);
  std::fill_n(forms.begin(), std::min(written_out, forms.size()), ProgramForm::written_out);
  shuffle(forms, random);
  std::vector<PairKind> kinds(options.pairs);
  for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] = {exemplars[i], forms[i]};
  return kinds;
}

class PairMaker {
 public:
  PairMaker(std::span<const TaskVariants> tasks, const SupervisedDataOptions& options, Random& random)
      : tasks_(tasks), options_(options), random_(random), task_deck_(tasks.size()) {
    for (const TaskVariants& task : tasks) target_decks_.emplace_back(task.variants.size());
  }

  SupervisedData make() {
    if (tasks_.empty()) return {};
    for (const PairKind& kind : pair_kinds(options_, random_)) add(kind);
    return std::move(data_);
  }

 private:
  void add(const PairKind& kind) {
    for (int draw = 0; draw < draws_a_pair; ++draw)
      if (auto example = draw_pair(kind)) {
        data_.examples.push_back(std::move(*example));
        return;
      }
    ++data_.counts.unfilled;
  }

  std::optional<TrainingExample> draw_pair(const PairKind& kind) {
    const std::size_t number = task_deck_.next(random_);
    const TaskVariants& task = tasks_[number];
    if (task.variants.size() < kind.exemplars + 1) return left_out(data_.counts.too_few_variants);
    const std::size_t target = target_decks_[number].next(random_);
    return pair_of(task, task.variants[target], exemplars_besides(task, target, kind.exemplars), kind.form);
  }

  static std::nullopt_t left_out(std::size_t& count) {
    ++count;
    return std::nullopt;
  }

  //! Any others, in any order.
  std::vector<PromptExemplar> exemplars_besides(const TaskVariants& task, std::size_t target, std::size_t count) {
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < task.variants.size(); ++i)
      if (i != target) others.push_back(i);
    shuffle(others, random_);
    std::vector<PromptExemplar> exemplars;
    for (std::size_t i = 0; i < count; ++i) {
      const ScoredVariant& variant = task.variants[others[i]];
      exemplars.push_back({variant.program.text, variant.speedup});
    }
    return exemplars;
  }

  std::optional<TrainingExample> pair_of(const TaskVariants& task, const ScoredVariant& target,
                                         std::vector<PromptExemplar> exemplars, ProgramForm form) {
    const auto prompt = prompt_of(*task.task, exemplars, form);
    if (!prompt) return left_out(data_.counts.too_long_prompt);
    const std::string& directives = target.program.text;
    const auto program = form == ProgramForm::directives ? directives : written_out(task.task->task.graph, directives);
    const std::string completion =
        completion_of(*task.task, options_.prompt.gpu, exemplars, directives, program.value_or(directives));
    if (!program || options_.prompt.count_tokens(completion) > options_.prompt.answer_room(form))
      return left_out(data_.counts.too_long_answer);
    return TrainingExample{.task = task.task->task.name,
                           .split = split_of(*task.task),
                           .group = group_of_prompt(prompt->text),
                           .prompt = prompt->text,
                           .completion = completion,
                           .plan_hash = target.program.plan_hash,
                           .speedup = target.speedup,
                           .reward = std::log(target.speedup),
                           .exemplars = exemplars.size(),
                           .form = form};
  }

  //! Nothing: it has no room for all of this.
  std::optional<Prompt> prompt_of(const TrainingTask& task, const std::vector<PromptExemplar>& exemplars,
                                  ProgramForm form) const {
    try {
      Prompt prompt = training_prompt(task, exemplars, form, options_.prompt);
      return lacks_exemplars(prompt) ? std::nullopt : std::optional(std::move(prompt));
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  std::span<const TaskVariants> tasks_;
  const SupervisedDataOptions& options_;
  Random& random_;
  Deck task_deck_;
  std::vector<Deck> target_decks_;
  SupervisedData data_;
};

}  // namespace

SupervisedData supervised_data(std::span<const TaskVariants> tasks, const SupervisedDataOptions& options,
                               Random& random) {
  return PairMaker(tasks, options, random).make();
}

std::string completion_of(const TrainingTask& task, const vgpu::GpuProfile& gpu,
                          std::span<const PromptExemplar> exemplars, std::string_view directives,
                          std::string_view program) {
  const std::string analysis = exemplars.empty() ? analysis_of_task(task.task.graph, gpu, directives)
                                                 : analysis_of_exemplars(exemplars, directives);
  return fmt::format("{}\n{}", analysis, program);
}

}  // namespace cudal1

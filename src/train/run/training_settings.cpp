#include "train/run/training_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/result.hpp"
#include "policy/prompt/exemplar_selection.hpp"
#include "program/nearest_name.hpp"
#include "program/rejection.hpp"
#include "tasks/families.hpp"
#include "train/run/toml_reader.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
using Settings = std::vector<TrainingSetting>;

constexpr SettingRange at_least(double least) { return {.least = least}; }
constexpr SettingRange from(double least, double most) { return {.least = least, .most = most}; }
constexpr SettingRange above_zero{.least = 0.0, .excludes_least = true};
constexpr SettingRange share{.least = 0.0, .most = 1.0};
constexpr SettingRange at_least_one{.least = 1.0};

constexpr bool may_change = true;

template <class Enum>
NamedChoice by_name(Enum& field, std::optional<Enum> (*from_string)(std::string_view)) {
  return {[&field] { return std::string(to_string(field)); },
          [&field, from_string](std::string_view name) {
            const std::optional<Enum> value = from_string(name);
            if (value) field = *value;
            return value.has_value();
          }};
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const ModuleFamily& family : module_families()) names.emplace_back(family.name);
  return names;
}

// --- The table ---

Settings settings_of(RunSettings& run) {
  return {
      {"run", "seed", &run.seed, "of everything that is drawn but the tasks"},
      {"run",
       "stages",
       &run.stages,
       "to go through, in this order",
       {},
       {"supervised", "self_supervised", "contrastive"}},
      {"run", "answer_tokens", &run.answer_tokens, "of an answer in directives, at most", at_least_one},
      {"run", "written_out_tokens", &run.written_out_tokens,
       "of an answer with CUDA in it; longer ones are not learned", at_least_one},
      {"run", "grammar", &run.grammar,
       "answers in directives are sampled among the well-formed ones of their task, and learned from so"},
      {"run", "context_tokens", &run.context_tokens, "of prompt and answer together, at most", at_least_one},
      {"run", "tokens_at_once", &run.tokens_at_once, "of texts whose gradients are computed together", at_least_one},
      {"run",
       "processes",
       &run.processes,
       "that divide each step's texts among them: at most one a GPU, any number on a CPU",
       from(1, 64),
       {},
       may_change},
      {"run", "slots", &run.slots, "texts that are written at once; fewer on a CPU", at_least_one},
      {"run", "longest_gradient", &run.longest_gradient, "norm to which longer gradients are scaled", above_zero},
      {"run", "weight_decay", &run.weight_decay, "of AdamW", at_least(0)},
      {"run", "checkpoint_every", &run.checkpoint_every, "steps", at_least_one, {}, may_change},
      {"run",
       "keep_checkpoints",
       &run.keep_checkpoints,
       "of each stage, beside its last one",
       at_least(0),
       {},
       may_change},
      {"run", "validate_every", &run.validate_every, "steps of stage 3; 0: at the end only", at_least(0)},
  };
}

Settings settings_of(ModelSettings& model) {
  return {
      // Wherever it lies: a run knows its model by the hash.
      {"model",
       "path",
       &model.path,
       "a GGUF file or a Hugging Face folder; empty: the product's own",
       {},
       {},
       may_change},
      {"model", "adapter", &model.adapter, "from which to start, in PEFT's format; empty: a new one"},
      {"model", "rank", &model.rank, "of the adapter; the same where one is named", from(1, 1024)},
      {"model", "alpha", &model.alpha, "of the adapter, which is scaled by alpha / rank; the same where one is named",
       above_zero},
      {"model", "device", &model.device, "where the model is", {}, {"auto", "cpu", "cuda"}},
      {"model",
       "dtype",
       &model.dtype,
       "of the frozen weights; auto: f32 on a CPU, bf16 on a GPU",
       {},
       {"auto", "f32", "bf16", "f16"}},
  };
}

Settings settings_of(TaskSettings& tasks) {
  return {
      {"tasks", "seed", &tasks.seed, "of the generator"},
      {"tasks", "train", &tasks.train, "tasks to learn from", at_least_one},
      {"tasks", "validation", &tasks.validation, "tasks to watch", at_least(0)},
      {"tasks", "test", &tasks.test, "tasks that training never sees", at_least(0)},
      {"tasks", "reference_us_low", &tasks.reference_us_low, "a task's reference takes at least so long", at_least(0)},
      {"tasks", "reference_us_high", &tasks.reference_us_high, "and at most so long", above_zero},
      {"tasks", "difficulty", &tasks.difficulty, "0 to 1; below 0: every task draws its own", from(-1, 1)},
      {"tasks", "families", &tasks.families, "of modules; empty: all", {}, family_names()},
      {"tasks", "least_speed_ratio", &tasks.least_speed_ratio,
       "for stage 3: of the 90th to the 10th percentile of random programs; 0: any", at_least(0)},
      {"tasks", "spread_programs", &tasks.spread_programs, "so many random programs say it", at_least(2)},
  };
}

Settings settings_of(JudgeSettings& judge) {
  return {
      {"judge", "device", &judge.device, "that programs run on", {}, {"auto", "cuda", "vgpu"}},
      {"judge", "gpu", &judge.gpu, "whose times the virtual one predicts"},
      {"judge",
       "jobs",
       &judge.jobs,
       "programs that are compiled at once; 0: as many as there are cores",
       at_least(0),
       {},
       may_change},
      {"judge", "archive", &judge.archive, "where measurements are kept and shared; empty: in the run's folder"},
  };
}

Settings settings_of(SupervisedSettings& stage) {
  return {
      {"supervised", "pairs", &stage.pairs, "of prompt and answer", at_least_one},
      {"supervised", "written_out_share", &stage.written_out_share, "of pairs: CUDA with `kernel … replaces`", share},
      {"supervised", "epochs", &stage.epochs, "times that each pair is learned", at_least_one},
      {"supervised", "batch", &stage.batch, "texts a step", at_least_one},
      {"supervised", "learning_rate", &stage.learning_rate, "at its peak", above_zero},
      {"supervised", "warm_up_steps", &stage.warm_up_steps, "until the peak", at_least(0)},
      {"supervised", "variants", &stage.variants, "programs tried for each task", at_least_one},
      {"supervised", "programs", &stage.programs,
       "variants.jsonl of another run on the same GPU: what it has is not judged again; empty: all are judged"},
  };
}

Settings settings_of(SelfSupervisedSettings& stage) {
  return {
      {"self_supervised", "rounds", &stage.rounds, "of writing and learning", at_least_one},
      {"self_supervised", "samples", &stage.samples, "a task and round", at_least_one},
      {"self_supervised", "most_plans", &stage.most_plans,
       "distinct ones of a task that are learned from, in all rounds", at_least_one},
      {"self_supervised", "supervised_share", &stage.supervised_share,
       "of a batch: pairs of stage 1; fewer where own ones are few", share},
      {"self_supervised", "batch", &stage.batch, "texts a step", at_least_one},
      {"self_supervised", "learning_rate", &stage.learning_rate, "at its peak", above_zero},
  };
}

Settings learning_settings_of(ContrastiveSettings& stage) {
  return {
      {"contrastive", "steps", &stage.steps, "in all", at_least_one},
      {"contrastive", "prompts", &stage.prompts, "a step", at_least_one},
      {"contrastive", "samples", &stage.samples, "a prompt", at_least(2)},
      {"contrastive", "updates", &stage.updates, "of the weights for the samples of one step", at_least_one},
      {"contrastive", "ahead", &stage.ahead,
       "answers of the next step are written while those of this one are judged, by weights one update older; "
       "quicker, but a run that was ended does not go on to the same numbers"},
      {"contrastive", "learning_rate", &stage.learning_rate, "at its peak", above_zero},
      {"contrastive", "warm_up_steps", &stage.warm_up_steps, "until the peak", at_least(0)},
      {"contrastive", "clip_low", &stage.loss.clip_low, "ratios from 1 - low …", from(0, 0.999)},
      {"contrastive", "clip_high", &stage.loss.clip_high, "… to 1 + high count in full", at_least(0)},
      {"contrastive", "kl_weight", &stage.loss.kl_weight, "of the distance to the policy of stage 2", at_least(0)},
      {"contrastive",
       "normalisation",
       by_name(stage.loss.normalisation, &length_normalisation_from_string),
       "what weighs the same",
       {},
       {"per_token", "per_sample"}},
  };
}

Settings reward_settings_of(ContrastiveSettings& stage) {
  return {
      {"contrastive",
       "reward",
       by_name(stage.reward.shape, &reward_shape_from_string),
       "of a success",
       {},
       {"log_speedup", "paper"}},
      {"contrastive",
       "failure_reward",
       &stage.reward.failure_reward,
       "of log_speedup; no success is worth less",
       {.most = 0.0}},
      {"contrastive", "least_replaced_share", &stage.reward.least_replaced_share,
       "of the reference's time, for a success", share},
      {"contrastive", "smoothing", &stage.smoothing, "with the paper's reward: clip((r - mean) / std, -1.5, 1.5)"},
      {"contrastive", "deviation_floor", &stage.group.deviation_floor,
       "in units of the reward: a smaller spread is not blown up to 1", at_least(0)},
      {"contrastive", "most_resamples", &stage.group.most_resamples, "of a group that teaches nothing", from(0, 1000)},
  };
}

Settings exemplar_settings_of(ExemplarPoolOptions& pool) {
  ExemplarOptions& selection = pool.selection;
  return {
      {"contrastive",
       "exemplars",
       by_name(selection.choice, &exemplar_choice_from_string),
       "which programs prompts show",
       {},
       {"bucket", "island", "random", "none"}},
      {"contrastive",
       "exemplar_scores",
       by_name(pool.scores, &exemplar_scores_from_string),
       "that prompts show; all but measured are controls",
       {},
       {"measured", "shuffled", "hidden"}},
      {"contrastive", "exemplar_count", &selection.count, "in a prompt, at most", from(0, 64)},
      {"contrastive", "share_without", &pool.share_without, "of prompts that show none", share},
      {"contrastive", "bucket_width", &selection.bucket_width, "in the logarithm of the speed-up", above_zero},
      {"contrastive", "temperature", &selection.temperature, "of the draw by score; low: the best only", above_zero},
      {"contrastive", "islands", &selection.islands, "populations that seldom meet", from(1, 1000)},
      {"contrastive", "migrate_every", &pool.migrate_every,
       "additions, after which the best of each island moves on; 0: never", at_least(0)},
      {"contrastive", "reset_every", &pool.reset_every,
       "additions, after which the worst island starts again; 0: never", at_least(0)},
  };
}

Settings settings_of(CollapseLimits& limits) {
  return {
      {"collapse",
       "steps",
       &limits.steps,
       "the median of so many must lie beyond a limit",
       at_least_one,
       {},
       may_change},
      {"collapse", "least_entropy", &limits.least_entropy, "nats a token", at_least(0), {}, may_change},
      {"collapse",
       "largest_kl",
       &limits.largest_kl,
       "nats a token, to the policy of stage 2",
       above_zero,
       {},
       may_change},
      {"collapse", "least_distinct_plans", &limits.least_distinct_plans, "of a group", at_least(0), {}, may_change},
      {"collapse",
       "largest_trick_share",
       &limits.largest_trick_share,
       "of the reward that one trick earns where others would have worked; above 1: not looked at",
       above_zero,
       {},
       may_change},
      {"collapse",
       "most_skipped",
       &limits.most_skipped,
       "steps in a row whose loss was not finite",
       at_least_one,
       {},
       may_change},
  };
}

// --- Values ---

[[noreturn]] void refuse(const TrainingSetting& setting, const std::string& wanted, const json& value) {
  throw UsageError(fmt::format("{} must be {}, not {}", setting.name(), wanted, cudal1::quoted(toml_text(value))));
}

const std::string& named(const TrainingSetting& setting, const json& value) {
  if (!value.is_string()) refuse(setting, "a string in quotes", value);
  const auto& name = value.get_ref<const std::string&>();
  if (!setting.choices.empty() && std::ranges::find(setting.choices, name) == setting.choices.end())
    throw UsageError(fmt::format("{} must be one of {}, not {}{}", setting.name(), listed(setting.choices),
                                 cudal1::quoted(name), did_you_mean(name, setting.choices)));
  return name;
}

//! Of a number's own kind: 1.5 is no whole number, -1 no count, and 2^40 no int.
template <class Number>
bool fits(const json& value) {
  if constexpr (std::is_floating_point_v<Number>) {
    return value.is_number();
  } else {
    if (value.is_number_unsigned()) return std::in_range<Number>(value.get<std::uint64_t>());
    return value.is_number_integer() && std::in_range<Number>(value.get<std::int64_t>());
  }
}

template <class Number>
std::string kind_of() {
  if (std::is_floating_point_v<Number>) return "a number";
  return std::is_unsigned_v<Number> ? "a whole number, not below 0" : "a whole number";
}

struct Assign {
  const TrainingSetting& setting;
  const json& value;

  void operator()(bool* field) const {
    if (!value.is_boolean()) refuse(setting, "true or false", value);
    *field = value.get<bool>();
  }
  template <class Number>
  void operator()(Number* field) const {
    if (!fits<Number>(value)) refuse(setting, kind_of<Number>(), value);
    if (!setting.range.contains(value.get<double>())) refuse(setting, setting.range.text(), value);
    *field = value.get<Number>();
  }
  void operator()(std::string* field) const { *field = named(setting, value); }
  void operator()(std::filesystem::path* field) const { *field = named(setting, value); }
  void operator()(std::vector<std::string>* field) const {
    if (!value.is_array()) refuse(setting, "an array of strings", value);
    std::vector<std::string> names;
    for (const json& one : value) names.push_back(named(setting, one));
    *field = std::move(names);
  }
  void operator()(const NamedChoice& choice) const {
    if (!choice.choose(named(setting, value))) refuse(setting, "one of " + listed(setting.choices), value);
  }
};

struct Read {
  template <class T>
  json operator()(const T* field) const {
    return *field;
  }
  json operator()(const std::filesystem::path* field) const { return field->string(); }
  json operator()(const NamedChoice& choice) const { return choice.name(); }
};

}  // namespace

std::string SettingRange::text() const {
  std::string text;
  if (least > -std::numeric_limits<double>::infinity())
    text = fmt::format("{} {}", excludes_least ? "above" : "at least", least);
  if (most < std::numeric_limits<double>::infinity())
    text += fmt::format("{}at most {}", text.empty() ? "" : ", ", most);
  return text;
}

std::vector<TrainingSetting> settings_of(TrainingConfig& config) {
  Settings all;
  for (Settings& part : std::vector<Settings>{
           settings_of(config.run), settings_of(config.model), settings_of(config.tasks), settings_of(config.judge),
           settings_of(config.supervised), settings_of(config.self_supervised),
           learning_settings_of(config.contrastive), reward_settings_of(config.contrastive),
           exemplar_settings_of(config.contrastive.exemplars), settings_of(config.collapse)})
    std::ranges::move(part, std::back_inserter(all));
  return all;
}

json value_of(const TrainingSetting& setting) { return std::visit(Read{}, setting.field); }

void set_value(const TrainingSetting& setting, const json& value) { std::visit(Assign{setting, value}, setting.field); }

}  // namespace cudal1

// A configuration says what it means, or is refused in one line with the place.
#include "train/run/training_config.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/files.hpp"
#include "base/random.hpp"
#include "error_of.hpp"
#include "train/run/training_settings.hpp"

namespace cudal1 {
namespace {

std::string complaint(std::string_view text) {
  return error_of([&] { check(parse_training_config(text, "run.toml")); });
}

TEST(TrainingConfig, AnEmptyFileIsTheRecipe) {
  EXPECT_EQ(to_toml(parse_training_config("", "run.toml")), to_toml(TrainingConfig{}));
  EXPECT_NO_THROW(check(TrainingConfig{}));
}

TEST(TrainingConfig, TheSpreadOfSpeedsNeedsAsManyPrograms) {
  const std::string few = "[tasks]\nspread_programs = 16\n[supervised]\nvariants = 8\n";
  EXPECT_EQ(complaint(few),
            "supervised.variants (8) must be at least tasks.spread_programs (16): stage 3 needs so many programs of a "
            "task");
  EXPECT_NO_THROW(check(parse_training_config("[run]\nstages = [\"supervised\"]\n" + few, "run.toml")));
  EXPECT_NO_THROW(check(parse_training_config("[tasks]\nleast_speed_ratio = 0\n" + few.substr(8), "run.toml")));
}

TEST(TrainingConfig, ValuesOfEveryKindAreRead) {
  const TrainingConfig config = parse_training_config(R"(# a small run
[run]
seed = 18446744073709551615   # the largest
stages = ["supervised", 'contrastive',]

[model]
path = "a \"model\"\\file.gguf"
alpha = 8
[contrastive]
learning_rate = 2e-4
samples = 1_6
smoothing = false
exemplars = "island"
exemplar_count = 3
temperature = 0.5
reward = "paper"
normalisation = "per_sample"
most_resamples = 1
[collapse]
steps = 7
)",
                                                      "run.toml");
  EXPECT_EQ(config.run.seed, 18446744073709551615u);
  EXPECT_EQ(config.run.stages, (std::vector<std::string>{"supervised", "contrastive"}));
  EXPECT_EQ(config.model.path, "a \"model\"\\file.gguf");
  EXPECT_EQ(config.model.alpha, 8.0);
  EXPECT_EQ(config.contrastive.learning_rate, 2e-4);
  EXPECT_EQ(config.contrastive.samples, 16);
  EXPECT_FALSE(config.contrastive.smoothing);
  EXPECT_EQ(config.contrastive.exemplars.selection.choice, ExemplarChoice::island);
  EXPECT_EQ(config.contrastive.exemplars.selection.count, 3u);
  EXPECT_EQ(config.contrastive.exemplars.selection.temperature, 0.5);
  EXPECT_EQ(config.contrastive.reward.shape, RewardShape::paper);
  EXPECT_EQ(config.contrastive.loss.normalisation, LengthNormalisation::per_sample);
  EXPECT_EQ(config.contrastive.group.most_resamples, 1);
  EXPECT_EQ(config.collapse.steps, 7u);
}

TEST(TrainingConfig, ABadOneIsRefusedWithThePlaceAndWhatWasMeant) {
  const std::pair<std::string, std::string> cases[] = {
      {"[run]\nsede = 1", "run.toml:2: there is no key 'sede' in [run]; did you mean 'seed'?"},
      {"[contrastive]\nlearning_rat = 1",
       "run.toml:2: there is no key 'learning_rat' in [contrastive]; did you mean "
       "'learning_rate'?"},
      {"[run]\nbucket_width = 1",
       "run.toml:2: there is no key 'bucket_width' in [run]; did you mean it in "
       "[contrastive]?"},
      {"[contrastiv]\nsteps = 1", "run.toml:2: there is no section 'contrastiv'; did you mean 'contrastive'?"},
      {"rank = 1", "run.toml:1: 'rank' stands before any section; did you mean it in [model]?"},
      {"\n[run]\nseed = -1", "run.toml:3: run.seed must be a whole number, not below 0, not '-1'"},
      {"[run]\nslots = 1.5", "run.toml:2: run.slots must be a whole number, not '1.5'"},
      {"[run]\nslots = \"8\"", "run.toml:2: run.slots must be a whole number, not '\"8\"'"},
      {"[run]\nslots = 0", "run.toml:2: run.slots must be at least 1, not '0'"},
      {"[run]\nprocesses = 0", "run.toml:2: run.processes must be at least 1, at most 64, not '0'"},
      {"[run]\nprocesses = 65", "run.toml:2: run.processes must be at least 1, at most 64, not '65'"},
      {"[contrastive]\nmost_resamples = 99999999999",
       "run.toml:2: contrastive.most_resamples must be a whole number, "
       "not '99999999999'"},
      {"[contrastive]\nlearning_rate = 0", "run.toml:2: contrastive.learning_rate must be above 0, not '0'"},
      {"[contrastive]\nshare_without = 1.5",
       "run.toml:2: contrastive.share_without must be at least 0, at most 1, not "
       "'1.5'"},
      {"[contrastive]\nsmoothing = 1", "run.toml:2: contrastive.smoothing must be true or false, not '1'"},
      {"[contrastive]\nexemplars = \"buckets\"",
       "run.toml:2: contrastive.exemplars must be one of bucket, island, "
       "random, none, not 'buckets'; did you mean 'bucket'?"},
      {"[run]\nstages = [\"supervise\"]",
       "run.toml:2: run.stages must be one of supervised, self_supervised, "
       "contrastive, not 'supervise'; did you mean 'supervised'?"},
      {"[run]\nstages = \"supervised\"", "run.toml:2: run.stages must be an array of strings, not '\"supervised\"'"},
      {"[run]\nseed = 1\n\nseed = 2", "run.toml:4: 'seed' stands in line 2 already"},
      {"[run]\n[run]", "run.toml:2: section [run] is there already"},
      {"[run\nseed = 1", "run.toml:1: expected ']' behind the name of a section"},
      {"[run]\nseed 1", "run.toml:2: expected '=' behind the key 'seed'"},
      {"[run]\nseed =", "run.toml:2: expected a value: a number, true, false, a string in quotes, or an array"},
      {"[run]\nseed = 1 2", "run.toml:2: what is '2' behind the value?"},
      {"[model]\npath = file", "run.toml:2: 'file' is no value: a string stands in quotes"},
      {"[model]\npath = \"file", "run.toml:2: a string has no closing quote"},
      {"[model]\npath = \"\\u00e4\"", "run.toml:2: a string has an escape other than \\\" \\\\ \\n \\t \\r"},
      {"[run]\nstages = [\"supervised\"",
       "run.toml:2: expected ',' between values, or ']' behind them: an array stands "
       "on one line"},
      {"[run]\nseed = \x01", "run.toml:2: has a control character"},
      {"[run]\n\xff", "run.toml:2: is not UTF-8"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(complaint(text), message) << text;
}

TEST(TrainingConfig, NumbersThatMakeNoSenseTogetherAreRefused) {
  EXPECT_EQ(complaint("[run]\nstages = []"), "run.stages names no stage");
  EXPECT_EQ(complaint("[run]\nstages = ['supervised', 'supervised']"), "run.stages names a stage twice");
  EXPECT_EQ(complaint("[run]\nanswer_tokens = 2048"),
            "run.answer_tokens (2048) must be below run.context_tokens (2048): prompts need room");
  EXPECT_EQ(complaint("[run]\ntokens_at_once = 100"),
            "run.tokens_at_once (100) must be at least run.context_tokens (2048): one text has to fit");
  EXPECT_EQ(complaint("[tasks]\nreference_us_low = 200"),
            "tasks.reference_us_low (200) must be below tasks.reference_us_high (200)");
  EXPECT_EQ(complaint("[contrastive]\nsteps = 2"),
            "contrastive.warm_up_steps (5) must be at most contrastive.steps (2)");
  EXPECT_EQ(complaint("[contrastive]\nupdates = 200"),
            "contrastive.updates (200) are more than the samples of a step (8 x 16)");
}

TEST(TrainingConfig, WhatIsWrittenIsReadBackAsItWas) {
  TrainingConfig config;
  config.run.stages = {"contrastive"};
  config.model.path = "C:\\models\\\"x\"\ty";
  config.contrastive.learning_rate = 1.0 / 3.0;
  config.contrastive.reward.failure_reward = -1e20;
  config.contrastive.exemplars.selection.choice = ExemplarChoice::none;
  config.tasks.families = {"product", "rows"};
  const std::string text = to_toml(config);
  const TrainingConfig read = parse_training_config(text, "run.toml");
  EXPECT_EQ(to_toml(read), text);
  EXPECT_EQ(read.contrastive.learning_rate, 1.0 / 3.0);
  EXPECT_EQ(read.model.path, config.model.path);
}

TEST(TrainingConfig, OptionsOfACommandLineNeedNoQuotes) {
  TrainingConfig config;
  for (const char* option :
       {"contrastive.exemplars=random", "model.path=a=b.gguf", "run.stages=supervised,contrastive", "run.seed = 7",
        "tasks.families=['rows']", "contrastive.smoothing=false", "model.adapter="})
    set_training_option(config, option);
  EXPECT_EQ(config.contrastive.exemplars.selection.choice, ExemplarChoice::random);
  EXPECT_EQ(config.model.path, "a=b.gguf");
  EXPECT_EQ(config.run.stages, (std::vector<std::string>{"supervised", "contrastive"}));
  EXPECT_EQ(config.run.seed, 7u);
  EXPECT_EQ(config.tasks.families, std::vector<std::string>{"rows"});
  EXPECT_FALSE(config.contrastive.smoothing);
  EXPECT_EQ(error_of([&] { set_training_option(config, "run.sede=1"); }),
            "there is no key 'sede' in [run]; did you mean 'seed'?");
  EXPECT_EQ(error_of([&] { set_training_option(config, "seed"); }), "'seed' is no setting: write SECTION.KEY=VALUE");
  EXPECT_EQ(error_of([&] { set_training_option(config, "run.slots=many"); }),
            "'many' is no value: a string stands in quotes");
}

TEST(TrainingConfig, TheFirstKeyThatDiffersIsNamedUnlessItMayChange) {
  TrainingConfig before, now;
  now.run.checkpoint_every = 3;
  now.collapse.largest_kl = 5.0;
  now.model.path = "elsewhere/model.gguf";  // which model it is, its hash says
  EXPECT_EQ(difference(before, now), std::nullopt);
  now.contrastive.samples = 8;
  now.collapse.steps = 9;
  EXPECT_EQ(difference(before, now), "contrastive.samples was 16, now it is 8");
}

TEST(TrainingConfig, AFileThatIsNotThereIsNamed) {
  EXPECT_EQ(error_of([] { load_training_config("/nowhere/run.toml"); }),
            "/nowhere/run.toml: cannot open: No such file or directory");
}

TEST(TrainingSettings, EveryKeyIsThereOnceWithAMeaningAndADefaultThatItAccepts) {
  TrainingConfig config;
  std::set<std::string> names;
  for (const TrainingSetting& setting : settings_of(config)) {
    EXPECT_TRUE(names.insert(setting.name()).second) << setting.name();
    EXPECT_FALSE(setting.description.empty()) << setting.name();
    EXPECT_NO_THROW(set_value(setting, value_of(setting))) << setting.name();
    EXPECT_NE(training_options_markdown().find("| `" + std::string(setting.key) + "` | "), std::string::npos);
  }
  EXPECT_EQ(to_toml(config), to_toml(TrainingConfig{}));
}

//! Two keys of one field would be written differently and read alike.
TEST(TrainingSettings, EachKeyHasAFieldOfItsOwn) {
  const auto changed = [](const TrainingSetting& setting) -> nlohmann::json {
    const nlohmann::json value = value_of(setting);
    if (value.is_boolean()) return !value.get<bool>();
    if (value.is_number_integer()) return value.get<std::uint64_t>() + 1;
    if (value.is_number()) return value.get<double>() == 0.0 ? 0.5 : value.get<double>() * 0.5;
    const std::string other = setting.choices.empty() ? "other" : setting.choices.back();
    if (value.is_array()) return nlohmann::json::array({other});
    return other;
  };
  TrainingConfig defaults;
  for (std::size_t i = 0; i < settings_of(defaults).size(); ++i) {
    TrainingConfig config;
    const std::vector<TrainingSetting> settings = settings_of(config), unchanged = settings_of(defaults);
    set_value(settings[i], changed(settings[i]));
    for (std::size_t k = 0; k < settings.size(); ++k)
      EXPECT_EQ(value_of(settings[k]) == value_of(unchanged[k]), k != i)
          << settings[i].name() << " and " << settings[k].name();
  }
}

//! Pieces of good configurations in random order with random bytes between them.
std::string random_text(Random& random) {
  static const std::vector<std::string> pieces{
      "[run]", "\n",   "seed", " = ", "1",  "[",    "]",  "\"",  "'",
      "\\",    "#",    ",",    "-",   "1e", "_",    ".",  "inf", "stages",
      "=",     "\r\n", "\t",   "nan", "+",  "true", "[[", "é",   "9999999999999999999999"};
  std::string text;
  for (std::uint64_t count = random.below(40); count > 0; --count) {
    if (random.below(8) == 0)
      text.push_back(static_cast<char>(random.below(256)));
    else
      text += pieces[random.below(pieces.size())];
  }
  return text;
}

TEST(TrainingConfig, RandomTextsAreReadOrRefusedInOneLine) {
  Random random(1);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = random_text(random);
    const std::string message = error_of([&] { parse_training_config(text, "run.toml"); });
    refused += message.empty() ? 0 : 1;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    TrainingConfig config;
    error_of([&] { set_training_option(config, "run.stages=" + text); });
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 20000);
}

}  // namespace
}  // namespace cudal1

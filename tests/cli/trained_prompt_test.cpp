// A model that was trained here is asked by `optimize` word for word as it was while it was trained.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "cli/policy_maker.hpp"
#include "model/chat_model.hpp"
#include "model/files/lora_adapter.hpp"
#include "model/files/open_model.hpp"
#include "policy/search/all_parameters.hpp"
#include "sample_graphs.hpp"
#include "toy_learner.hpp"
#include "train/course/course_prompts.hpp"
#include "writing_model.hpp"

namespace cudal1 {
namespace {

//! Counts tokens as the model of a run does.
class CountingLearner : public testing::ToyLearner {
 public:
  explicit CountingLearner(const std::filesystem::path& model) : ToyLearner(1), chat_(model) {}
  std::size_t count_tokens(std::string_view text) const override { return chat_.count_tokens(text); }

 private:
  ChatModel chat_;
};

class TrainedPromptTest : public ::testing::Test {
 protected:
  TrainedPromptTest() {
    ::setenv("CUDAL1_CACHE_DIR", (folder_.path() / "cache").c_str(), 1);
    write_file_atomically(model_, testing::writing_model(8192).bytes());
    task_.family = "sample";
    task_.task.name = "rows_0123abcd";
    task_.task.graph = sample::chain();
  }
  ~TrainedPromptTest() override { ::unsetenv("CUDAL1_CACHE_DIR"); }

  //! What training asks when its pool has these programs, in their order.
  std::string in_training(const std::vector<PromptExemplar>& exemplars) const {
    const CountingLearner learner(model_);
    ShownPrograms shown{exemplars, std::vector<std::string>(exemplars.size()), {}};
    return prompts_for_directives(prompt_options(config_.run, gpu_, learner))(task_, shown);
  }

  //! What `optimize --policy local` asks where it has seen these.
  std::string in_optimize(const std::vector<ScoredProgram>& seen, std::uint64_t seed) const {
    LoraAdapter adapter;
    adapter.rank = 1;
    adapter.alpha = 1.0;
    adapter.base_sha256 = model_sha256(model_);
    const ModelConfig sizes = open_model(model_)->config();
    for (const LinearModule& layer : linear_modules(sizes))
      adapter.modules["model.layers.0." + layer.name] = {layer.out, layer.in,
                                                         std::vector<float>(static_cast<std::size_t>(layer.in)),
                                                         std::vector<float>(static_cast<std::size_t>(layer.out))};
    save_lora_adapter(adapter, sizes, folder_.path() / "adapter");
    save_trained_prompt(trained_prompt_of(config_), folder_.path() / "adapter");
    PolicyOptions options;
    options.mix = "local";
    options.model = model_;
    options.adapter = (folder_.path() / "adapter").string();
    options.model_device = "cpu";
    PolicyMaker policies(options, {.seed = seed, .stop = [] { return false; }, .report = [](const std::string& line) {
                                     ADD_FAILURE() << line;
                                   }});
    AnswerWriter writer = policies.make_writer("local", task_.task, gpu_);
    const RepairConversation conversation = writer.new_conversation(seen);
    EXPECT_EQ(conversation.messages().size(), 1u);
    return conversation.messages().front().text;
  }

  std::string fully_said(const std::string& program) const {
    return text_with_all_parameters(task_.task.graph, program);
  }

  TemporaryFolder folder_;
  std::filesystem::path model_ = folder_.path() / "model.gguf";
  TrainingConfig config_;
  TrainingTask task_;
  vgpu::GpuProfile gpu_ = vgpu::find_profile("h200");
};

//! Rewards are rounded, what training shows is not.
ScoredProgram seen(const std::string& text, double speedup) {
  ScoredProgram made{text, std::floor(speedup * 100.0) / 100.0};
  made.speedup = speedup;
  return made;
}

const std::string slow = "//! fuse gelu_1\n", fast = "//! fuse gelu_1 softmax_1\n//! graph\n";

TEST_F(TrainedPromptTest, WithoutExemplars) {
  const std::string text = in_training({});
  EXPECT_NE(text.find("rows_0123abcd"), std::string::npos);
  EXPECT_EQ(in_optimize({}, 1), text);
}

TEST_F(TrainedPromptTest, WithExemplarsOfTheSearchInWhateverOrder) {
  ASSERT_NE(fully_said(fast), fast) << "the search leaves parameters to the techniques, training says them all";
  const PromptExemplar slow_one{fully_said(slow), 1.2567}, fast_one{fully_said(fast), 2.5};
  const std::set<std::string> wanted{in_training({slow_one, fast_one}), in_training({fast_one, slow_one})};
  std::set<std::string> asked;
  for (std::uint64_t seed = 0; seed < 12; ++seed) asked.insert(in_optimize({seen(slow, 1.2567), seen(fast, 2.5)}, seed));
  EXPECT_EQ(asked, wanted);
}

TEST_F(TrainedPromptTest, WithAsMuchRoomAsInTraining) {
  const PromptExemplar slow_one{fully_said(slow), 1.2567}, fast_one{fully_said(fast), 2.5};
  const CountingLearner learner(model_);
  const auto tokens_of = [&](const std::vector<PromptExemplar>& exemplars) {
    return static_cast<std::int64_t>(learner.count_tokens(in_training(exemplars)));
  };
  config_.run.context_tokens = tokens_of({fast_one}) + config_.run.answer_tokens + 3;
  ASSERT_LT(config_.run.context_tokens, 2048);
  ASSERT_EQ(in_training({fast_one, slow_one}), in_training({fast_one})) << "there is room for one: the last one goes";
  const std::set<std::string> wanted{in_training({slow_one}), in_training({fast_one})};
  std::set<std::string> asked;
  for (std::uint64_t seed = 0; seed < 12; ++seed) asked.insert(in_optimize({seen(slow, 1.2567), seen(fast, 2.5)}, seed));
  EXPECT_EQ(asked, wanted) << "whose order is random";
}

TEST_F(TrainedPromptTest, AModelThatNobodyAskedForIsDoneWithoutWhereItCannotBeHad) {
  PolicyOptions options;
  options.mix = "search:1,local:1";
  options.model = folder_.path() / "gone.gguf";
  std::vector<std::string> said;
  const auto make = [&] {
    PolicyMaker policies(options, {.seed = 1, .stop = [] { return false; }, .report = [&](const std::string& line) {
                                     said.push_back(line);
                                   }});
    return policies.make(task_.task, gpu_)->propose({}).has_value();
  };
  EXPECT_THROW(make(), Error);
  options.may_do_without_model = true;
  EXPECT_TRUE(make()) << "the search has something to propose";
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said.front().find("the search works alone"), std::string::npos) << said.front();
  EXPECT_NE(said.front().find("gone.gguf"), std::string::npos) << said.front();
}

TEST_F(TrainedPromptTest, WithoutScoresWhereTrainingHidThem) {
  config_.contrastive.exemplars.scores = ExemplarScores::hidden;
  const std::string text = in_training({{fully_said(fast), 2.5, {}, false}});
  EXPECT_EQ(text.find("score"), std::string::npos);
  EXPECT_EQ(in_optimize({seen(fast, 2.5)}, 1), text);
}

TEST_F(TrainedPromptTest, WithAsManyExemplarsAsInTraining) {
  config_.contrastive.exemplars.selection.count = 1;
  config_.contrastive.exemplars.selection.temperature = 1e-3;  // the best only
  EXPECT_EQ(in_optimize({seen(slow, 1.2567), seen(fast, 2.5)}, 1), in_training({{fully_said(fast), 2.5}}));
}

}  // namespace
}  // namespace cudal1

// What other trainers expect of a line.
#include "train/data/export_formats.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

TrainingExample sample_example() {
  return {.task = "rows_0123456789ab",
          .group = "g",
          .prompt = "question",
          .completion = "answer",
          .plan_hash = "abc",
          .speedup = 2.0,
          .reward = 0.5};
}

const json question = {{{"role", "user"}, {"content", "question"}}};
const json answer = {{{"role", "assistant"}, {"content", "answer"}}};

TEST(ExportFormats, TrlHasPromptAndCompletionAsConversations) {
  const json line = json::parse(export_line(sample_example(), ExportFormat::trl, 0));
  EXPECT_EQ(line["prompt"], question);
  EXPECT_EQ(line["completion"], answer);
  EXPECT_EQ(line["reward"], 0.5);
  EXPECT_EQ(line["group"], "g");
  EXPECT_EQ(line["split"], "train");
}

TEST(ExportFormats, VerlHasItsFiveFields) {
  const json line = json::parse(export_line(sample_example(), ExportFormat::verl, 7));
  EXPECT_EQ(line.size(), 5u);
  EXPECT_EQ(line["data_source"], "cudal1");
  EXPECT_EQ(line["prompt"], question);
  EXPECT_EQ(line["ability"], "cuda");
  EXPECT_EQ(line["reward_model"], (json{{"style", "rule"}, {"ground_truth", "rows_0123456789ab"}}));
  EXPECT_EQ(line["extra_info"]["index"], 7);
  EXPECT_EQ(line["extra_info"]["split"], "train");
  EXPECT_EQ(line["extra_info"]["completion"], "answer");
  EXPECT_EQ(line["extra_info"]["reward"], 0.5);
}

TEST(ExportFormats, MessagesAreTheWholeConversation) {
  const json line = json::parse(export_line(sample_example(), ExportFormat::messages, 0));
  EXPECT_EQ(line["messages"], (json{question[0], answer[0]}));
  EXPECT_EQ(line["group"], "g");
}

TEST(ExportFormats, NamesReadBack) {
  for (const ExportFormat format : {ExportFormat::trl, ExportFormat::verl, ExportFormat::messages})
    EXPECT_EQ(export_format_from_string(to_string(format)), format);
  EXPECT_FALSE(export_format_from_string("parquet"));
}

TEST(ExportFormats, ExamplesAreThoseOfARunOrAFile) {
  const TemporaryFolder run;
  EXPECT_THROW(load_examples(run.path()), Error);
  write_examples(run.path() / "examples.jsonl", std::vector(2, sample_example()));
  EXPECT_EQ(load_examples(run.path()).size(), 2u);
  EXPECT_EQ(load_examples(run.path() / "examples.jsonl").size(), 2u);
}

}  // namespace
}  // namespace cudal1

// What lies beside an adapter about the prompts that it was trained with.
#include "policy/prompt/trained_prompt.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

TrainedPrompt unusual() {
  return {.form = PromptForm::full,
          .program = ProgramForm::written_out,
          .context_tokens = 1000,
          .answer_tokens = 77,
          .exemplars = {.choice = ExemplarChoice::island,
                        .count = 3,
                        .bucket_width = 0.25,
                        .temperature = 0.75,
                        .islands = 6},
          .shows_scores = false,
          .temperature = 0.5,
          .grammar = true,
          .texts = "abc"};
}

//! What loading says where the file has been changed.
std::string refusal_with(const json::json_pointer& place, const json& value) {
  const TemporaryFolder folder;
  save_trained_prompt(unusual(), folder.path());
  json said = json::parse(read_file(folder.path() / "prompt.json"));
  said[place] = value;
  write_file_atomically(folder.path() / "prompt.json", said.dump());
  try {
    load_trained_prompt(folder.path());
  } catch (const Error& problem) {
    return problem.what();
  }
  return {};
}

TEST(TrainedPromptFile, SaysWhatWasSaved) {
  const TemporaryFolder folder;
  EXPECT_EQ(load_trained_prompt(folder.path()), std::nullopt);
  save_trained_prompt(unusual(), folder.path());
  EXPECT_EQ(load_trained_prompt(folder.path()), unusual());
}

TEST(TrainedPromptFile, WhatCannotBeMeantIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal_with(json::json_pointer("/answer_tokens"), 77), "");
  EXPECT_NE(refusal_with(json::json_pointer("/format"), 2).find("is not known to this version"), std::string::npos);
  EXPECT_NE(refusal_with(json::json_pointer("/form"), "huge").find("prompt.json"), std::string::npos);
  EXPECT_NE(refusal_with(json::json_pointer("/context_tokens"), -1).find("context_tokens"), std::string::npos);
  EXPECT_NE(refusal_with(json::json_pointer("/exemplars/bucket_width"), 0).find("above 0"), std::string::npos);
  EXPECT_NE(refusal_with(json::json_pointer("/grammar"), "yes").find("grammar"), std::string::npos);
}

TEST(TrainedPromptFile, OtherTextsThanThisVersionsAreWarnedOf) {
  TrainedPrompt prompt;
  prompt.texts = prompt_texts_hash(PromptForm::compact);
  EXPECT_EQ(texts_warning(prompt, "mine"), "");
  prompt.texts = prompt_texts_hash(PromptForm::full);
  EXPECT_NE(texts_warning(prompt, "mine").find("mine: trained with other texts"), std::string::npos);
}

}  // namespace
}  // namespace cudal1

// Templates say what they need, and what is put into them stays what it is.
#include "policy/prompt/prompt_template.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

std::string error_of(std::string_view text, const PlaceholderValues& values) {
  try {
    fill_template(text, values, "t.md");
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(PromptTemplate, PutsValuesInTheirPlaces) {
  EXPECT_EQ(fill_template("{{a}} and {{b}}, {{a}}", {{"a", "1"}, {"b", "2"}}, "t.md"), "1 and 2, 1");
  EXPECT_EQ(fill_template("none { } }}", {}, "t.md"), "none { } }}");
}

TEST(PromptTemplate, AnUnknownPlaceholderIsAnError) {
  EXPECT_EQ(error_of("{{graph}} {{grahp}}", {{"graph", ""}}), "prompts/t.md: there is no value for 'grahp'");
}

TEST(PromptTemplate, AValueThatNothingUsesIsAnError) {
  EXPECT_EQ(error_of("text", {{"graph", "x"}}), "prompts/t.md: the placeholder 'graph' is missing");
}

TEST(PromptTemplate, WhatOnlyBeginsLikeAPlaceholderIsAnError) {
  for (const char* text : {"{{", "{{}}", "{{a b}}", "{{A}}", "x {{name"})
    EXPECT_NE(error_of(text, {}).find("begins no placeholder"), std::string::npos) << text;
}

TEST(PromptTemplate, PlaceholdersInValuesAreText) {
  EXPECT_EQ(fill_template("{{source}}", {{"source", "{{name}} {{"}}, "t.md"), "{{name}} {{");
}

TEST(PromptFiles, AreThoseOfTheFolderAndTheirPlaceholdersAreWellFormed) {
  const std::filesystem::path folder = std::filesystem::path(CUDAL1_SOURCE_DIR) / "prompts";
  std::size_t count = 0;
  for (const auto& path : files_below(folder)) {
    SCOPED_TRACE(path.string());
    ++count;
    const std::string name = path.filename().string();
    EXPECT_EQ(prompt_file(name), read_file(path));
    EXPECT_EQ(placeholders_of(prompt_file(name), name).empty(), !name.ends_with(".md"));
  }
  EXPECT_GT(count, 0u);
  EXPECT_EQ(embedded_prompt_files().size(), count);
  EXPECT_THROW(prompt_file("nothing.md"), Error);
}

}  // namespace
}  // namespace cudal1

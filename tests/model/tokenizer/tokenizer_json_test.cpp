#include "model/tokenizer/tokenizer_json.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "base/files.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "model/tokenizer/byte_alphabet.hpp"
#include "model/tokenizer/tokenizer.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

const json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};
const json byte_level_alone = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};

json split(const std::string& pattern) {
  return {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
}

json sequence(const std::vector<json>& steps) { return {{"type", "Sequence"}, {"pretokenizers", steps}}; }

json added_token(int id, const std::string& text, bool special) {
  return {{"id", id},        {"content", text},     {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", special}};
}

//! All bytes, "ab" and " ab", two added tokens of which one is not in the vocabulary.
json small_file() {
  json vocabulary;
  for (unsigned byte = 0; byte < 256; ++byte)
    vocabulary[std::string(letter_of_byte(static_cast<unsigned char>(byte)))] = byte;
  vocabulary["ab"] = 256;
  vocabulary["Ġab"] = 257;
  vocabulary["<s>"] = 258;
  return {{"version", "1.0"},
          {"added_tokens", {added_token(258, "<s>", true), added_token(260, "<tag>", false)}},
          {"normalizer", nullptr},
          {"pre_tokenizer", byte_level},
          {"post_processor", nullptr},
          {"decoder", byte_level},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", ""},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"vocab", vocabulary},
            {"merges", {"a b", "Ġ ab"}}}}};
}

class TokenizerJson : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) { write_file_atomically(folder_.path() / name, text); }

  TokenizerData read(const json& file) {
    write("tokenizer.json", file.dump());
    return read_tokenizer_json(folder_.path() / "tokenizer.json");
  }

  //! One line that names the file and says what `said` says.
  void expect_refused(const json& file, std::string_view said) { expect_refused_text(file.dump(), said); }

  void expect_refused_text(const std::string& text, std::string_view said) {
    write("tokenizer.json", text);
    try {
      read_tokenizer_json(folder_.path() / "tokenizer.json");
      ADD_FAILURE() << "not refused: " << said;
    } catch (const Error& problem) {
      const std::string what = problem.what();
      EXPECT_NE(what.find(said), std::string::npos) << what;
      EXPECT_NE(what.find("tokenizer"), std::string::npos) << what;
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    }
  }

  TemporaryFolder folder_;
};

TEST_F(TokenizerJson, BecomesATokenizer) {
  const TokenizerData data = read(small_file());
  EXPECT_EQ(data.tokens.size(), 261u);
  EXPECT_EQ(data.tokens[257], "Ġab");
  EXPECT_EQ(data.tokens[259], "");
  EXPECT_EQ(data.tokens[260], "<tag>");
  EXPECT_FALSE(data.compose);
  EXPECT_FALSE(data.ignore_merges);
  EXPECT_FALSE(data.begin_of_text);
  EXPECT_EQ(data.chat_template, "");
  const Tokenizer tokenizer(data);
  EXPECT_EQ(tokenizer.encode("ab ab<s>"), (std::vector<TokenId>{256, 257, '<', 's', '>'}));
  EXPECT_EQ(tokenizer.encode_with_special("ab<s><tag>"), (std::vector<TokenId>{256, 258, 260}));
  EXPECT_TRUE(tokenizer.is_special(258));
  EXPECT_FALSE(tokenizer.is_special(260));
}

TEST_F(TokenizerJson, MayWriteMergesAsPairs) {
  json file = small_file();
  file["model"]["merges"] = json::array({json::array({"a", "b"}), json::array({"Ġ", "ab"})});
  EXPECT_EQ(read(file).merges, read(small_file()).merges);
}

TEST_F(TokenizerJson, SaysHowTextsAreCut) {
  json file = small_file();
  file["pre_tokenizer"] = sequence({{{"type", "Digits"}, {"individual_digits", true}}, byte_level});
  const TokenizerData smollm = read(file);
  ASSERT_EQ(smollm.steps.size(), 2u);
  EXPECT_EQ(smollm.steps[0].kind, PreTokenizerStep::Kind::single_digits);
  EXPECT_TRUE(smollm.steps[1].pattern.starts_with("'s|"));

  file["pre_tokenizer"] = sequence({split(R"(\p{N}{1,3}|\s+(?!\S)|\s+)"), byte_level_alone});
  const TokenizerData llama = read(file);
  ASSERT_EQ(llama.steps.size(), 1u);
  EXPECT_EQ(llama.steps[0].pattern, R"(\p{N}{1,3}|\s+(?!\S)|\s+)");
}

TEST_F(TokenizerJson, SaysWhetherTextsAreComposedAndMergesIgnored) {
  json file = small_file();
  file["normalizer"] = {{"type", "NFC"}};
  file["model"]["ignore_merges"] = true;
  EXPECT_TRUE(read(file).compose);
  EXPECT_TRUE(read(file).ignore_merges);
  file["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}}}};
  EXPECT_TRUE(read(file).compose);
}

TEST_F(TokenizerJson, TakesEndsAndTemplateFromTheConfigBeside) {
  write("tokenizer_config.json", R"({"bos_token": {"content": "<s>"}, "eos_token": "<tag>", "chat_template": "one"})");
  EXPECT_EQ(read(small_file()).begin_of_text, 258);
  EXPECT_EQ(read(small_file()).end_of_text, 260);
  EXPECT_EQ(read(small_file()).chat_template, "one");
  write("tokenizer_config.json", R"({"bos_token": null, "chat_template":
      [{"name": "tools", "template": "no"}, {"name": "default", "template": "two"}]})");
  EXPECT_FALSE(read(small_file()).begin_of_text);
  EXPECT_EQ(read(small_file()).chat_template, "two");
  write("chat_template.jinja", "three");
  EXPECT_EQ(read(small_file()).chat_template, "three");
}

TEST_F(TokenizerJson, IsRefusedWithABrokenConfigBeside) {
  write("tokenizer_config.json", R"({"bos_token": "<nowhere>"})");
  expect_refused(small_file(), "tokenizer_config.json: bos_token: \"<nowhere>\" is not in tokenizer.json");
  write("tokenizer_config.json", R"({"bos_token": 3})");
  expect_refused(small_file(), "bos_token");
  write("tokenizer_config.json", "{");
  expect_refused(small_file(), "broken JSON");
}

TEST_F(TokenizerJson, IsRefusedWhereItIsNoFileOrBroken) {
  EXPECT_THROW(read_tokenizer_json(folder_.path() / "nowhere.json"), Error);
  expect_refused_text("", "broken JSON");
  expect_refused_text("[]", "expected an object");
  const std::string whole = small_file().dump();
  expect_refused_text(whole.substr(0, whole.size() / 2), "broken JSON");
  expect_refused_text("{}", "\"pre_tokenizer\" is missing");
}

struct Change {
  const char* said;
  std::function<void(json&)> change;
};

TEST_F(TokenizerJson, IsRefusedWhereItsPartsAreMalformed) {
  const Change changes[] = {
      {"\"model\" is missing", [](json& file) { file.erase("model"); }},
      {"\"vocab\" is missing", [](json& file) { file["model"].erase("vocab"); }},
      {"model.vocab", [](json& file) { file["model"]["vocab"] = json::array(); }},
      {"the id of \"ab\" is no integer", [](json& file) { file["model"]["vocab"]["ab"] = "256"; }},
      {"id -1, which cannot be", [](json& file) { file["model"]["vocab"]["ab"] = -1; }},
      {"which cannot be", [](json& file) { file["model"]["vocab"]["ab"] = 1LL << 40; }},
      {"have the same id 257", [](json& file) { file["model"]["vocab"]["ab"] = 257; }},
      {"model: the tokenizer has no merges; get", [](json& file) { file["model"].erase("merges"); }},
      {"model: the tokenizer has no merges; get", [](json& file) { file["model"]["merges"] = json::array(); }},
      {"model.merges[1]", [](json& file) { file["model"]["merges"][1] = "abc"; }},
      {"model.merges[0]", [](json& file) { file["model"]["merges"][0] = "a b c"; }},
      {"model.merges[0]",
       [](json& file) {
         file["model"]["merges"][0] = json::array({"a", "b", "c"});
       }},
      {"model.merges[0]", [](json& file) { file["model"]["merges"][0] = 3; }},
      {"added_tokens", [](json& file) { file["added_tokens"] = 3; }},
      {"\"content\" is missing", [](json& file) { file["added_tokens"][0].erase("content"); }},
      {"\"<x>\" have the same id 258", [](json& file) { file["added_tokens"][0]["content"] = "<x>"; }},
      {"which cannot be", [](json& file) { file["added_tokens"][0]["id"] = -5; }},
      {"pre_tokenizer", [](json& file) { file["pre_tokenizer"] = nullptr; }},
      {"\"decoder\" is missing", [](json& file) { file.erase("decoder"); }},
  };
  for (const Change& change : changes) {
    json file = small_file();
    change.change(file);
    expect_refused(file, change.said);
  }
}

TEST_F(TokenizerJson, IsRefusedByNameWhereItIsOfAnotherKind) {
  const auto step = [](const json& one) {
    return [one](json& file) { file["pre_tokenizer"] = sequence({one, byte_level}); };
  };
  const auto model = [](const char* key, const json& value) {
    return [key, value](json& file) { file["model"][key] = value; };
  };
  const Change changes[] = {
      {"kind Unigram is not supported", model("type", "Unigram")},
      {"\"byte_fallback\" is not supported", model("byte_fallback", true)},
      {"\"dropout\" is not supported", model("dropout", 0.1)},
      {"\"continuing_subword_prefix\" is not supported", model("continuing_subword_prefix", "##")},
      {"normalizer Lowercase is not supported",
       [](json& file) {
         file["normalizer"] = {{"type", "Lowercase"}};
       }},
      {"pre-tokenizer Metaspace is not supported", step({{"type", "Metaspace"}})},
      {"Digits without \"individual_digits\"", step({{"type", "Digits"}, {"individual_digits", false}})},
      {"behavior Removed is not supported",
       step({{"type", "Split"}, {"pattern", {{"Regex", "a"}}}, {"behavior", "Removed"}})},
      {"than a Regex", step({{"type", "Split"}, {"pattern", {{"String", "a"}}}, {"behavior", "Isolated"}})},
      {"uses \\w, which is not supported", step(split(R"(\w+)"))},
      {"after ByteLevel is not supported", step(byte_level)},
      {"no ByteLevel in it", [](json& file) { file["pre_tokenizer"] = sequence({split("a")}); }},
      {"no ByteLevel in it", [](json& file) { file["pre_tokenizer"] = split("a"); }},
      {"\"add_prefix_space\" is not supported", [](json& file) { file["pre_tokenizer"]["add_prefix_space"] = true; }},
      {"decoder Metaspace is not supported",
       [](json& file) {
         file["decoder"] = {{"type", "Metaspace"}};
       }},
      {"\"lstrip\" is not supported", [](json& file) { file["added_tokens"][0]["lstrip"] = true; }},
      {"beside the normalizer NFC",
       [](json& file) {
         file["normalizer"] = {{"type", "NFC"}};
         file["added_tokens"][1]["normalized"] = true;
       }},
      {"lacks bytes (0x41)",
       [](json& file) {
         file["model"]["unk_token"] = "<s>";
         file["model"]["vocab"].erase("A");
       }},
  };
  for (const Change& change : changes) {
    json file = small_file();
    change.change(file);
    expect_refused(file, change.said);
  }
}

TEST_F(TokenizerJson, IsReadOrRefusedHoweverItIsDamaged) {
  const std::string whole = small_file().dump();
  Random random(3);
  int refused = 0;
  for (int round = 0; round < 200; ++round) {
    std::string damaged = whole;
    for (std::uint64_t i = random.below(3); i < 3; ++i) {
      const char bytes[] = {'"', '}', ']', ',', ':', '9', '-', 'n', '\\', '\xC3'};
      damaged[random.below(damaged.size())] = bytes[random.below(std::size(bytes))];
    }
    write("tokenizer.json", damaged);
    try {
      const Tokenizer tokenizer(read_tokenizer_json(folder_.path() / "tokenizer.json"));
      tokenizer.encode_with_special("ab ab é <s>");
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
  EXPECT_LT(refused, 200);
}

}  // namespace
}  // namespace cudal1

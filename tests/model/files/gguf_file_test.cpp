#include "model/files/gguf_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/result.hpp"
#include "gguf_builder.hpp"
#include "model/files/rope_factors.hpp"

namespace cudal1 {
namespace {

using testing::append;
using testing::BuiltTensor;
using testing::GgufBuilder;
using testing::small_config;
using testing::small_model;

std::vector<float> values_of(const WeightTensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
  dequantise(tensor, values);
  return values;
}

std::string refusal_of_bytes(const std::string& bytes) {
  try {
    const GgufFile file(std::as_bytes(std::span(bytes)), "m.gguf");
  } catch (const Error& problem) {
    const std::string message = problem.what();
    EXPECT_TRUE(message.starts_with("m.gguf: ")) << message;
    return message.substr(8);
  }
  return {};
}

std::string refusal(const GgufBuilder& file) { return refusal_of_bytes(file.bytes()); }

class GgufArchitectures : public ::testing::TestWithParam<Architecture> {};

TEST_P(GgufArchitectures, GiveTheirSizesAndTensorsUnderHuggingFaceNames) {
  const ModelConfig wanted = small_config(GetParam());
  const std::string bytes = small_model(GetParam()).bytes();
  const GgufFile file(std::as_bytes(std::span(bytes)), "m.gguf");
  const ModelConfig& config = file.config();
  EXPECT_EQ(config.architecture, GetParam());
  EXPECT_EQ(config.layers, wanted.layers);
  EXPECT_EQ(config.head_size, wanted.head_size);
  EXPECT_EQ(config.vocabulary, wanted.vocabulary);
  EXPECT_EQ(config.attention_bias, wanted.attention_bias);
  EXPECT_EQ(config.query_key_norm, wanted.query_key_norm);
  EXPECT_FALSE(config.tied_embeddings);
  EXPECT_FALSE(config.rope_scaling);
  std::size_t count = 0;
  for_each_model_tensor(wanted, [&](const ModelTensor& tensor) {
    ASSERT_NE(file.find(tensor.name), nullptr) << tensor.name;
    EXPECT_EQ(file.find(tensor.name)->shape, tensor.shape) << tensor.name;
    // The builder's n-th tensor begins with n; the first row of a head stays where it is.
    EXPECT_EQ(values_of(*file.find(tensor.name)).front(), static_cast<float>(count)) << tensor.name;
    ++count;
  });
  EXPECT_EQ(file.names().size(), count);
  EXPECT_EQ(file.find("model.layers.2.mlp.up_proj.weight"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(All, GgufArchitectures,
                         ::testing::Values(Architecture::llama, Architecture::qwen2, Architecture::qwen3),
                         [](const auto& chosen) { return std::string(to_string(chosen.param)); });

//! Rows of one head in GGUF's Llama order are pairs; here the first of all pairs come first.
TEST(GgufFile, PutsLlamasQueryAndKeyRowsIntoHuggingFaceOrder) {
  const std::string bytes = small_model().bytes();
  const GgufFile file(std::as_bytes(std::span(bytes)), "m.gguf");
  const std::vector<float> queries = values_of(*file.find("model.layers.1.self_attn.q_proj.weight"));
  const float first = queries[0];
  const auto stored_row = [&](std::size_t row) {  // each element is its place / 4096 above the first
    return std::lround((queries[row * 64] - first) * 4096.0f) / 64;
  };
  EXPECT_EQ(stored_row(0), 0);
  EXPECT_EQ(stored_row(1), 2);
  EXPECT_EQ(stored_row(15), 30);
  EXPECT_EQ(stored_row(16), 1);
  EXPECT_EQ(stored_row(31), 31);
  EXPECT_EQ(stored_row(32), 32);
  EXPECT_EQ(stored_row(33), 34);
  EXPECT_EQ(file.find("model.layers.1.self_attn.q_proj.weight")->bytes.data(),
            file.find("model.layers.1.self_attn.q_proj.weight")->bytes.data());  // once, not at every call
}

TEST(GgufFile, LeavesQwensRowsAsTheyAre) {
  const std::string bytes = small_model(Architecture::qwen2).bytes();
  const GgufFile file(std::as_bytes(std::span(bytes)), "m.gguf");
  const std::vector<float> queries = values_of(*file.find("model.layers.0.self_attn.q_proj.weight"));
  EXPECT_EQ(queries[64] - queries[0], 64.0f / 4096.0f);
}

TEST(GgufFile, MovesWholeRowsOfBlocksAndBiasesAsWell) {
  ModelConfig config = small_config(Architecture::llama);
  config.attention_bias = true;
  GgufBuilder built = testing::model_file(config);
  BuiltTensor& queries = built.tensors["blk.0.attn_q.weight"];
  queries.type = testing::gguf_number(WeightType::q8_0);
  queries.bytes.clear();
  for (int row = 0; row < 64; ++row)
    for (int block = 0; block < 2; ++block) {
      append<std::uint16_t>(queries.bytes, 0x3c00);
      queries.bytes.append(32, static_cast<char>(row));
    }
  const std::string bytes = built.bytes();
  const GgufFile file(std::as_bytes(std::span(bytes)), "m.gguf");
  const WeightTensor& tensor = *file.find("model.layers.0.self_attn.q_proj.weight");
  EXPECT_EQ(tensor.type, WeightType::q8_0);
  EXPECT_EQ(values_of(tensor)[64], 2.0f);
  EXPECT_EQ(values_of(tensor)[17 * 64], 3.0f);
  const std::vector<float> bias = values_of(*file.find("model.layers.0.self_attn.q_proj.bias"));
  EXPECT_EQ(bias[1] - bias[0], 2.0f / 4096.0f);
}

TEST(GgufFile, WithoutAnOutputMatrixEmbeddingsAreTied) {
  GgufBuilder built = small_model();
  built.tensors.erase("output.weight");
  const std::string bytes = built.bytes();
  const GgufFile file(std::as_bytes(std::span(bytes)), "m.gguf");
  EXPECT_TRUE(file.config().tied_embeddings);
  EXPECT_EQ(file.find("lm_head.weight"), nullptr);
}

TEST(GgufFile, MakesLlama3sScalingOfTheFactorsInTheFile) {
  GgufBuilder built = small_model();
  built.number("llama.rope.freq_base", 500000.0f);
  const RopeScaling scaling{8.0, 1.0, 4.0, 8192};
  BuiltTensor factors{0, {16}, {}};
  for (const double factor : rope_factors(scaling, 500000.0, 32)) append(factors.bytes, static_cast<float>(factor));
  built.tensors["rope_freqs.weight"] = factors;
  const std::string bytes = built.bytes();
  const GgufFile file(std::as_bytes(std::span(bytes)), "m.gguf");
  ASSERT_TRUE(file.config().rope_scaling);
  EXPECT_EQ(file.config().rope_scaling->factor, 8.0);
  EXPECT_EQ(file.config().rope_scaling->original_context, 8192);
  const float other = 3.0f;
  std::memcpy(built.tensors["rope_freqs.weight"].bytes.data() + 4, &other, sizeof other);
  EXPECT_TRUE(refusal(built).starts_with("its \"rope_freqs.weight\" is not what Llama 3's"));
}

TEST(GgufFile, ReadsTheTokenizer) {
  const std::string bytes = small_model().bytes();
  const GgufFile file(std::as_bytes(std::span(bytes)), "m.gguf");
  const TokenizerData data = file.tokenizer();
  EXPECT_EQ(data.tokens.size(), 8u);
  EXPECT_EQ(data.merges, (std::vector<std::pair<std::string, std::string>>{{"a", "b"}, {"Ġ", "ab"}}));
  ASSERT_EQ(data.added.size(), 3u);
  EXPECT_EQ(data.added[1].text, "<|start|>");
  EXPECT_TRUE(data.added[1].special);
  EXPECT_EQ(data.added[2].id, 7);
  EXPECT_FALSE(data.added[2].special);
  ASSERT_EQ(data.steps.size(), 2u);
  EXPECT_EQ(data.steps[0].kind, PreTokenizerStep::Kind::single_digits);
  EXPECT_EQ(data.begin_of_text, 1);
  EXPECT_EQ(data.end_of_text, 0);
  EXPECT_EQ(data.chat_template, "{{ messages }}");
  EXPECT_FALSE(data.ignore_merges);
  EXPECT_FALSE(data.compose);
  EXPECT_EQ(file.end_tokens(), std::vector<std::int32_t>{0});
}

TEST(GgufFile, TextsOfQwenAreComposedFirst) {
  GgufBuilder built = small_model();
  built.text("tokenizer.ggml.pre", "qwen2");
  const std::string bytes = built.bytes();
  EXPECT_TRUE(GgufFile(std::as_bytes(std::span(bytes)), "m.gguf").tokenizer().compose);
}

std::string tokenizer_refusal(const std::function<void(GgufBuilder&)>& change) {
  GgufBuilder built = small_model();
  change(built);
  const std::string bytes = built.bytes();
  const GgufFile file(std::as_bytes(std::span(bytes)), "m.gguf");
  try {
    file.tokenizer();
  } catch (const Error& problem) {
    return problem.what();
  }
  return {};
}

TEST(GgufFile, RefusesTokenizersItCannotBe) {
  EXPECT_EQ(tokenizer_refusal([](GgufBuilder& f) { f.metadata.erase("tokenizer.ggml.merges"); }),
            "m.gguf: the tokenizer has no merges; convert the model again");
  EXPECT_TRUE(tokenizer_refusal([](GgufBuilder& f) {
                f.text("tokenizer.ggml.pre", "tekken");
              }).starts_with("m.gguf: the pre-tokenizer \"tekken\" is not supported"));
  EXPECT_EQ(tokenizer_refusal([](GgufBuilder& f) { f.text("tokenizer.ggml.model", "llama"); }),
            "m.gguf: the tokenizer \"llama\" is not supported; byte-level BPE (\"gpt2\") is");
  EXPECT_EQ(tokenizer_refusal([](GgufBuilder& f) {
              f.integers("tokenizer.ggml.token_type", {1, 1});
            }),
            "m.gguf: the tokenizer has 8 tokens, but kinds for 2");
  EXPECT_EQ(tokenizer_refusal([](GgufBuilder& f) { f.texts("tokenizer.ggml.merges", {"ab"}); }),
            "m.gguf: merge 0 is no pair: \"ab\"");
  EXPECT_EQ(tokenizer_refusal([](GgufBuilder& f) { f.integer("tokenizer.ggml.eos_token_id", 8); }),
            "m.gguf: \"tokenizer.ggml.eos_token_id\" is 8, but there are 8 tokens");
  EXPECT_EQ(tokenizer_refusal([](GgufBuilder& f) { f.integer("tokenizer.ggml.tokens", 8); }),
            "m.gguf: \"tokenizer.ggml.tokens\" is not a list of texts");
  EXPECT_EQ(tokenizer_refusal([](GgufBuilder&) {}), "");
}

TEST(GgufFile, RefusesOtherArchitecturesByName) {
  GgufBuilder file = small_model();
  file.text("general.architecture", "phi3");
  EXPECT_EQ(refusal(file), "the architecture \"phi3\" is not supported; llama, qwen2 and qwen3 are");
  file.metadata.erase("general.architecture");
  EXPECT_EQ(refusal(file), "no general.architecture: not a language model's file");
}

TEST(GgufFile, NamesTheFirstTensorThatIsMissing) {
  GgufBuilder file = small_model();
  file.integer("llama.block_count", 3);
  EXPECT_EQ(
      refusal(file),
      "the tensor \"blk.2.attn_norm.weight\" is missing: the file says it has 3 layers, but is not a whole model");
  file.integer("llama.block_count", 4000000000u);
  EXPECT_EQ(refusal(file), "a model of 4000000000 layers cannot be");
  file.integer("llama.block_count", 1);
  EXPECT_TRUE(refusal(file).starts_with("the tensor \"blk.1.attn_k.weight\" belongs to no llama model of 1 layers"));
}

TEST(GgufFile, NamesTensorsOfTheWrongShapeOrType) {
  GgufBuilder file = small_model();
  file.tensors["blk.1.ffn_up.weight"].sizes = {96, 64};
  EXPECT_EQ(refusal(file),
            "the tensor \"blk.1.ffn_up.weight\" has the shape (64, 96), where the model's sizes ask for (96, 64)");
  file = small_model();
  file.tensors["blk.1.ffn_up.weight"].type = 23;
  EXPECT_TRUE(refusal(file).starts_with("the tensor \"blk.1.ffn_up.weight\" is stored as IQ4_XS, which is not"));
  file = small_model();
  file.tensors["blk.0.ffn_down.weight"].type = testing::gguf_number(WeightType::q4_k);
  EXPECT_EQ(refusal(file),
            "the tensor \"blk.0.ffn_down.weight\" has rows of 96 elements, which are no whole blocks of Q4_K");
}

TEST(GgufFile, RefusesSizesThatCannotBe) {
  const auto with = [](const std::string& key, std::uint32_t value) {
    GgufBuilder file = small_model();
    file.integer(key, value);
    return refusal(file);
  };
  EXPECT_EQ(with("llama.attention.head_count", 0), "a model of 0 heads cannot be");
  EXPECT_EQ(with("llama.attention.head_count_kv", 0), "a model of 0 key/value heads cannot be");
  EXPECT_EQ(with("llama.attention.head_count_kv", 3), "2 heads cannot share 3 key/value heads");
  EXPECT_EQ(with("llama.vocab_size", 9), "9 tokens are said to be there, but the embedding has 8 rows");
  EXPECT_EQ(with("llama.rope.dimension_count", 16), "rotating 16 of a head's 32 elements is not supported");
  EXPECT_TRUE(with("llama.expert_count", 8).starts_with("a mixture of experts"));
  EXPECT_EQ(with("general.alignment", 24), "an alignment of 24 is no power of two up to 65536");
  GgufBuilder yarn = small_model();
  yarn.text("llama.rope.scaling.type", "yarn");
  EXPECT_EQ(refusal(yarn), "stretching of positions by \"yarn\" is not supported; Llama 3's is");
}

TEST(GgufFile, RefusesOtherFilesAndVersions) {
  EXPECT_EQ(refusal_of_bytes(""), "not a GGUF file: it does not begin with \"GGUF\"");
  EXPECT_EQ(refusal_of_bytes("PK\3\4 and so on"), "not a GGUF file: it does not begin with \"GGUF\"");
  GgufBuilder file = small_model();
  file.version = 1;
  EXPECT_EQ(refusal(file), "GGUF version 1; versions 2 and 3 are read: convert the model again");
  file.version = 0x03000000;
  EXPECT_TRUE(refusal(file).starts_with("a GGUF file of a big-endian machine"));
  file.version = 2;
  EXPECT_EQ(refusal(file), "");
}

TEST(GgufFile, HonoursTheAlignmentThatTheFileNames) {
  GgufBuilder file = small_model();
  file.integer("general.alignment", 128);
  file.alignment = 128;
  EXPECT_EQ(refusal(file), "");
}

TEST(GgufFile, RefusesWhatIsThereTwice) {
  std::string bytes = small_model().bytes();
  const std::size_t key = bytes.find("blk.0.attn_q.weight");
  bytes.replace(key, 19, "blk.0.attn_k.weight");
  EXPECT_EQ(refusal_of_bytes(bytes), "the tensor \"blk.0.attn_k.weight\" is there twice");
  bytes = small_model().bytes();
  bytes.replace(bytes.find("tokenizer.ggml.bos_token_id"), 27, "tokenizer.ggml.eos_token_id");
  EXPECT_EQ(refusal_of_bytes(bytes), "the key \"tokenizer.ggml.eos_token_id\" is there twice");
}

//! Overwrites the offset of a tensor in the list.
std::string with_offset(std::string bytes, const std::string& tensor, std::uint64_t offset) {
  const std::size_t entry = bytes.find(tensor) + tensor.size() + 4 + 8 * 2 + 4;  // two sizes
  std::memcpy(bytes.data() + entry, &offset, sizeof offset);
  return bytes;
}

TEST(GgufFile, RefusesOffsetsThatAreCrookedOutsideOrShared) {
  const std::string bytes = small_model().bytes();
  EXPECT_EQ(refusal_of_bytes(with_offset(bytes, "blk.0.attn_q.weight", 7)),
            "the tensor \"blk.0.attn_q.weight\" begins at 7, which is no multiple of 32");
  for (const std::uint64_t outside : {std::uint64_t{1} << 40, ~std::uint64_t{31}})
    EXPECT_EQ(refusal_of_bytes(with_offset(bytes, "blk.0.attn_q.weight", outside)),
              "the file ends before the tensor \"blk.0.attn_q.weight\" does: it is cut off or damaged, fetch it again");
  EXPECT_TRUE(refusal_of_bytes(with_offset(bytes, "blk.0.attn_q.weight", 0)).find(" overlap: ") != std::string::npos);
}

TEST(GgufFile, BelievesNoCountOrLength) {
  const std::string bytes = small_model().bytes();
  for (const std::size_t place : {8, 16, 24})  // tensors, entries, length of the first key
    for (const std::uint64_t count : {~std::uint64_t{0}, std::uint64_t{1} << 62, std::uint64_t{1} << 32}) {
      std::string changed = bytes;
      std::memcpy(changed.data() + place, &count, sizeof count);
      EXPECT_TRUE(refusal_of_bytes(changed).find("it is cut off or damaged") != std::string::npos) << place;
    }
}

TEST(GgufFile, FindsOutThatAFileIsCutOffWhereverThatIs) {
  const std::string bytes = small_model().bytes();
  int refused = 0;
  for (std::size_t size = 0; size < bytes.size(); size += 97) {
    // A copy of its own, so that a sanitizer sees whoever reads past its end.
    const std::vector<char> part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    const std::string message = refusal_of_bytes(std::string(part.begin(), part.end()));
    EXPECT_FALSE(message.empty()) << size;
    EXPECT_EQ(message.find('\n'), std::string::npos);
    ++refused;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_FALSE(refusal_of_bytes(bytes.substr(0, bytes.size() - 1)).empty());
}

}  // namespace
}  // namespace cudal1

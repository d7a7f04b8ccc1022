// Arbitrary bytes as a GGUF file: libFuzzer drives it with -DCUDAL1_BUILD_FUZZERS=ON, gguf_fuzz_smoke.cpp in the
// ordinary tests.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/files/gguf_file.hpp"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "invariant broken: %s\n", what);
  std::abort();
}

void read_tokenizer(const cudal1::GgufFile& file) {
  const cudal1::TokenizerData data = file.tokenizer();
  require(!data.merges.empty() && !data.steps.empty(), "a tokenizer is whole");
  for (const cudal1::AddedToken& added : data.added)
    require(added.id >= 0 && static_cast<std::size_t>(added.id) < data.tokens.size(), "added tokens are tokens");
}

void decode_all(const cudal1::GgufFile& file) {
  for (const std::string& name : file.names()) {
    const cudal1::WeightTensor* tensor = file.find(name);
    require(tensor != nullptr, "what is named is there");
    std::vector<float> values(static_cast<std::size_t>(tensor->elements()));
    dequantise(*tensor, values);
  }
}

template <class Action>
void expect_error_only(const Action& action) {
  try {
    action();
  } catch (const cudal1::Error& error) {
    require(std::string_view(error.what()).starts_with("fuzzed: "), "an error names its file");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  expect_error_only([&] {
    const cudal1::GgufFile file(std::as_bytes(std::span(data, size)), "fuzzed");
    decode_all(file);
    expect_error_only([&] { file.end_tokens(); });
    read_tokenizer(file);
  });
  return 0;
}

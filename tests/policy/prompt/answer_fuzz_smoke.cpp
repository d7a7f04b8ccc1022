// Feeds mutated answers to the fuzz function; the same ones in every run.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace cudal1 {
namespace {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> texts = {
      "## Performance analysis\nThe second.\n## Algorithm design\nFuse.\n## Code\n```cuda\n//! fuse a b : lanes=32\n"
      "//! graph\n```\nDone.",
      "Analysis: more\n//! fuse a\n//! kernel k replaces b : grid=1 block=1 args=()\n__global__ void k() {\n}\n",
      "<think>hm</think>{\"program\": \"//! graph\\n\"}",
      "\"```\\n//! graph\\n```\"",
      "I cannot do that.",
      "1. `//! graph`\r\n~~~\nfuse a b\n~~~\n"};
  return texts;
}

const std::vector<std::string>& fragments() {
  static const std::vector<std::string> pieces = {"```",        "````cuda\n",
                                                  "~~~",        "\n",
                                                  "\r\n",       "//!",
                                                  "// !",       "<think>",
                                                  "</think>",   "{",
                                                  "}",          "\"",
                                                  "\\n",        "\\",
                                                  "`",          "# ",
                                                  "**",         "Code",
                                                  "Analysis:",  "\u201c",
                                                  "\u00a0",     "\xff",
                                                  "__global__", "- ",
                                                  "1. ",        "graph",
                                                  "fuse ",      "(",
                                                  ")",          "<|im_end|>",
                                                  "I cannot",   "```json\n",
                                                  "\t",         std::string(1, '\0')};
  return pieces;
}

void mutate(std::string& text, Random& random) {
  const std::size_t at = random.below(text.size() + 1);
  switch (random.below(4)) {
    case 0:
      text.insert(at, fragments()[random.below(fragments().size())]);
      break;
    case 1:
      text.erase(at, random.below(12));
      break;
    case 2:
      text.insert(at, seeds()[random.below(seeds().size())]);
      break;
    default:
      if (at < text.size()) text[at] = static_cast<char>(random.below(256));
  }
}

TEST(AnswerFuzz, NothingThatIsSaidBreaksTheReader) {
  Random random(20250711);
  for (int round = 0; round < 100000; ++round) {
    std::string text = seeds()[random.below(seeds().size())];
    for (std::uint64_t i = random.below(10); i > 0; --i) mutate(text, random);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
}

TEST(AnswerFuzz, LongAnswersTakeNoLongerThanTheyAreLong) {
  for (const std::string& piece : fragments()) {
    std::string text;
    while (text.size() < 200'000) text += piece;
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
}

}  // namespace
}  // namespace cudal1

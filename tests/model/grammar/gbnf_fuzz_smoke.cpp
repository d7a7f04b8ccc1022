// Feeds mutated grammars to the fuzz function; the same ones in every run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace cudal1 {
namespace {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> texts = {
      "root ::= \"a\" item* | ( \"b\"\n | \"c\" )+ # comment\nitem ::= [^x-z\\n] {2,5} root?\n",
      "root ::= object\nobject ::= \"{\" (pair (\",\" pair)*)? \"}\"\npair ::= string \":\" (object | string)\n"
      "string ::= \"\\\"\" [^\"\\\\]* \"\\\"\"\n",
      "root ::= a b\na ::= \"\" | \"x\" a\nb ::= .{0,3} [\\u00e9\\U0001F600-\\U0001F64F]\n"};
  return texts;
}

const std::vector<std::string>& fragments() {
  static const std::vector<std::string> pieces = {
      "root", "::=",   "\n", "|",    "(",   ")",    "[",     "]",    "^",        "-",   "\"", "\\",
      "\\x4", "\\u12", "{",  "}",    "{2}", "{0,}", "{9,2}", "*",    "+",        "?",   ".",  "#",
      "a",    " ",     ",",  "2000", "\t",  "\xC3", "\xA9",  "\xFF", "\xF0\x9F", "\r\n"};
  return pieces;
}

void mutate(std::string& text, Random& random) {
  const std::size_t at = random.below(text.size() + 1);
  const std::size_t length = std::min<std::size_t>(random.below(8), text.size() - at);
  switch (random.below(4)) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text.insert(at, fragments()[random.below(fragments().size())]);
      break;
    case 2:
      text.replace(at, length, fragments()[random.below(fragments().size())]);
      break;
    default:
      text.insert(at, text.substr(random.below(text.size() + 1), random.below(30)));
  }
}

TEST(GbnfFuzz, MutatedGrammarsKeepTheInvariants) {
  Random random(20240918);
  for (int i = 0; i < 200000; ++i) {
    std::string text = seeds()[random.below(seeds().size())];
    for (std::uint64_t mutations = random.below(6); mutations > 0; --mutations) mutate(text, random);
    text += '\0';
    for (int n = 0; n < 24; ++n) text += "abc{}\",:x\n\xC3\xA9"[random.below(13)];
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
}

}  // namespace
}  // namespace cudal1

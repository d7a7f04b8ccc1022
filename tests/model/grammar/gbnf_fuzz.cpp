// The GBNF reader and the matcher against arbitrary bytes: the first half is the grammar, the rest a text for it.
// libFuzzer drives it with -DCUDAL1_BUILD_FUZZERS=ON, gbnf_fuzz_smoke.cpp in the ordinary tests.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/grammar/gbnf_reader.hpp"
#include "model/grammar/grammar_matcher.hpp"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "invariant broken: %s\n", what);
  std::abort();
}

cudal1::GrammarLimits small_limits() {
  cudal1::GrammarLimits limits;
  limits.most_automaton_nodes = 20000;
  return limits;
}

void follow(cudal1::GrammarMatcher& matcher, std::string_view text) {
  cudal1::GrammarState state = matcher.start();
  require(!state.is_dead(), "a grammar derives some text");
  for (const char byte : text.substr(0, 64)) {
    const cudal1::GrammarState before = state;
    const bool goes_on = matcher.advance(state, std::string_view(&byte, 1));
    require(goes_on != state.is_dead(), "a state is dead if and only if nothing follows");
    cudal1::GrammarState again = before;
    matcher.advance(again, std::string_view(&byte, 1));
    require(again == state, "the same bytes lead to the same state");
    if (!goes_on) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = std::min(bytes.find('\0'), bytes.size());
  try {
    const cudal1::GrammarLimits limits = small_limits();
    cudal1::GrammarMatcher matcher(
        cudal1::GrammarAutomaton(cudal1::read_gbnf(bytes.substr(0, cut), "root", limits), limits),
        {.deepest_nesting = 40, .sets_to_keep = 2000});
    follow(matcher, bytes.substr(cut));
  } catch (const cudal1::Error& error) {
    const std::string_view message = error.what();
    require(!message.empty(), "an error says what");
    require(message.find('\n') == message.npos, "a message is one line");
  }
  return 0;
}

// How long masks of the directive grammar take: for one task, along programs that the search proposes.
//   grammar_bench TASK --tokens FILE [--vocabulary N] [--code]
// FILE has one token a line, its bytes in hexadecimal; an empty line is a special token, and the first of these ends a
// text. With --vocabulary, joined tokens are added until there are so many.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <unordered_map>

#include "base/random.hpp"
#include "base/result.hpp"
#include "graph/executor.hpp"
#include "graph/task.hpp"
#include "model/grammar/token_grammar.hpp"
#include "policy/grammar/directive_grammar.hpp"
#include "policy/search/search_policy.hpp"

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

std::string from_hexadecimal(const std::string& line) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < line.size(); i += 2)
    bytes += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
  return bytes;
}

std::shared_ptr<const TokenVocabulary> read_vocabulary(const std::string& file, std::size_t size) {
  std::ifstream lines(file);
  if (!lines) throw Error(fmt::format("{} cannot be read; name a file of tokens in hexadecimal", file));
  std::vector<std::string> tokens;
  for (std::string line; std::getline(lines, line);) tokens.push_back(from_hexadecimal(line));
  Random random(1);
  for (const std::size_t known = tokens.size(); known > 0 && tokens.size() < size;)
    tokens.push_back(tokens[random.below(known)] + tokens[random.below(known)]);
  const auto end = static_cast<std::int32_t>(std::ranges::find(tokens, "") - tokens.begin());
  return std::make_shared<const TokenVocabulary>(std::move(tokens), std::vector<std::int32_t>{end});
}

//! Longest tokens first, as far as they are allowed.
std::vector<std::int32_t> tokens_of(const std::string& text, const std::unordered_map<std::string, std::int32_t>& ids,
                                    std::size_t longest) {
  std::vector<std::int32_t> tokens;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = std::min(longest, text.size() - at);
    while (length > 1 && !ids.contains(text.substr(at, length))) --length;
    const auto found = ids.find(text.substr(at, length));
    if (found == ids.end()) throw Error("the vocabulary lacks a byte of the programs");
    tokens.push_back(found->second);
    at += length;
  }
  return tokens;
}

struct Times {
  std::vector<double> steps_ms;
  int forced = 0;

  void print(const char* what) {
    std::ranges::sort(steps_ms);
    double sum = 0;
    for (const double ms : steps_ms) sum += ms;
    const std::size_t count = steps_ms.size();
    fmt::print("{}: {} steps, mean {:.4f} ms, median {:.4f} ms, 99% {:.4f} ms, longest {:.3f} ms, {} forced\n", what,
               count, sum / static_cast<double>(count), steps_ms[count / 2], steps_ms[count * 99 / 100],
               steps_ms.back(), forced);
  }
};

//! The mask of every token, and the step to the next.
Times follow(TokenGrammar& grammar, const std::vector<std::vector<std::int32_t>>& programs) {
  Times times;
  for (const auto& program : programs) {
    GrammarState state = grammar.start();
    for (const std::int32_t token : program) {
      const auto begin = Clock::now();
      const auto mask = grammar.allowed(state);
      if (!mask->allows(token)) throw Error("a proposal of the search is not in the grammar");
      grammar.advance(state, token);
      times.steps_ms.push_back(ms_since(begin));
      times.forced += mask->forced ? 1 : 0;
    }
  }
  return times;
}

std::vector<std::string> proposals(const OpGraph& graph, int count) {
  SearchPolicy policy(graph, vgpu::find_profile("h200"), Random(1));
  std::vector<ScoredProgram> seen;
  std::vector<std::string> texts;
  while (static_cast<int>(texts.size()) < count) {
    const auto text = policy.propose(seen);
    if (!text) break;
    texts.push_back(*text);
    seen.push_back({*text, 1.0, 1.0});
  }
  return texts;
}

void run(const std::string& task_path, const std::string& token_file, std::size_t size, bool with_code) {
  Task task = load_task(task_path);
  infer_metas(task);
  const auto vocabulary = read_vocabulary(token_file, size);
  std::unordered_map<std::string, std::int32_t> ids;
  for (std::int32_t token = 0; token < vocabulary->size(); ++token) ids.emplace(vocabulary->bytes(token), token);
  std::vector<std::vector<std::int32_t>> programs;
  for (const std::string& text : proposals(task.graph, 64))
    programs.push_back(tokens_of(text, ids, vocabulary->longest_token_bytes()));
  DirectiveGrammarOptions options;
  options.with_code = with_code;
  auto begin = Clock::now();
  const std::string gbnf = directive_grammar(task.graph, options);
  fmt::print("{} nodes, {} tokens; grammar of {} bytes made in {:.1f} ms\n", task.graph.nodes.size(),
             vocabulary->size(), gbnf.size(), ms_since(begin));
  begin = Clock::now();
  TokenGrammar grammar(gbnf, vocabulary);
  fmt::print("read in {:.1f} ms\n", ms_since(begin));
  follow(grammar, programs).print("first time");
  follow(grammar, programs).print("again");
  fmt::print("{} sets of stacks\n", grammar.matcher().set_count());
}

}  // namespace
}  // namespace cudal1

int main(int argc, char** argv) {
  std::string task, tokens;
  std::size_t size = 0;
  bool with_code = false;
  CLI::App app("Times of the directive grammar's masks");
  app.add_option("task", task, "folder with graph.json")->required();
  app.add_option("--tokens", tokens, "one token a line, in hexadecimal")->required();
  app.add_option("--vocabulary", size, "number of tokens");
  app.add_flag("--code", with_code, "the grammar with CUDA code");
  CLI11_PARSE(app, argc, argv);
  try {
    cudal1::run(task, tokens, size, with_code);
  } catch (const std::exception& error) {
    fmt::print(stderr, "grammar_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}

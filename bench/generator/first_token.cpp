// The first token of an answer, as whoever starts the program waits for it:
//   first_token MODEL TOKENS
// opens the model, reads a prompt of so many tokens, says one token, and prints how many there were and what took how
// long inside. Whoever measures takes the time of the whole process.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>

#include "policy/local/local_generator.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

nlohmann::json first_token(const char* model, std::size_t tokens) {
  const auto start = Clock::now();
  cudal1::LocalGeneratorOptions options;
  options.model = model;
  cudal1::LocalGenerator generator(options);
  const double opened = seconds_since(start);
  std::string text = "Make this faster:";
  for (int line = 1; generator.count_tokens(text) + 8 < tokens; ++line)  // what the chat form adds is about eight
    text += fmt::format("\nadd_{} = add(mul_{}, x)", line, line);
  const auto said = generator.generate({{{cudal1::ChatMessage::Role::user, text}}, 1, 0, 1});
  return {{"prompt_tokens", said.at(0).prompt_tokens},
          {"new_tokens", said.at(0).new_tokens},
          {"open_seconds", opened},
          {"seconds", seconds_since(start)}};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fputs("usage: first_token MODEL TOKENS\n", stderr);
    return 2;
  }
  try {
    fmt::print("{}\n", first_token(arguments[1], std::strtoul(arguments[2], nullptr, 10)).dump());
    return 0;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "first_token: {}\n", problem.what());
    return 1;
  }
}

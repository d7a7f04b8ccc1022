#include "train/publish/shared_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <vector>

#include "train/run/run_history.hpp"

namespace cudal1 {
namespace {

//! "judge.archive=/home/me/x.sqlite" is judge.archive=x.sqlite; the path may stand in quotation marks.
std::string without_folders(const std::string& word) {
  for (std::size_t begin : {std::size_t{0}, word.find('=')}) {
    if (begin != 0) begin = word.find_first_not_of("=\"' ", begin);
    if (begin >= word.size() || std::string("/~.").find(word[begin]) == std::string::npos) continue;
    const std::size_t slash = word.rfind('/', word.find_last_not_of("/\"'"));
    if (slash != word.npos && slash >= begin) return fmt::format("{}{}", word.substr(0, begin), word.substr(slash + 1));
  }
  return word;
}

}  // namespace

std::string shared_command(const std::string& command) {
  std::vector<std::string> words;
  for (const std::string& word : shell_words(command)) words.push_back(shell_word(without_folders(word)));
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace cudal1

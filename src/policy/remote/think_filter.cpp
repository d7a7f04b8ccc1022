#include "policy/remote/think_filter.hpp"

#include <algorithm>
#include <utility>

namespace cudal1 {
namespace {

constexpr std::string_view opening = "<think>";
constexpr std::string_view closing = "</think>";
constexpr std::string_view blanks = " \t\r\n";

std::string_view without_leading_blanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(blanks), text.size()));
}

}  // namespace

std::string ThinkFilter::add(std::string_view piece) {
  if (state_ == State::answer) return std::string(piece);
  pending_ += piece;
  if (state_ == State::undecided) {
    const std::string_view begin = without_leading_blanks(pending_);
    if (begin.size() < opening.size() && opening.starts_with(begin)) return {};
    if (!begin.starts_with(opening)) {
      state_ = State::answer;
      return std::exchange(pending_, {});
    }
    pending_.erase(0, pending_.size() - begin.size() + opening.size());
    state_ = State::reasoning;
  }
  return leave_reasoning();
}

std::string ThinkFilter::leave_reasoning() {
  const std::size_t end = pending_.find(closing);
  if (end == std::string::npos) {
    const std::size_t kept = std::min(pending_.size(), closing.size() - 1);  // the tag may be cut
    reasoning_bytes_ += pending_.size() - kept;
    pending_.erase(0, pending_.size() - kept);
    return {};
  }
  reasoning_bytes_ += end;
  state_ = State::answer;
  std::string answer(without_leading_blanks(std::string_view(pending_).substr(end + closing.size())));
  pending_.clear();
  return answer;
}

std::string ThinkFilter::finish() {
  std::string rest = std::exchange(pending_, {});
  if (state_ != State::reasoning) return rest;
  reasoning_bytes_ += rest.size();
  return {};
}

}  // namespace cudal1

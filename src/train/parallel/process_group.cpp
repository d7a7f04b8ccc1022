#include "train/parallel/process_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/result.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t bytes_at_once = std::size_t{8} << 20;  // below what a channel takes, and soon in the caches

template <class Number>
std::string_view bytes_of(std::span<const Number> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

}  // namespace

ProcessGroup::ProcessGroup(std::vector<Channel*> members, std::function<std::string(std::size_t)> how_ended)
    : size_(members.size() + 1), channels_(std::move(members)), how_ended_(std::move(how_ended)) {}

ProcessGroup::ProcessGroup(std::size_t member, std::size_t size, Channel& leader)
    : member_(member), size_(size), channels_{&leader} {}

Channel& ProcessGroup::channel_to(std::size_t member) const { return *channels_.at(member_ == 0 ? member - 1 : 0); }

void ProcessGroup::complain_of(std::size_t member) const {
  throw Error(fmt::format("process {} of {} {}", member + 1, size_, how_ended_ ? how_ended_(member) : "is gone"));
}

void ProcessGroup::send(std::size_t to, std::string_view bytes) {
  if (!channel_to(to).send(bytes)) complain_of(to);
}

std::string ProcessGroup::receive(std::size_t from) {
  Message message;
  if (channel_to(from).receive(message) != Channel::Outcome::message) complain_of(from);
  return std::move(message.bytes);
}

template <class Number>
void ProcessGroup::add_up_part(std::span<Number> numbers) {
  if (member_ != 0) {
    send(0, bytes_of<Number>(numbers));
    const std::string sum = receive(0);
    if (sum.size() != numbers.size_bytes()) throw Error("the first process adds up something else");
    std::memcpy(numbers.data(), sum.data(), sum.size());
    return;
  }
  std::vector<Number> theirs(numbers.size());
  for (std::size_t member = 1; member < size_; ++member) {
    const std::string bytes = receive(member);
    if (bytes.size() != numbers.size_bytes())
      throw Error(fmt::format("process {} of {} adds up something else", member + 1, size_));
    std::memcpy(theirs.data(), bytes.data(), bytes.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += theirs[i];
  }
  for (std::size_t member = 1; member < size_; ++member) send(member, bytes_of<Number>(numbers));
}

template <class Number>
void ProcessGroup::add_up_in_parts(std::span<Number> numbers) {
  if (size_ == 1) return;
  const std::size_t most = bytes_at_once / sizeof(Number);
  for (std::size_t first = 0; first < numbers.size(); first += most)
    add_up_part(numbers.subspan(first, std::min(most, numbers.size() - first)));
}

void ProcessGroup::add_up(std::span<float> numbers) { add_up_in_parts(numbers); }
void ProcessGroup::add_up(std::span<double> numbers) { add_up_in_parts(numbers); }

double ProcessGroup::largest(double number) {
  std::vector<double> all(size_);
  all[member_] = number;
  add_up(std::span(all));
  return *std::max_element(all.begin(), all.end());
}

std::string ProcessGroup::first_said(const std::string& words) {
  if (size_ == 1) return words;
  if (member_ != 0) {
    send(0, words);
    return receive(0);
  }
  std::string first = words;
  for (std::size_t member = 1; member < size_; ++member) {
    std::string theirs = receive(member);
    if (first.empty()) first = std::move(theirs);
  }
  for (std::size_t member = 1; member < size_; ++member) send(member, first);
  return first;
}

std::vector<std::vector<std::size_t>> shares_of(std::span<const std::size_t> lengths, std::size_t members) {
  std::vector<std::size_t> order(lengths.size()), tokens(members);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
  std::vector<std::vector<std::size_t>> shares(members);
  for (const std::size_t text : order) {
    const auto least = static_cast<std::size_t>(std::ranges::min_element(tokens) - tokens.begin());
    shares[least].push_back(text);
    tokens[least] += lengths[text];
  }
  for (std::vector<std::size_t>& share : shares) std::ranges::sort(share);
  return shares;
}

}  // namespace cudal1

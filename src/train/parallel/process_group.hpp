// Processes that train one model together: each computes the gradients of some of a step's texts, and all add them up.
// Every member calls the same functions in the same order, with arrays of the same length. No tensors here.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/channel.hpp"

namespace cudal1 {

//! Member 0 leads: the others are connected to it only. It adds up in the order of members and sends everybody the same
//! bits, so that models which were the same stay the same.
class ProcessGroup {
 public:
  //! A group of one: nothing is ever sent.
  ProcessGroup() = default;
  //! The leader's, with a channel to each of the others in their order. `how_ended` says of a member that is gone what
  //! became of it: "ended with signal 9".
  ProcessGroup(std::vector<Channel*> members, std::function<std::string(std::size_t member)> how_ended);
  //! A member's, with its channel to the leader; member and size count the leader.
  ProcessGroup(std::size_t member, std::size_t size, Channel& leader);

  std::size_t member() const { return member_; }
  std::size_t size() const { return size_; }

  // All throw Error in one line that names the member that is gone.

  //! Each number becomes the sum of all members'.
  void add_up(std::span<float> numbers);
  void add_up(std::span<double> numbers);
  //! The largest that a member has.
  double largest(double number);
  //! Of the first member that says something; empty: nobody does.
  std::string first_said(const std::string& words);

  //! A message from the leader to one member, and from a member to the leader.
  void send(std::size_t to, std::string_view bytes);
  std::string receive(std::size_t from);
  [[noreturn]] void complain_of(std::size_t member) const;

 private:
  template <class Number>
  void add_up_in_parts(std::span<Number> numbers);
  template <class Number>
  void add_up_part(std::span<Number> numbers);
  Channel& channel_to(std::size_t member) const;

  std::size_t member_ = 0, size_ = 1;
  std::vector<Channel*> channels_;  //!< the leader: by member - 1; another: to the leader
  std::function<std::string(std::size_t member)> how_ended_;
};

//! Which of texts with these lengths each member computes: members get about as many tokens, in the order of texts. The
//! same on every member.
std::vector<std::vector<std::size_t>> shares_of(std::span<const std::size_t> lengths, std::size_t members);

}  // namespace cudal1

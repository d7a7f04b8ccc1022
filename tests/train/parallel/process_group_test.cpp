// Members of a group, each in a thread of its own over a real socket pair.
#include "train/parallel/process_group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <thread>

#include "base/result.hpp"

namespace cudal1 {
namespace {

//! A leader here and members elsewhere.
class GroupTest : public ::testing::Test {
 protected:
  void make(std::size_t size) {
    std::vector<Channel*> to_members;
    for (std::size_t member = 1; member < size; ++member) {
      auto [ours, theirs] = Channel::pair();
      leaders_.push_back(std::make_unique<Channel>(std::move(ours)));
      members_.push_back(std::make_unique<Channel>(std::move(theirs)));
      to_members.push_back(leaders_.back().get());
    }
    leader = ProcessGroup(to_members, [](std::size_t) { return std::string("ended with signal 9"); });
    for (std::size_t member = 1; member < size; ++member) others.emplace_back(member, size, *members_[member - 1]);
  }
  void everybody(const std::function<void(ProcessGroup& group)>& work) {
    std::vector<std::jthread> threads;
    for (ProcessGroup& other : others) threads.emplace_back([&] { work(other); });
    work(leader);
  }
  void leader_goes() {
    for (const auto& channel : leaders_) channel->close();
  }
  void member_is_gone(std::size_t member) { members_[member - 1]->close(); }

  ProcessGroup leader;
  std::vector<ProcessGroup> others;

 private:
  std::vector<std::unique_ptr<Channel>> leaders_, members_;
};

TEST_F(GroupTest, EverybodyHasTheSumOfLongArrays) {
  make(3);
  constexpr std::size_t count = (std::size_t{5} << 20) + 7;  // in several messages, the last of which is short
  everybody([&](ProcessGroup& group) {
    std::vector<float> numbers(count, static_cast<float>(group.member() + 1));
    numbers.back() = static_cast<float>(10 * group.member());
    group.add_up(std::span(numbers));
    EXPECT_EQ(numbers.front(), 6.0F);
    EXPECT_EQ(numbers[count - 2], 6.0F);
    EXPECT_EQ(numbers.back(), 30.0F);
  });
}

TEST_F(GroupTest, TheLargestAndTheFirstWords) {
  make(3);
  everybody([](ProcessGroup& group) {
    EXPECT_EQ(group.largest(group.member() == 1 ? 7.5 : 1.0), 7.5);
    EXPECT_EQ(group.first_said(group.member() == 0 ? "" : std::to_string(group.member())), "1");
    EXPECT_EQ(group.first_said(""), "");
  });
}

TEST_F(GroupTest, OneAloneSendsNothing) {
  std::vector<float> numbers{1.0F, 2.0F};
  leader.add_up(std::span(numbers));
  EXPECT_EQ(numbers, (std::vector<float>{1.0F, 2.0F}));
  EXPECT_EQ(leader.first_said("words"), "words");
  EXPECT_EQ(leader.largest(3.0), 3.0);
}

TEST_F(GroupTest, AMemberThatIsGoneIsNamed) {
  make(3);
  member_is_gone(2);
  const std::jthread first([&] {
    std::vector<float> numbers(4);
    EXPECT_THROW(others[0].add_up(std::span(numbers)), Error) << "the leader goes then";
  });
  std::vector<float> numbers(4);
  try {
    leader.add_up(std::span(numbers));
    ADD_FAILURE() << "somebody is missing";
  } catch (const Error& problem) {
    EXPECT_STREQ(problem.what(), "process 3 of 3 ended with signal 9");
  }
  leader_goes();
}

TEST(TextShares, EveryTextHasOneMemberAndTokensAreEven) {
  const std::vector<std::size_t> lengths{10, 900, 20, 30, 400, 500, 10};
  const auto shares = shares_of(lengths, 2);
  std::multiset<std::size_t> all;
  std::vector<std::size_t> tokens;
  for (const auto& share : shares) {
    all.insert(share.begin(), share.end());
    EXPECT_TRUE(std::ranges::is_sorted(share));
    tokens.push_back(std::accumulate(share.begin(), share.end(), std::size_t{0},
                                     [&](std::size_t sum, std::size_t text) { return sum + lengths[text]; }));
  }
  EXPECT_EQ(all, (std::multiset<std::size_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(tokens, (std::vector<std::size_t>{940, 930}));
}

TEST(TextShares, FewerTextsThanMembersLeaveSomeWithoutAndOneMemberHasAllInOrder) {
  const std::vector<std::size_t> lengths{5, 7};
  const auto shares = shares_of(lengths, 4);
  EXPECT_EQ(shares[0], (std::vector<std::size_t>{1}));
  EXPECT_EQ(shares[1], (std::vector<std::size_t>{0}));
  EXPECT_TRUE(shares[2].empty() && shares[3].empty());
  EXPECT_EQ(shares_of(lengths, 1)[0], (std::vector<std::size_t>{0, 1}));
}

}  // namespace
}  // namespace cudal1

#include "policy/remote/sse_reader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cudal1 {
namespace {

std::vector<std::string> events_of(const std::vector<std::string>& pieces) {
  std::vector<std::string> events;
  SseReader reader([&](std::string_view data) { events.emplace_back(data); });
  for (const auto& piece : pieces) reader.add(piece);
  reader.finish();
  return events;
}

using Events = std::vector<std::string>;

TEST(SseReader, TakesEveryKindOfLineEnd) {
  for (const std::string end : {"\n", "\r\n", "\r"})
    EXPECT_EQ(events_of({"data: a" + end + end + "data:b" + end + end}), (Events{"a", "b"})) << end.size();
}

TEST(SseReader, CutAnywhereGivesTheSameEvents) {
  const std::string stream =
      ": hello\r\nevent: message\r\ndata: {\"x\":\r\ndata: 1}\r\n\r\nid: 7\ndata: Grüße 🙂\n\ndata: [DONE]\n\n";
  const Events whole = events_of({stream});
  ASSERT_EQ(whole, (Events{"{\"x\":\n1}", "Grüße 🙂", "[DONE]"}));
  for (std::size_t first = 0; first <= stream.size(); ++first)
    for (std::size_t second = first; second <= stream.size(); ++second)
      ASSERT_EQ(events_of({stream.substr(0, first), stream.substr(first, second - first), stream.substr(second)}),
                whole)
          << first << ", " << second;
}

TEST(SseReader, CommentsAndOtherFieldsAreNoEvents) {
  EXPECT_EQ(events_of({": keep-alive\n\n:\n\nretry: 5\n\ndatax: 1\n\nevent: e\n\n"}), Events{});
}

TEST(SseReader, AnEventWithoutItsEmptyLineCountsOnlyIfItsLineWasWhole) {
  EXPECT_EQ(events_of({"data: a\n"}), Events{"a"});
  EXPECT_EQ(events_of({"data: a"}), Events{});
}

TEST(SseReader, AnEmptyDataLineIsAnEvent) { EXPECT_EQ(events_of({"data\n\ndata:\n\n"}), (Events{"", ""})); }

}  // namespace
}  // namespace cudal1

// Checksums against published ones; what TensorBoard would read is decoded in test_event_file.py.
#include "train/run/event_file.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"

namespace cudal1 {
namespace {

TEST(Crc32c, AgreesWithRfc3720) {
  std::string rising;
  for (int i = 0; i < 32; ++i) rising.push_back(static_cast<char>(i));
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
  EXPECT_EQ(crc32c(rising), 0x46DD794Eu);
  EXPECT_EQ(crc32c(std::string(rising.rbegin(), rising.rend())), 0x113FDB5Cu);
}

TEST(EventFile, BeginsWithTheVersionThatReadersLookFor) {
  const TemporaryFolder folder;
  const EventFile file(folder.path(), 0, 1000.0);
  const std::string bytes = read_file(file.path());
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x1A\0\0\0\0\0\0\0", 8))
      << "9 of the time, 2 of the step, 15 of the version";
  EXPECT_NE(bytes.find("brain.Event:2"), std::string::npos);
}

TEST(EventFile, EveryStartHasAFileWhoseNameComesLater) {
  const TemporaryFolder folder;
  const EventFile first(folder.path(), 0, 1000.0), second(folder.path(), 4, 1000.0), third(folder.path(), 4, 1001.0);
  EXPECT_LT(first.path(), second.path());
  EXPECT_LT(second.path(), third.path());
}

}  // namespace
}  // namespace cudal1

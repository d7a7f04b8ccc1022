#include "graph/safetensors.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "graph/safetensors_writer.hpp"
#include "task_text.hpp"

namespace cudal1 {
namespace {

using testing::message_of;
using testing::safetensors_bytes;
using testing::TestFolder;

std::string refusal(std::string_view bytes) {
  const TestFolder folder;
  folder.write("w", bytes);
  const std::string message = message_of([&] { SafetensorsFile file(folder.path() / "w"); });
  const std::string prefix = (folder.path() / "w").string();
  EXPECT_TRUE(message.empty() || message.starts_with(prefix)) << message;
  return message.empty() ? message : message.substr(prefix.size());
}

std::string refusal_of_header(std::string_view header, std::string_view data = "abcdefgh") {
  return refusal(safetensors_bytes(header, data));
}

TEST(Safetensors, GivesDtypeShapeAndBytesOfEachTensor) {
  const TestFolder folder;
  folder.write("w", safetensors_bytes(R"({"__metadata__": {"format": "pt"},
      "b": {"dtype": "I16", "shape": [2], "data_offsets": [4, 8]},
      "a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]},
      "none": {"dtype": "F32", "shape": [0, 3], "data_offsets": [8, 8]}})",
                                      std::string("\0\0\x80\x3f\1\0\2\0", 8)));
  const SafetensorsFile file(folder.path() / "w");
  ASSERT_EQ(file.tensors().size(), 3u);
  const StoredTensor* scalar = file.find("a");
  ASSERT_NE(scalar, nullptr);
  float value = 0;
  std::memcpy(&value, scalar->bytes.data(), sizeof value);
  EXPECT_EQ(value, 1.0f);
  EXPECT_EQ(file.find("b")->meta, (TensorMeta{DType::i16, {2}, {1}}));
  EXPECT_EQ(file.find("b")->bytes[2], std::byte{2});
  EXPECT_TRUE(file.find("none")->bytes.empty());
  EXPECT_EQ(file.find("c"), nullptr);
}

TEST(Safetensors, RefusesTruncatedFiles) {
  EXPECT_EQ(refusal("short"), ": too short for a safetensors file");
  EXPECT_EQ(refusal(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10)),
            ": a header of 18446744073709551615 bytes does not fit the file");
  EXPECT_EQ(refusal(std::string("\3\0\0\0\0\0\0\0{}", 10)), ": a header of 3 bytes does not fit the file");
}

TEST(Safetensors, RefusesBrokenHeaders) {
  EXPECT_TRUE(refusal_of_header("{").starts_with(":1:2: broken JSON"));
  EXPECT_EQ(refusal_of_header("[]"), ": the header is not an object");
  EXPECT_EQ(refusal_of_header(R"({"a": {"dtype": "C64", "shape": [1], "data_offsets": [0, 8]}})"),
            ": a.dtype: dtype C64 is not supported");
  EXPECT_EQ(refusal_of_header(R"({"a": 1, "a": 2})"), ": the key \"a\" appears twice in one object");
}

TEST(Safetensors, RefusesOffsetsOutsideTheFileOrOfTheWrongLength) {
  EXPECT_EQ(refusal_of_header(R"({"a": {"dtype": "U8", "shape": [4], "data_offsets": [6, 10]}})"),
            ": a.data_offsets: [6, 10) is outside the file's 8 data bytes");
  EXPECT_EQ(refusal_of_header(R"({"a": {"dtype": "U8", "shape": [4], "data_offsets": [-4, 0]}})"),
            ": a.data_offsets: [-4, 0) is outside the file's 8 data bytes");
  EXPECT_EQ(refusal_of_header(R"({"a": {"dtype": "U8", "shape": [4], "data_offsets": [4, 0]}})"),
            ": a.data_offsets: [4, 0) is outside the file's 8 data bytes");
  EXPECT_EQ(refusal_of_header(R"({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 8]}})"),
            ": a.data_offsets: 8 bytes, but f32[4] needs 16");
  EXPECT_EQ(refusal_of_header(R"({"a": {"dtype": "F32", "shape": [4611686018427387904, 4], "data_offsets": [0, 0]}})"),
            ": a.shape: the tensor would be larger than 2^40 bytes");
}

TEST(Safetensors, RefusesOverlappingTensors) {
  EXPECT_EQ(refusal_of_header(R"({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
                                  "b": {"dtype": "U8", "shape": [4], "data_offsets": [3, 7]}})"),
            ": tensors \"a\" and \"b\" overlap");
  EXPECT_EQ(refusal_of_header(R"({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
                                  "b": {"dtype": "U8", "shape": [4], "data_offsets": [4, 8]}})"),
            "");
}

TEST(SafetensorsWriter, WritesWhatTheReaderReads) {
  const TestFolder folder;
  const std::vector<float> floats{1.5f, -2.0f};
  const std::vector<std::uint16_t> halves{0x3c00};
  write_safetensors({{"x/y", DType::f32, {2, 1}, std::as_bytes(std::span(floats))},
                     {"half", DType::bf16, {1}, std::as_bytes(std::span(halves))},
                     {"none", DType::f32, {0, 4}, {}}},
                    folder.path() / "w");
  const SafetensorsFile file(folder.path() / "w");
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.find("x/y")->meta, (TensorMeta{DType::f32, {2, 1}, {1, 1}}));
  EXPECT_EQ(std::memcmp(file.find("x/y")->bytes.data(), floats.data(), 8), 0);
  EXPECT_EQ(file.find("half")->meta.dtype, DType::bf16);
  EXPECT_TRUE(file.find("none")->bytes.empty());
}

TEST(SafetensorsWriter, LeavesTheOldFileWhereItCannotWriteTheNewOne) {
  const TestFolder folder;
  std::filesystem::create_directory(folder.path() / "w");  // a file cannot take a folder's place
  const std::vector<float> floats{1.5f};
  EXPECT_NE(message_of([&] {
              write_safetensors({{"x", DType::f32, {1}, std::as_bytes(std::span(floats))}}, folder.path() / "w");
            }).find("cannot be written"),
            std::string::npos);
  EXPECT_TRUE(std::filesystem::is_directory(folder.path() / "w"));
  EXPECT_TRUE(files_below(folder.path()).empty());  // nothing half-written is left
}

}  // namespace
}  // namespace cudal1

#include "train/run/event_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0x82F63B78u : 0u);
    table[byte] = crc;
  }
  return table;
}();

//! A checksum of bytes that hold checksums themselves is weak, so TFRecords turn and shift theirs.
std::uint32_t masked_crc(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xA282EAD8u; }

template <class Unsigned>
std::string little_endian(Unsigned value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof value; ++i) bytes.push_back(static_cast<char>((value >> (8 * i)) & 0xFF));
  return bytes;
}

// --- Protobuf: a key (field number and kind), then the value ---

enum WireKind : std::uint64_t { varint_kind = 0, eight_bytes = 1, counted_bytes = 2, four_bytes = 5 };

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>((value & 0x7F) | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

std::string key(std::uint64_t field, WireKind kind) { return varint((field << 3) | kind); }

std::string bytes_field(std::uint64_t field, std::string_view bytes) {
  return key(field, counted_bytes) + varint(bytes.size()) + std::string(bytes);
}

std::string number_field(std::uint64_t field, std::int64_t value) {
  return key(field, varint_kind) + varint(static_cast<std::uint64_t>(value));
}

std::string float_field(std::uint64_t field, double value) {
  return key(field, four_bytes) + little_endian(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
}

std::string double_field(std::uint64_t field, double value) {
  return key(field, eight_bytes) + little_endian(std::bit_cast<std::uint64_t>(value));
}

// --- tensorflow.Event: wall_time 1, step 2, file_version 3, summary 5, session_log 7 ---

std::string event(double now_s, std::int64_t step, const std::string& what) {
  return double_field(1, now_s) + number_field(2, step) + what;
}

//! tensorflow.Summary: value 1, of tag 1 and simple_value 2.
std::string summary(const Metrics& metrics) {
  std::string values;
  for (const auto& [name, value] : metrics) values += bytes_field(1, bytes_field(1, name) + float_field(2, value));
  return values;
}

constexpr int session_start = 1;  // of tensorflow.SessionLog's status, its field 1

//! TensorBoard reads files in the order of their names.
std::string file_name(double now_s, std::size_t files_before) {
  return fmt::format("events.out.tfevents.{:010}.cudal1.{:06}", static_cast<std::int64_t>(now_s), files_before);
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char c : bytes) crc = (crc >> 8) ^ crc_table[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  return crc ^ 0xFFFFFFFFu;
}

EventFile::EventFile(const fs::path& folder, std::int64_t first_step, double now_s) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  file_ = folder / file_name(now_s, files_below(folder).size());
  descriptor_ = UniqueFd(::open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
  if (!descriptor_) throw Error(fmt::format("{}: cannot write: {}", file_.string(), std::strerror(errno)));
  write_record(event(now_s, 0, bytes_field(3, "brain.Event:2")));
  write_record(event(now_s, first_step, bytes_field(7, number_field(1, session_start))));
}

void EventFile::add(std::int64_t step, const Metrics& metrics, double now_s) {
  write_record(event(now_s, step, bytes_field(5, summary(metrics))));
}

//! Length, its checksum, the bytes, their checksum.
void EventFile::write_record(std::string_view event) {
  const std::string length = little_endian(static_cast<std::uint64_t>(event.size()));
  std::string record = length + little_endian(masked_crc(length));
  record.append(event).append(little_endian(masked_crc(event)));
  for (std::string_view rest = record; !rest.empty();) {
    const ssize_t written = ::write(descriptor_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Error(fmt::format("{}: cannot write: {}", file_.string(), std::strerror(errno)));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace cudal1

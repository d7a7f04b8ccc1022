// Reads numbers and texts out of bytes that nobody vouches for: every step is checked against the end.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace cudal1 {

static_assert(std::endian::native == std::endian::little, "model files hold little-endian numbers");

class ByteReader {
 public:
  //! `file` is for messages.
  ByteReader(std::span<const std::byte> bytes, std::string file) : bytes_(bytes), file_(std::move(file)) {}

  //! All functions throw Error where the bytes end before `what` does.
  template <class T>
  T number(std::string_view what) {
    T value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }
  //! A length in eight bytes, then as many bytes.
  std::string_view text(std::string_view what);
  //! A number of things of which each takes at least so many bytes; that many must still be there.
  std::uint64_t count(std::uint64_t bytes_each, std::string_view what);
  std::span<const std::byte> take(std::uint64_t size, std::string_view what);

  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }

 private:
  [[noreturn]] void fail_at_end(std::string_view what) const;

  std::span<const std::byte> bytes_;
  std::string file_;
  std::size_t position_ = 0;
};

}  // namespace cudal1

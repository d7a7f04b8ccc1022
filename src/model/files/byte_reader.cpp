#include "model/files/byte_reader.hpp"

#include <fmt/format.h>

#include "base/result.hpp"

namespace cudal1 {

std::string_view ByteReader::text(std::string_view what) {
  const auto length = number<std::uint64_t>(what);
  const std::span<const std::byte> bytes = take(length, what);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t ByteReader::count(std::uint64_t bytes_each, std::string_view what) {
  const auto value = number<std::uint64_t>(what);
  if (value > remaining() / bytes_each) fail_at_end(what);
  return value;
}

std::span<const std::byte> ByteReader::take(std::uint64_t size, std::string_view what) {
  if (size > remaining()) fail_at_end(what);
  const std::span<const std::byte> taken = bytes_.subspan(position_, static_cast<std::size_t>(size));
  position_ += taken.size();
  return taken;
}

void ByteReader::fail_at_end(std::string_view what) const {
  throw Error(fmt::format("{}: the file ends before {} does: it is cut off or damaged, fetch it again", file_, what));
}

}  // namespace cudal1

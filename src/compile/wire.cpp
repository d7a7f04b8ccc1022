#include "compile/wire.hpp"

#include <cstring>

namespace cudal1 {

FieldWriter& FieldWriter::number(std::uint64_t value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes_.append(raw, sizeof raw);
  return *this;
}

FieldWriter& FieldWriter::text(std::string_view bytes) {
  number(bytes.size());
  bytes_.append(bytes);
  return *this;
}

std::string_view FieldReader::take(std::size_t bytes) {
  if (!ok_ || bytes > rest_.size()) {
    ok_ = false;
    return {};
  }
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

std::uint64_t FieldReader::number() {
  std::uint64_t value = 0;
  const std::string_view raw = take(sizeof value);
  if (ok_) std::memcpy(&value, raw.data(), sizeof value);
  return value;
}

std::string FieldReader::text() {
  const std::uint64_t bytes = number();
  if (bytes > rest_.size()) ok_ = false;
  return ok_ ? std::string(take(static_cast<std::size_t>(bytes))) : std::string();
}

std::size_t FieldReader::count(std::size_t most) {
  const std::uint64_t value = number();
  if (value > most) ok_ = false;
  return ok_ ? static_cast<std::size_t>(value) : 0;
}

}  // namespace cudal1

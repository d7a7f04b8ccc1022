#include "base/hash.hpp"

#include <algorithm>
#include <cstring>

namespace cudal1 {

Sha256::Sha256()
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

Sha256& Sha256::add(std::string_view bytes) {
  total_bytes_ += bytes.size();
  while (!bytes.empty()) {
    if (const std::size_t whole = bytes.size() / pending_.size(); whole > 0 && pending_bytes_ == 0) {
      sha256_take_in(state_, reinterpret_cast<const std::uint8_t*>(bytes.data()), whole);
      bytes.remove_prefix(whole * pending_.size());
      continue;
    }
    const std::size_t taken = std::min(bytes.size(), pending_.size() - pending_bytes_);
    std::memcpy(pending_.data() + pending_bytes_, bytes.data(), taken);
    pending_bytes_ += taken;
    bytes.remove_prefix(taken);
    if (pending_bytes_ == pending_.size()) {
      sha256_take_in(state_, pending_.data(), 1);
      pending_bytes_ = 0;
    }
  }
  return *this;
}

Sha256& Sha256::add_field(std::string_view bytes) {
  const std::uint64_t length = bytes.size();
  return add({reinterpret_cast<const char*>(&length), sizeof length}).add(bytes);
}

std::string Sha256::hex() {
  const std::uint64_t bits = total_bytes_ * 8;
  add(std::string_view("\x80", 1));
  while (pending_bytes_ != 56) add(std::string_view("\0", 1));
  std::array<char, 8> length;
  for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(bits >> (56 - 8 * i));
  add({length.data(), length.size()});
  std::string text;
  for (const std::uint32_t word : state_)
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[(word >> shift) & 15];
  return text;
}

std::string sha256_hex(std::string_view bytes) { return Sha256().add(bytes).hex(); }

}  // namespace cudal1

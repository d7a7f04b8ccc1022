#include "policy/remote/api_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "base/result.hpp"

namespace cudal1 {
namespace {

constexpr std::string_view replacement = "[key]";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

bool is_visible_ascii(char letter) { return letter > 0x20 && letter < 0x7f; }

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char letter : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) ||
                       std::string_view("-_.~").find(letter) != std::string_view::npos;
    encoded += plain ? std::string(1, letter) : fmt::format("%{:02X}", static_cast<unsigned char>(letter));
  }
  return encoded;
}

void replace_all(std::string& text, std::string_view secret) {
  for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + replacement.size()))
    text.replace(at, secret.size(), replacement);
}

}  // namespace

ApiKey ApiKey::from_environment(const std::string& variable) {
  ApiKey key;
  key.variable_ = variable;
  const char* const value = std::getenv(variable.c_str());
  key.value_ = trimmed(value ? value : "");
  if (!std::all_of(key.value_.begin(), key.value_.end(), is_visible_ascii))
    throw UsageError(
        fmt::format("the key in {} has blanks, control characters or letters beyond ASCII: set it again", variable));
  key.percent_encoded_ = percent_encoded(key.value_);
  return key;
}

std::string ApiKey::authorization_header() const { return "Authorization: Bearer " + value_; }

std::string ApiKey::redact(std::string text) const {
  if (!is_secret()) return text;
  replace_all(text, value_);
  if (percent_encoded_ != value_) replace_all(text, percent_encoded_);
  return text;
}

std::string KeyFilter::add(std::string_view piece) {
  pending_ += piece;
  if (!key_->is_secret()) return std::exchange(pending_, {});
  pending_ = key_->redact(std::move(pending_));
  const std::size_t passed_bytes = pending_.size() - bytes_to_keep();
  std::string passed = pending_.substr(0, passed_bytes);
  pending_.erase(0, passed_bytes);
  return passed;
}

std::string KeyFilter::finish() { return std::exchange(pending_, {}); }

//! The longest end of the text that the key begins with.
std::size_t KeyFilter::bytes_to_keep() const {
  const std::string_view key = key_->value_;
  for (std::size_t bytes = std::min(pending_.size(), key.size() - 1); bytes > 0; --bytes)
    if (std::string_view(pending_).ends_with(key.substr(0, bytes))) return bytes;
  return 0;
}

}  // namespace cudal1

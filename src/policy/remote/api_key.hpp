// The key of a server. It comes from the environment, goes into one header of a request, and nowhere else.
#pragma once

#include <string>
#include <string_view>

namespace cudal1 {

class ApiKey {
 public:
  //! Shorter ones are placeholders such as "none", which local servers take; they are not looked for in texts.
  static constexpr std::size_t least_secret_bytes = 8;

  ApiKey() = default;
  //! From the variable of that name; an unset or empty one gives an empty key. Throws UsageError (which does not repeat
  //! the key) if it cannot stand in a header.
  static ApiKey from_environment(const std::string& variable);

  bool empty() const { return value_.empty(); }
  bool is_secret() const { return value_.size() >= least_secret_bytes; }
  const std::string& variable() const { return variable_; }
  std::string authorization_header() const;  //!< the only way to the key itself
  //! The text without the key, also where it is percent-encoded.
  std::string redact(std::string text) const;

 private:
  friend class KeyFilter;
  std::string variable_ = "OPENAI_API_KEY";
  std::string value_;
  std::string percent_encoded_;
};

//! Takes the key out of a text that arrives in pieces: what may be the beginning of the key is kept back.
class KeyFilter {
 public:
  explicit KeyFilter(const ApiKey& key) : key_(&key) {}
  std::string add(std::string_view piece);
  std::string finish();  //!< what was kept back

 private:
  std::size_t bytes_to_keep() const;

  const ApiKey* key_;
  std::string pending_;
};

}  // namespace cudal1

// A JSON value together with its place in its file, so that every complaint can say where it is.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace cudal1 {

//! Parses JSON text. Throws Error with `file`, line and column; also for duplicate keys and absurd nesting.
nlohmann::json parse_json(std::string_view text, const std::string& file);

//! A reference to a JSON value; the document must outlive it. All functions throw Error naming file and place.
class JsonPlace {
 public:
  JsonPlace(const nlohmann::json& value, std::string file) : value_(&value), file_(std::move(file)) {}

  const nlohmann::json& json() const { return *value_; }
  [[noreturn]] void fail(std::string_view message) const;

  JsonPlace at(const std::string& key) const;  //!< the key must be there
  std::optional<JsonPlace> find(const std::string& key) const;
  JsonPlace at(std::size_t index) const;
  std::size_t size() const { return value_->size(); }

  //! This is an object and has no other keys: a typo must not pass as a default.
  void allow_keys(std::initializer_list<std::string_view> keys) const;
  void expect_array() const;
  std::string text() const;
  std::int64_t integer() const;
  double number() const;
  bool boolean() const;

 private:
  JsonPlace(const nlohmann::json& value, std::string file, std::string place)
      : value_(&value), file_(std::move(file)), place_(std::move(place)) {}
  void expect(bool is_right, std::string_view wanted) const;

  const nlohmann::json* value_;
  std::string file_;
  std::string place_;
};

}  // namespace cudal1

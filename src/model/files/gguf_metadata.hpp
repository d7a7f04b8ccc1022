// The named values at the beginning of a GGUF file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/files/byte_reader.hpp"

namespace cudal1 {

//! Numbers are the format's own, in this order.
enum class GgufKind : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, array, u64, i64, f64 };

struct GgufArray {
  GgufKind kind = GgufKind::u8;
  std::span<const std::byte> bytes;     //!< of numbers
  std::vector<std::string_view> texts;  //!< of texts
};

using GgufValue = std::variant<std::uint64_t, std::int64_t, double, bool, std::string_view, GgufArray>;

//! Texts live as long as the file's bytes. Each function gives nothing where there is no such key, and throws Error
//! with file and key where the value is of another kind.
class GgufMetadata {
 public:
  GgufMetadata() = default;
  //! Reads `count` entries; throws Error where they are cut off, or a key comes twice.
  GgufMetadata(ByteReader& reader, std::uint64_t count, std::string file);

  std::optional<std::int64_t> integer(const std::string& key) const;
  std::optional<double> number(const std::string& key) const;
  std::optional<bool> boolean(const std::string& key) const;
  std::optional<std::string_view> text(const std::string& key) const;
  std::optional<std::vector<std::int64_t>> integers(const std::string& key) const;
  const std::vector<std::string_view>* texts(const std::string& key) const;  //!< null where there is no such key

  [[noreturn]] void fail(std::string_view message) const;  //!< Error with the file in front
  const std::string& file() const { return file_; }

 private:
  const GgufValue* find(const std::string& key) const;
  [[noreturn]] void fail_kind(const std::string& key, std::string_view wanted) const;

  std::map<std::string, GgufValue, std::less<>> values_;
  std::string file_;
};

}  // namespace cudal1

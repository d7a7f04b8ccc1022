#include "model/files/gguf_metadata.hpp"

#include <fmt/format.h>

#include <concepts>
#include <utility>

#include "base/result.hpp"

namespace cudal1 {
namespace {

constexpr std::string_view part = "its metadata";
constexpr std::uint64_t smallest_text = 8;  // its length

//! Calls `use` with a number of the C++ type of that kind; false for kinds that are none.
template <class Use>
bool with_number_type(GgufKind kind, const Use& use) {
  switch (kind) {
    case GgufKind::u8:
      return use(std::uint8_t{}), true;
    case GgufKind::i8:
      return use(std::int8_t{}), true;
    case GgufKind::u16:
      return use(std::uint16_t{}), true;
    case GgufKind::i16:
      return use(std::int16_t{}), true;
    case GgufKind::u32:
      return use(std::uint32_t{}), true;
    case GgufKind::i32:
      return use(std::int32_t{}), true;
    case GgufKind::u64:
      return use(std::uint64_t{}), true;
    case GgufKind::i64:
      return use(std::int64_t{}), true;
    case GgufKind::f32:
      return use(float{}), true;
    case GgufKind::f64:
      return use(double{}), true;
    case GgufKind::boolean:
      return use(std::uint8_t{}), true;
    default:
      return false;
  }
}

GgufValue widened(double value) { return value; }
GgufValue widened(std::signed_integral auto value) { return std::int64_t{value}; }
GgufValue widened(std::unsigned_integral auto value) { return std::uint64_t{value}; }

GgufArray read_array(ByteReader& reader, const std::string& file, std::string_view key) {
  GgufArray array;
  array.kind = static_cast<GgufKind>(reader.number<std::uint32_t>(part));
  if (array.kind == GgufKind::text) {
    const std::uint64_t count = reader.count(smallest_text, part);
    array.texts.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) array.texts.push_back(reader.text(part));
    return array;
  }
  const bool known = with_number_type(array.kind, [&]<class T>(T) {
    const std::uint64_t count = reader.count(sizeof(T), part);
    array.bytes = reader.take(count * sizeof(T), part);
  });
  if (!known)
    throw Error(fmt::format("{}: \"{}\" is a list of things of kind {}: the file is damaged, fetch it again", file, key,
                            static_cast<std::uint32_t>(array.kind)));
  return array;
}

GgufValue read_value(ByteReader& reader, const std::string& file, std::string_view key) {
  const auto kind = static_cast<GgufKind>(reader.number<std::uint32_t>(part));
  if (kind == GgufKind::text) return reader.text(part);
  if (kind == GgufKind::array) return read_array(reader, file, key);
  if (kind == GgufKind::boolean) return reader.number<std::uint8_t>(part) != 0;
  GgufValue value;
  if (!with_number_type(kind, [&]<class T>(T) { value = widened(reader.number<T>(part)); }))
    throw Error(
        fmt::format("{}: \"{}\" is of kind {}, which the format does not have: the file is damaged, fetch it again",
                    file, key, static_cast<std::uint32_t>(kind)));
  return value;
}

}  // namespace

GgufMetadata::GgufMetadata(ByteReader& reader, std::uint64_t count, std::string file) : file_(std::move(file)) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string_view key = reader.text(part);
    if (values_.contains(key)) fail(fmt::format("the key \"{}\" is there twice", key));
    values_.emplace(key, read_value(reader, file_, key));
  }
}

std::optional<std::int64_t> GgufMetadata::integer(const std::string& key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  if (const auto* number = std::get_if<std::int64_t>(value)) return *number;
  const auto* number = std::get_if<std::uint64_t>(value);
  if (!number || !std::in_range<std::int64_t>(*number)) fail_kind(key, "a whole number");
  return static_cast<std::int64_t>(*number);
}

std::optional<double> GgufMetadata::number(const std::string& key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  if (const auto* number = std::get_if<double>(value)) return *number;
  return static_cast<double>(*integer(key));
}

std::optional<bool> GgufMetadata::boolean(const std::string& key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  if (const auto* choice = std::get_if<bool>(value)) return *choice;
  fail_kind(key, "true or false");
}

std::optional<std::string_view> GgufMetadata::text(const std::string& key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  if (const auto* text = std::get_if<std::string_view>(value)) return *text;
  fail_kind(key, "a text");
}

std::optional<std::vector<std::int64_t>> GgufMetadata::integers(const std::string& key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  const auto* array = std::get_if<GgufArray>(value);
  if (!array || array->kind == GgufKind::text) fail_kind(key, "a list of whole numbers");
  std::vector<std::int64_t> numbers;
  with_number_type(array->kind, [&]<class T>(T number) {
    for (std::size_t at = 0; at < array->bytes.size(); at += sizeof number) {
      std::memcpy(&number, array->bytes.data() + at, sizeof number);
      if constexpr (std::floating_point<T>)
        fail_kind(key, "a list of whole numbers");
      else if (!std::in_range<std::int64_t>(number))
        fail_kind(key, "a list of whole numbers");
      else
        numbers.push_back(static_cast<std::int64_t>(number));
    }
  });
  return numbers;
}

const std::vector<std::string_view>* GgufMetadata::texts(const std::string& key) const {
  const GgufValue* value = find(key);
  if (!value) return nullptr;
  const auto* array = std::get_if<GgufArray>(value);
  if (!array || array->kind != GgufKind::text) fail_kind(key, "a list of texts");
  return &array->texts;
}

void GgufMetadata::fail(std::string_view message) const { throw Error(fmt::format("{}: {}", file_, message)); }

const GgufValue* GgufMetadata::find(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

void GgufMetadata::fail_kind(const std::string& key, std::string_view wanted) const {
  fail(fmt::format("\"{}\" is not {}", key, wanted));
}

}  // namespace cudal1

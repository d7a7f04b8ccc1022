#include "graph/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/result.hpp"
#include "graph/json_place.hpp"
#include "graph/meta_json.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t length_prefix_bytes = 8;
constexpr std::uint64_t max_header_bytes = std::uint64_t{100} << 20;  // the format's own limit

const std::map<std::string, DType>& stored_names() {
  static const std::map<std::string, DType> names{
      {"F32", DType::f32}, {"F64", DType::f64}, {"F16", DType::f16}, {"BF16", DType::bf16}, {"I8", DType::i8},
      {"I16", DType::i16}, {"I32", DType::i32}, {"I64", DType::i64}, {"U8", DType::u8},     {"BOOL", DType::boolean}};
  return names;
}

DType dtype_of(const JsonPlace& place) {
  const std::map<std::string, DType>& names = stored_names();
  const auto found = names.find(place.text());
  if (found == names.end()) place.fail(fmt::format("dtype {} is not supported", place.text()));
  return found->second;
}

std::uint64_t read_little_endian(const std::byte* bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < length_prefix_bytes; ++i)
    value |= static_cast<std::uint64_t>(std::to_integer<unsigned>(bytes[i])) << (8 * i);
  return value;
}

StoredTensor read_entry(const JsonPlace& entry, std::span<const std::byte> data) {
  entry.allow_keys({"dtype", "shape", "data_offsets"});
  StoredTensor tensor;
  tensor.meta = read_contiguous_meta(dtype_of(entry.at("dtype")), entry.at("shape"));
  const JsonPlace offsets = entry.at("data_offsets");
  offsets.expect_array();
  if (offsets.size() != 2) offsets.fail("expected two offsets");
  const std::int64_t begin = offsets.at(std::size_t{0}).integer();
  const std::int64_t end = offsets.at(std::size_t{1}).integer();
  if (begin < 0 || end < begin || static_cast<std::uint64_t>(end) > data.size())
    offsets.fail(fmt::format("[{}, {}) is outside the file's {} data bytes", begin, end, data.size()));
  if (end - begin != tensor.meta.span_bytes())
    offsets.fail(
        fmt::format("{} bytes, but {} needs {}", end - begin, to_string(tensor.meta), tensor.meta.span_bytes()));
  tensor.bytes = data.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  return tensor;
}

void refuse_overlaps(const std::map<std::string, StoredTensor>& tensors, const std::string& file) {
  std::vector<std::pair<std::span<const std::byte>, std::string_view>> ranges;
  for (const auto& [name, tensor] : tensors)
    if (!tensor.bytes.empty()) ranges.emplace_back(tensor.bytes, name);
  std::ranges::sort(ranges, {}, [](const auto& range) { return range.first.data(); });
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i - 1].first.data() + ranges[i - 1].first.size() > ranges[i].first.data())
      throw Error(fmt::format("{}: tensors \"{}\" and \"{}\" overlap", file, ranges[i - 1].second, ranges[i].second));
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : file_(path) { read_header(path); }

std::string stored_name(DType dtype) {
  for (const auto& [name, stored] : stored_names())
    if (stored == dtype) return name;
  throw Error("a dtype that no file can hold");
}

const StoredTensor* SafetensorsFile::find(const std::string& key) const {
  const auto found = tensors_.find(key);
  return found == tensors_.end() ? nullptr : &found->second;
}

void SafetensorsFile::read_header(const std::filesystem::path& path) {
  const std::span<const std::byte> bytes = file_.bytes();
  if (bytes.size() < length_prefix_bytes)
    throw Error(fmt::format("{}: too short for a safetensors file", path.string()));
  const std::uint64_t header_bytes = read_little_endian(bytes.data());
  if (header_bytes > std::min<std::uint64_t>(max_header_bytes, bytes.size() - length_prefix_bytes))
    throw Error(fmt::format("{}: a header of {} bytes does not fit the file", path.string(), header_bytes));
  const std::string_view header_text = file_bytes().substr(length_prefix_bytes, header_bytes);
  const nlohmann::json header = parse_json(header_text, path.string());
  const JsonPlace root(header, path.string());
  if (!header.is_object()) root.fail("the header is not an object");
  const std::span<const std::byte> data = bytes.subspan(length_prefix_bytes + header_bytes);
  for (const auto& [name, ignored] : header.items())
    if (name != "__metadata__") tensors_.emplace(name, read_entry(root.at(name), data));
  refuse_overlaps(tensors_, path.string());
}

}  // namespace cudal1

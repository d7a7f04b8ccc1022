#include "model/files/gguf_contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <vector>

#include "base/result.hpp"

namespace cudal1 {
namespace {

constexpr std::uint32_t max_dimensions = 4;
constexpr std::int64_t max_alignment = 1 << 16, default_alignment = 32;
constexpr std::uint64_t smallest_entry = 8 + 4 + 1;             // key, kind, value
constexpr std::uint64_t smallest_tensor = 8 + 4 + 8 + 4 + 8;    // name, dimensions, one size, type, offset
constexpr std::uint64_t max_elements = std::uint64_t{1} << 40;  // far above any matrix, far below overflow

struct TypeName {
  std::uint32_t number;
  std::string_view name;
};

// Types that other programs write and we do not read, for the message.
constexpr TypeName other_types[] = {{9, "Q8_1"},    {10, "Q2_K"},    {11, "Q3_K"},  {15, "Q8_K"},   {16, "IQ2_XXS"},
                                    {17, "IQ2_XS"}, {18, "IQ3_XXS"}, {19, "IQ1_S"}, {20, "IQ4_NL"}, {21, "IQ3_S"},
                                    {22, "IQ2_S"},  {23, "IQ4_XS"},  {28, "F64"},   {29, "IQ1_M"},  {34, "TQ1_0"},
                                    {35, "TQ2_0"},  {39, "MXFP4"}};

std::string name_of_other_type(std::uint32_t number) {
  const auto* found = std::ranges::find(other_types, number, &TypeName::number);
  return found == std::end(other_types) ? fmt::format("type {}", number) : std::string(found->name);
}

std::optional<WeightType> weight_type(std::uint32_t number) {
  switch (number) {
    case 0:
      return WeightType::f32;
    case 1:
      return WeightType::f16;
    case 2:
      return WeightType::q4_0;
    case 3:
      return WeightType::q4_1;
    case 6:
      return WeightType::q5_0;
    case 7:
      return WeightType::q5_1;
    case 8:
      return WeightType::q8_0;
    case 12:
      return WeightType::q4_k;
    case 13:
      return WeightType::q5_k;
    case 14:
      return WeightType::q6_k;
    case 30:
      return WeightType::bf16;
    default:
      return std::nullopt;
  }
}

//! What the file says of a tensor before its bytes are looked for.
struct TensorEntry {
  std::string name;
  WeightTensor tensor;
  std::uint64_t offset = 0;
};

class ContentsReader {
 public:
  ContentsReader(std::span<const std::byte> bytes, const std::string& file)
      : bytes_(bytes), file_(file), reader_(bytes, file) {}

  GgufContents read() {
    check_magic_and_version();
    const std::uint64_t tensors = reader_.number<std::uint64_t>("its header");
    const std::uint64_t entries = reader_.count(smallest_entry, "its metadata");
    GgufContents contents{GgufMetadata(reader_, entries, file_), {}};
    if (tensors > reader_.remaining() / smallest_tensor) fail_cut_off("the list of its tensors");
    std::vector<TensorEntry> list;
    std::set<std::string> names;
    for (std::uint64_t i = 0; i < tensors; ++i) {
      list.push_back(read_entry());
      if (!names.insert(list.back().name).second)
        fail(fmt::format("the tensor \"{}\" is there twice", list.back().name));
    }
    place(list, alignment_in(contents.metadata));
    refuse_overlaps(list);
    for (TensorEntry& entry : list) contents.tensors.emplace(entry.name, std::move(entry.tensor));
    return contents;
  }

 private:
  [[noreturn]] void fail(std::string_view message) const { throw Error(fmt::format("{}: {}", file_, message)); }
  [[noreturn]] void fail_cut_off(std::string_view what) const {
    fail(fmt::format("the file ends before {} does: it is cut off or damaged, fetch it again", what));
  }

  void check_magic_and_version() {
    constexpr std::string_view magic = "GGUF";
    if (bytes_.size() < magic.size() || std::memcmp(bytes_.data(), magic.data(), magic.size()) != 0)
      fail("not a GGUF file: it does not begin with \"GGUF\"");
    reader_.take(magic.size(), "its header");
    const auto version = reader_.number<std::uint32_t>("its header");
    if ((version & 0xffff) == 0) fail("a GGUF file of a big-endian machine; convert the model on a little-endian one");
    if (version != 2 && version != 3)
      fail(fmt::format("GGUF version {}; versions 2 and 3 are read: convert the model again", version));
  }

  TensorEntry read_entry() {
    TensorEntry entry;
    constexpr std::string_view what = "the list of its tensors";
    entry.name = reader_.text(what);
    const auto dimensions = reader_.number<std::uint32_t>(what);
    if (dimensions == 0 || dimensions > max_dimensions)
      fail(fmt::format("the tensor \"{}\" has {} dimensions; 1 to {} are possible", entry.name, dimensions,
                       max_dimensions));
    std::uint64_t elements = 1;
    for (std::uint32_t d = 0; d < dimensions; ++d) {
      const auto size = reader_.number<std::uint64_t>(what);
      if (size == 0 || size > max_elements / elements)
        fail(fmt::format("the tensor \"{}\" has an impossible size {}", entry.name, size));
      elements *= size;
      entry.tensor.shape.insert(entry.tensor.shape.begin(), static_cast<std::int64_t>(size));  // GGUF: innermost first
    }
    entry.tensor.type = read_type(entry.name);
    const auto row = static_cast<std::size_t>(entry.tensor.shape.back());
    if (row % elements_per_block(entry.tensor.type) != 0)
      fail(fmt::format("the tensor \"{}\" has rows of {} elements, which are no whole blocks of {}", entry.name, row,
                       to_string(entry.tensor.type)));
    entry.offset = reader_.number<std::uint64_t>(what);
    return entry;
  }

  WeightType read_type(const std::string& name) {
    const auto number = reader_.number<std::uint32_t>("the list of its tensors");
    if (const std::optional<WeightType> type = weight_type(number)) return *type;
    fail(
        fmt::format("the tensor \"{}\" is stored as {}, which is not supported; take a file with F32, F16, BF16, Q8_0, "
                    "Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K or Q6_K",
                    name, name_of_other_type(number)));
  }

  std::uint64_t alignment_in(const GgufMetadata& metadata) const {
    const std::int64_t alignment = metadata.integer("general.alignment").value_or(default_alignment);
    if (alignment < 1 || alignment > max_alignment || !std::has_single_bit(static_cast<std::uint64_t>(alignment)))
      fail(fmt::format("an alignment of {} is no power of two up to {}", alignment, max_alignment));
    return static_cast<std::uint64_t>(alignment);
  }

  void place(std::vector<TensorEntry>& list, std::uint64_t alignment) const {
    const std::uint64_t begin = (reader_.position() + alignment - 1) / alignment * alignment;
    for (TensorEntry& entry : list) {
      const WeightTensor& tensor = entry.tensor;
      const std::uint64_t size = static_cast<std::uint64_t>(tensor.elements()) / elements_per_block(tensor.type) *
                                 bytes_per_block(tensor.type);
      if (entry.offset % alignment != 0)
        fail(fmt::format("the tensor \"{}\" begins at {}, which is no multiple of {}", entry.name, entry.offset,
                         alignment));
      if (begin > bytes_.size() || entry.offset > bytes_.size() - begin || size > bytes_.size() - begin - entry.offset)
        fail_cut_off(fmt::format("the tensor \"{}\"", entry.name));
      entry.tensor.bytes =
          bytes_.subspan(static_cast<std::size_t>(begin + entry.offset), static_cast<std::size_t>(size));
    }
  }

  void refuse_overlaps(const std::vector<TensorEntry>& list) const {
    std::vector<const TensorEntry*> sorted;
    for (const TensorEntry& entry : list) sorted.push_back(&entry);
    std::ranges::sort(sorted, {}, &TensorEntry::offset);
    for (std::size_t i = 1; i < sorted.size(); ++i)
      if (sorted[i]->offset - sorted[i - 1]->offset < sorted[i - 1]->tensor.bytes.size())
        fail(fmt::format("the tensors \"{}\" and \"{}\" overlap: the file is damaged, fetch it again",
                         sorted[i - 1]->name, sorted[i]->name));
  }

  std::span<const std::byte> bytes_;
  const std::string& file_;
  ByteReader reader_;
};

}  // namespace

GgufContents read_gguf(std::span<const std::byte> bytes, const std::string& file) {
  return ContentsReader(bytes, file).read();
}

}  // namespace cudal1

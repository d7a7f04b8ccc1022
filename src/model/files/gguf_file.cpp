#include "model/files/gguf_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/files/gguf_config.hpp"
#include "model/files/gguf_tokenizer.hpp"
#include "model/files/model_tensors.hpp"

namespace cudal1 {
namespace {

// Not weights: what rope_scaling was made of, and tables that old converters wrote.
bool is_known_extra(std::string_view name) {
  return name == "rope_freqs.weight" || name.ends_with(".attn_rot_embd") || name.ends_with(".rope_freqs.weight");
}

//! Llama's rotation pairs element i of a head with element i + size/2 in Hugging Face's order, and neighbours in
//! GGUF's: there row 2i + h of a head is what is row h * size/2 + i here (h: 0 or 1). Whole rows move, so blocks stay
//! as they are.
std::vector<std::byte> in_hugging_face_order(std::span<const std::byte> bytes, std::int64_t rows, std::int64_t heads) {
  const auto row_bytes = bytes.size() / static_cast<std::size_t>(rows);
  const auto head_rows = static_cast<std::size_t>(rows / heads), pairs = head_rows / 2;
  std::vector<std::byte> ordered(bytes.size());
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    const std::size_t head = row / head_rows, half = row % head_rows / pairs, pair = row % pairs;
    const std::size_t from = head * head_rows + 2 * pair + half;
    std::copy_n(bytes.data() + from * row_bytes, row_bytes, ordered.data() + row * row_bytes);
  }
  return ordered;
}

}  // namespace

GgufFile::GgufFile(const std::filesystem::path& path)
    : mapping_(std::make_unique<MappedFile>(path)), contents_(read_gguf(mapping_->bytes(), path.string())) {
  read();
}

GgufFile::GgufFile(std::span<const std::byte> bytes, const std::string& name) : contents_(read_gguf(bytes, name)) {
  read();
}

void GgufFile::read() {
  config_ = config_of(contents_);
  for_each_model_tensor(config_, [&](const ModelTensor& wanted) { take(wanted); });
  refuse_further_tensors();
}

void GgufFile::take(const ModelTensor& wanted) {
  const auto found = contents_.tensors.find(wanted.gguf_name);
  if (found == contents_.tensors.end())
    contents_.metadata.fail(
        fmt::format("the tensor \"{}\" is missing: the file says it has {} layers, but is not a whole model",
                    wanted.gguf_name, config_.layers));
  check_shape(found->second, wanted, wanted.gguf_name, contents_.metadata.file());
  tensors_.emplace(wanted.name, Entry{std::move(found->second), wanted.rotated_heads, {}});
  contents_.tensors.erase(found);
}

void GgufFile::refuse_further_tensors() const {
  for (const auto& [name, tensor] : contents_.tensors)
    if (!is_known_extra(name))
      contents_.metadata.fail(
          fmt::format("the tensor \"{}\" belongs to no {} model of {} layers that we know; take another file", name,
                      to_string(config_.architecture), config_.layers));
}

const WeightTensor* GgufFile::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) return nullptr;
  Entry& entry = found->second;
  const std::lock_guard lock(mutex_);
  if (entry.rotated_heads > 0) {
    entry.own_rows = in_hugging_face_order(entry.tensor.bytes, entry.tensor.shape.front(), entry.rotated_heads);
    entry.tensor.bytes = entry.own_rows;
    entry.rotated_heads = 0;
  }
  return &entry.tensor;
}

std::vector<std::string> GgufFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : tensors_) names.push_back(name);
  return names;
}

std::vector<std::int32_t> GgufFile::end_tokens() const { return end_tokens_of(contents_.metadata); }

TokenizerData GgufFile::tokenizer() const { return tokenizer_of(contents_.metadata); }

}  // namespace cudal1

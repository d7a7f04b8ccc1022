#include "graph/safetensors_writer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "graph/safetensors.hpp"

namespace cudal1 {
namespace {

static_assert(std::endian::native == std::endian::little, "the format's numbers are little-endian");

std::string header_of(const std::vector<WrittenTensor>& tensors) {
  nlohmann::json header{{"__metadata__", {{"format", "pt"}}}};  // without it transformers refuses a file
  std::size_t begin = 0;
  for (const WrittenTensor& tensor : tensors) {
    const std::size_t end = begin + tensor.bytes.size();
    header[tensor.name] = {
        {"dtype", stored_name(tensor.dtype)}, {"shape", tensor.sizes}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

void write_all(const std::vector<WrittenTensor>& tensors, std::ofstream& file) {
  const std::string header = header_of(tensors);
  const std::uint64_t length = header.size();
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (const WrittenTensor& tensor : tensors)
    if (!tensor.bytes.empty())
      file.write(reinterpret_cast<const char*>(tensor.bytes.data()), static_cast<std::streamsize>(tensor.bytes.size()));
  file.close();
}

}  // namespace

void write_safetensors(const std::vector<WrittenTensor>& tensors, const std::filesystem::path& path) {
  const std::string partial = fmt::format("{}.{}.tmp", path.string(), ::getpid());
  std::ofstream file(partial, std::ios::binary);
  write_all(tensors, file);
  if (file && std::rename(partial.c_str(), path.c_str()) == 0) return;
  ::unlink(partial.c_str());
  throw Error(fmt::format("{}: cannot be written; is the disk full, or the folder not there?", path.string()));
}

}  // namespace cudal1

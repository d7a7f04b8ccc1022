#include "cli/program_text.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/hash.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t excerpt_bytes = 1024;

//! What the archive keeps, so that a hundred megabytes that were never a program do not stay for ever.
std::string excerpt(const std::string& text) {
  return fmt::format("// {} bytes, SHA-256 {}; the first {}:\n{}", text.size(), sha256_hex(text), excerpt_bytes,
                     text.substr(0, excerpt_bytes));
}

}  // namespace

ProgramText read_program(const std::filesystem::path& path, const ProgramLimits& limits) {
  std::string text = read_file(path);
  if (text.size() <= limits.max_text_bytes) return {std::move(text), std::nullopt};
  return {excerpt(text), Failure{Status::parse_error,
                                 fmt::format("the text has {} bytes; a program may have at most {}", text.size(),
                                             limits.max_text_bytes),
                                 {1, 1}}};
}

}  // namespace cudal1

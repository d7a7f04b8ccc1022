#include "compile/clang_location.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdlib>

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr int oldest_version = 14, newest_version = 22;

struct Abilities {
  int from_version, highest_target, ptx_version;
};

// What the releases of LLVM added. Versions after the last row are taken to know at least as much.
constexpr std::array<Abilities, 3> abilities = {{{14, 86, 75}, {16, 90, 78}, {18, 90, 83}}};

std::optional<ClangLocation> location_of(const fs::path& program, int version) {
  if (::access(program.c_str(), X_OK) != 0) return std::nullopt;
  ClangLocation location{program, version, 0, 0};
  for (const auto& row : abilities)
    if (version >= row.from_version) {
      location.highest_target = row.highest_target;
      location.ptx_version = row.ptx_version;
    }
  return location;
}

//! …/llvm-16/bin/clang or …/clang-16; the oldest we know when the name does not say.
int version_in_name(const fs::path& program) {
  std::error_code error;
  const fs::path real = fs::canonical(program, error);
  for (const std::string& text : {program.string(), real.string()})
    for (const char* mark : {"clang-", "llvm-"})
      if (const std::size_t at = text.rfind(mark); at != std::string::npos)
        if (const int version = std::atoi(text.c_str() + at + std::string(mark).size()); version >= oldest_version)
          return version;
  return oldest_version;
}

}  // namespace

std::optional<ClangLocation> find_clang() {
  if (const char* given = std::getenv("CUDAL1_CLANG"); given && *given)
    return location_of(given, version_in_name(given));
  for (int version = newest_version; version >= oldest_version; --version)
    for (const char* folder : {"/usr/bin", "/usr/local/bin"})
      if (auto found = location_of(fs::path(folder) / fmt::format("clang-{}", version), version)) return found;
  return std::nullopt;
}

std::string clang_search_description() {
  return fmt::format(
      "looked at $CUDAL1_CLANG and for clang-{} to clang-{} in /usr/bin and /usr/local/bin; install the "
      "package clang",
      oldest_version, newest_version);
}

}  // namespace cudal1

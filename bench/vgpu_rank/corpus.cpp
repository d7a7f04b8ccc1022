#include "corpus.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.hpp"

namespace cudal1::rank {
namespace {

namespace fs = std::filesystem;
using namespace conformance;
using nlohmann::json;

//! One launch a variant: a time belongs to one kernel.
Case full_case(const KernelFile& file, const Variant& variant) {
  Case made = make_case(file, variant, Size::full);
  if (made.launches.size() != 1)
    throw Error(fmt::format("{}: {} launches, not one", made.name(), made.launches.size()));
  return made;
}

}  // namespace

void compile_corpus(const fs::path& kernels, const fs::path& folder) {
  fs::create_directories(folder);
  std::size_t families = 0, variants = 0;
  for (const KernelFile& file : read_kernel_folder(kernels)) {
    ++families;
    write_file_atomically(folder / (file.family + ".cu"), file.source);
    for (const Variant& variant : file.variants) {
      const Case made = make_case(file, variant, Size::full);
      store_compiled(folder, made, compile(made));
      ++variants;
    }
  }
  fmt::print("{} families, {} variants in {}\n", families, variants, folder.string());
}

void each_variant(const fs::path& folder, const std::string& only_family,
                  const std::function<void(const Case&, const CompiledCase&)>& visit) {
  for (const KernelFile& file : read_kernel_folder(folder)) {
    if (file.variants.size() < fewest_variants) continue;
    if (!only_family.empty() && file.family != only_family) continue;
    for (const Variant& variant : file.variants) {
      const Case made = full_case(file, variant);
      visit(made, load_compiled(folder, made));
    }
  }
}

json described(const Case& given) {
  const LaunchSpec& launch = given.launches.front();
  return {{"family", given.family}, {"variant", given.variant}, {"source", given.family + ".cu"},
          {"grid", launch.grid},    {"block", launch.block},    {"shared", launch.shared_bytes}};
}

std::set<std::string> measured_variants(const fs::path& times) {
  std::set<std::string> names;
  std::istringstream lines(read_file(times));
  for (std::string line; std::getline(lines, line);) {
    const json launch = json::parse(line, nullptr, false);
    if (!launch.is_object() || !launch.contains("family") || !launch.contains("variant"))
      throw Error(fmt::format("{}: '{}' is no measured launch", times.string(), line));
    names.insert(fmt::format("{}.{}", launch["family"].get<std::string>(), launch["variant"].get<std::string>()));
  }
  return names;
}

std::string identity(const BufferSpec& buffer) {
  return fmt::format("{} {} {} {} {} {}", buffer.name, static_cast<int>(buffer.dtype), buffer.elements,
                     static_cast<int>(buffer.contents.kind), buffer.contents.low, buffer.contents.high);
}

}  // namespace cudal1::rank

#include "corpus.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/files.hpp"

namespace cudal1::rank {
namespace {

namespace fs = std::filesystem;
using namespace conformance;
using nlohmann::json;

constexpr const char* symbol_file = "symbols.json";

//! One launch a variant: a time belongs to one kernel.
Case full_case(const KernelFile& file, const Variant& variant) {
  Case made = make_case(file, variant, Size::full);
  if (made.launches.size() != 1)
    throw Error(fmt::format("{}: {} launches, not one", made.name(), made.launches.size()));
  return made;
}

fs::path ptx_file(const fs::path& folder, const Case& given) { return folder / (given.name() + ".ptx"); }

}  // namespace

void compile_corpus(const fs::path& kernels, const fs::path& folder) {
  fs::create_directories(folder);
  json symbols = json::object();
  std::size_t families = 0;
  for (const KernelFile& file : read_kernel_folder(kernels)) {
    if (file.variants.size() < fewest_variants) continue;
    ++families;
    write_file_atomically(folder / (file.family + ".cu"), file.source);
    for (const Variant& variant : file.variants) {
      const Case made = full_case(file, variant);
      const CompiledCase compiled = compile(made);
      write_file_atomically(ptx_file(folder, made), compiled.ptx);
      symbols[made.name()] = compiled.symbols;
    }
  }
  write_file_atomically(folder / symbol_file, symbols.dump(1));
  fmt::print("{} families, {} variants in {}\n", families, symbols.size(), folder.string());
}

void each_variant(const fs::path& folder, const std::string& only_family,
                  const std::function<void(const Case&, const CompiledCase&)>& visit) {
  const json symbols = json::parse(read_file(folder / symbol_file));
  for (const KernelFile& file : read_kernel_folder(folder)) {
    if (!only_family.empty() && file.family != only_family) continue;
    for (const Variant& variant : file.variants) {
      const Case made = full_case(file, variant);
      visit(made, {read_file(ptx_file(folder, made)), symbols.at(made.name())});
    }
  }
}

json described(const Case& given) {
  const LaunchSpec& launch = given.launches.front();
  return {{"family", given.family}, {"variant", given.variant}, {"source", given.family + ".cu"},
          {"grid", launch.grid},    {"block", launch.block},    {"shared", launch.shared_bytes}};
}

std::string identity(const BufferSpec& buffer) {
  return fmt::format("{} {} {} {} {} {}", buffer.name, static_cast<int>(buffer.dtype), buffer.elements,
                     static_cast<int>(buffer.contents.kind), buffer.contents.low, buffer.contents.high);
}

}  // namespace cudal1::rank

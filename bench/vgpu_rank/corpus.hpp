// Families of kernels that do the same in different ways, compiled into a folder: what the timing model is ranked on.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <set>

#include "compiled_case.hpp"

namespace cudal1::rank {

using conformance::Case;
using conformance::CompiledCase;

//! Fewer variants are no family to rank.
inline constexpr std::size_t fewest_variants = 5;

//! Compiles every variant of every family: FAMILY.cu and FAMILY.VARIANT.json. Throws Error.
void compile_corpus(const std::filesystem::path& kernels, const std::filesystem::path& folder);

//! Visits every variant of the families to rank in a compiled folder, at full size, family by family. Needs no
//! compiler. Throws Error.
void each_variant(const std::filesystem::path& folder, const std::string& only_family,
                  const std::function<void(const Case&, const CompiledCase&)>& visit);

//! {family, variant, source, grid, block, shared}
nlohmann::json described(const Case& given);

//! What a family's variants share: buffers with the same name, size and contents are the same.
std::string identity(const conformance::BufferSpec& buffer);

//! The variants that a file of `measure` has a time of, as FAMILY.VARIANT. Throws Error.
std::set<std::string> measured_variants(const std::filesystem::path& times);

// The commands: one JSON object a line goes to `result`. `only`: variants to count, empty: all.
void measure_corpus(const std::filesystem::path& folder, const std::filesystem::path& result,
                    const std::string& only_family);
void count_corpus(const std::filesystem::path& folder, const std::filesystem::path& result,
                  const std::string& only_family, const std::set<std::string>& only, std::uint64_t sample);

}  // namespace cudal1::rank

// A CUDA file that says in its first lines what to launch and what must come out; README.md has the format.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "expression.hpp"

namespace cudal1::conformance {

enum class Dtype { f16, bf16, f32, f64, i8, u8, i32, u32, i64, u64 };

std::size_t bytes_of(Dtype dtype);
bool is_floating(Dtype dtype);

//! What a buffer holds before the first launch.
struct Contents {
  enum class Kind { random, zero, one, iota, poison, below, between };
  Kind kind = Kind::zero;
  double low = 0.0, high = 0.0;  //!< of `between`: numbers from low to below high; `below`: integers below high
};

struct BufferSpec {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::size_t elements = 0;
  Contents contents;
  bool writable = true;

  std::size_t bytes() const { return elements * bytes_of(dtype); }
};

//! How far two results may be apart.
struct Bound {
  enum class Kind { exactly, ulp, relative };
  Kind kind = Kind::exactly;
  double amount = 0.0;
};

struct Check {
  std::string buffer;
  Bound devices;    //!< between the virtual GPU and a real one
  Bound reference;  //!< between a device and the host's obvious loops
};

//! A buffer's address, or the bytes of a number.
struct Argument {
  std::string buffer;
  std::vector<std::byte> number;
};

using Size3 = std::array<std::uint32_t, 3>;  //!< x, y, z

struct LaunchSpec {
  std::string kernel;  //!< as written: "reduce<BLOCK>"
  Size3 grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t shared_bytes = 0;
  std::vector<Argument> arguments;
};

//! One variant of a file at one size: everything that is needed to run it.
struct Case {
  std::string family, variant;
  std::string source;  //!< with the variant's macros
  Values values;       //!< macros and `let`s that are whole numbers
  std::vector<BufferSpec> buffers;
  std::vector<LaunchSpec> launches;
  std::vector<Check> checks;
  std::string reference;

  const BufferSpec& buffer(const std::string& name) const;  //!< throws Error
  std::string name() const { return family + "." + variant; }
};

enum class Size { full, small };

using Macros = std::vector<std::pair<std::string, std::string>>;

struct Directive {
  int line = 0;
  std::string word, rest;
};

struct Variant {
  std::string name;
  Macros macros;
};

struct KernelFile {
  std::string family;  //!< the file's name without .cu
  std::string path, source;
  std::vector<Directive> directives;
  Macros defaults;
  std::vector<Variant> variants;  //!< at least one
};

//! Throws Error with file and line.
KernelFile read_kernel_file(const std::filesystem::path& path);
KernelFile parse_kernel_file(const std::string& path, const std::string& text);
Case make_case(const KernelFile& file, const Variant& variant, Size size);

//! All files of a folder, by name.
std::vector<KernelFile> read_kernel_folder(const std::filesystem::path& folder);

}  // namespace cudal1::conformance

// The arrays of a kernel's shared memory, by the names that the program gave them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudal1::vgpu {

class SharedArrays {
 public:
  //! One with a size, under its mangled name. In the order of their addresses.
  void add(const std::string& symbol, std::uint64_t begin, std::uint64_t bytes);
  //! One without: it has all that a launch asks for behind `begin`. Several of them are the same memory.
  void add_dynamic(const std::string& symbol, std::uint64_t begin);

  //! "byte 508 of shared memory (byte 124 of 'tile', 128 bytes)", of a block with so many in all.
  std::string describe(std::uint64_t address, std::uint64_t shared_bytes) const;
  //! What is in brackets there, with a space before it, also of addresses where no array is: " (4 bytes after the end
  //! of 'tile', 128 bytes)". Empty where the kernel has none.
  std::string remark_on(std::uint64_t address, std::uint64_t shared_bytes) const;
  //! The same of an address that was made from this one of bounds(), or 0: unknown.
  std::string remark_on(std::uint64_t address, std::uint64_t shared_bytes, std::size_t array) const;

  struct Bounds {
    std::uint64_t begin = 0, bytes = 0;
  };
  //! All of shared memory, then each array in the order in which they were added, those without a size as the last.
  std::vector<Bounds> bounds(std::uint64_t shared_bytes) const;

 private:
  struct Array {
    std::string names;  // in quotes
    std::uint64_t begin = 0, bytes = 0;
  };
  std::vector<Array> in_a_block_with(std::uint64_t shared_bytes) const;

  std::vector<Array> sized_;
  Array dynamic_;  // without names: there is none
};

//! 'tile', of _ZZ6kernelPfE4tile: what the program calls a variable, without where it is declared.
std::string name_of_variable(const std::string& symbol);

}  // namespace cudal1::vgpu

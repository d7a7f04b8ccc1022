// What printf makes of its format and its arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace cudal1::vgpu {

//! The arguments of one thread, in order, as the device packs them.
struct PrintArguments {
  std::function<std::uint64_t(std::size_t bytes)> next;       //!< 4 or 8 bytes, aligned to their size
  std::function<std::string(std::uint64_t address)> text_at;  //!< up to its zero
};

struct Printed {
  std::string text;
  int arguments = 0;  //!< how many were read
};

//! As C says, for %d %i %u %o %x %X %c %s %p %f %e %g %a and their capitals, with flags, width, precision and length.
//! Anything else stays as it is written. No width is wider than 1024.
Printed print_format(std::string_view format, const PrintArguments& arguments);

}  // namespace cudal1::vgpu

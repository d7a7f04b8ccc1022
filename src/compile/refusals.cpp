#include "compile/refusals.hpp"

#include <fmt/format.h>

#include "base/readable_name.hpp"

namespace cudal1 {

std::string refused_global(std::string_view symbol) {
  if (symbol.starts_with("_ZTV"))
    return fmt::format(
        "virtual functions need a table of pointers ('{}'), which is a writable device global; use templates or a "
        "switch",
        readable_name(symbol));
  return fmt::format(
      "'{}' is a writable device global: a kernel could remember between calls; use __constant__ for tables or a "
      "`buffer`",
      readable_name(symbol));
}

std::string refused_constant(std::string_view symbol) {
  return fmt::format(
      "the address of '{}' in __constant__ memory is used for more than reading: a kernel could remember in it; read "
      "it by name and index only",
      readable_name(symbol));
}

std::string refused_call(std::string_view symbol) {
  if (symbol == "malloc" || symbol == "free" || symbol == "__nv_aligned_device_malloc")
    return fmt::format("calls '{}' on the device: its heap outlives the call; use a `buffer` or shared memory", symbol);
  if (symbol == "vprintf") return "calls printf on the device; remove it";
  if (symbol == "__assertfail") return "calls assert on the device; remove it";
  if (symbol.starts_with("cuda") || symbol.starts_with("cnp"))
    return fmt::format("calls '{}': kernels may not use the CUDA runtime; launch steps with directives", symbol);
  return fmt::format("calls '{}', which is defined nowhere in the program", readable_name(symbol));
}

}  // namespace cudal1

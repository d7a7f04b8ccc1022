#include "base/readable_name.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace cudal1 {

std::string readable_name(std::string_view symbol) {
  const std::string name(symbol.substr(0, 200));
  if (!name.starts_with("_Z")) return name;  // a variable "t" would read as "unsigned short"
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                          &std::free);
  return status == 0 && plain ? plain.get() : name;
}

}  // namespace cudal1

// cudal1-clang: gives up what a compiler does not need, then becomes clang. Hostile source can hang, crash or take
// over a compiler; the parent sets the limits on time and memory.
// Arguments: the files and folders that may be read, "--", clang and its arguments.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/result.hpp"
#include "base/sandbox.hpp"
#include "compile/clang_process.hpp"

int main(int count, char** arguments) {
  cudal1::SandboxPolicy policy;
  policy.allow_exec = true;
  int at = 1;
  for (; at < count && std::string_view(arguments[at]) != "--"; ++at) policy.readable.emplace_back(arguments[at]);
  if (at + 1 >= count) {
    std::fputs("cudal1-clang is started by cudal1, not by hand\n", stderr);
    return cudal1::clang_cannot_start;
  }
  try {
    cudal1::restrict_this_process(policy);
  } catch (const cudal1::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return cudal1::clang_cannot_start;
  }
  ::execv(arguments[at + 1], arguments + at + 1);
  std::fprintf(stderr, "cannot start %s: %s\n", arguments[at + 1], std::strerror(errno));
  return cudal1::clang_cannot_start;
}

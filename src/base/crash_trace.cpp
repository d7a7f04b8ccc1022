#include "base/crash_trace.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace cudal1 {
namespace {

constexpr int most_calls = 24;
constexpr int calls_of_the_handler = 2;
constexpr std::size_t stack_bytes = 64 << 10;

// Nothing may be allocated when it is too late.
std::array<char, stack_bytes> handler_stack;
std::array<char, 4096> line;

const char* file_name_of(const Dl_info& file) {
  const char* slash = std::strrchr(file.dli_fname, '/');
  return slash != nullptr ? slash + 1 : file.dli_fname;
}

std::size_t append_call(std::size_t used, void* address) {
  Dl_info file;
  const bool known = ::dladdr(address, &file) != 0 && file.dli_fname != nullptr;
  const auto offset = reinterpret_cast<std::uintptr_t>(address) -  // NOLINT: addresses as numbers
                      (known ? reinterpret_cast<std::uintptr_t>(file.dli_fbase) : 0);
  const int more = std::snprintf(line.data() + used, line.size() - used, " %s+%#zx", known ? file_name_of(file) : "?",
                                 static_cast<std::size_t>(offset));
  return more > 0 ? std::min(used + static_cast<std::size_t>(more), line.size() - 1) : used;
}

void tell_and_end(int signal) {
  std::array<void*, most_calls> calls{};
  const int count = ::backtrace(calls.data(), most_calls);
  const int begun = std::snprintf(line.data(), line.size(), "crashed by signal %d at", signal);
  auto used = static_cast<std::size_t>(begun);
  for (int i = calls_of_the_handler; i < count; ++i) used = append_call(used, calls[static_cast<std::size_t>(i)]);
  line[used] = '\n';
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), used + 1);
  ::raise(signal);  // its handler is gone: SA_RESETHAND
}

}  // namespace

void tell_where_it_crashes() {
  void* call = nullptr;
  ::backtrace(&call, 1);  // loads what it needs
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  ::sigaltstack(&stack, nullptr);  // of this thread: its own may be what ran out
  struct sigaction action {};
  action.sa_handler = tell_and_end;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigaction(signal, &action, nullptr);
}

}  // namespace cudal1

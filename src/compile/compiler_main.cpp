// cudal1-compiler: compiles one source with NVRTC and ends. A process of its own, because hostile source can hang,
// crash or take over a compiler; it gives up everything it does not need before it looks at the source.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>

#include "base/result.hpp"
#include "base/sandbox.hpp"
#include "compile/compile_protocol.hpp"
#include "compile/nvrtc_library.hpp"

namespace cudal1 {
namespace {

std::string read_question() {
  std::string bytes;
  char chunk[1 << 16];
  for (;;) {
    const ssize_t got = ::pread(compile_question_fd, chunk, sizeof chunk, static_cast<off_t>(bytes.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return bytes;
    bytes.append(chunk, static_cast<std::size_t>(got));
  }
}

bool write_answer(const CompileAnswer& answer) {
  const std::string bytes = encode(answer);
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t written = ::write(compile_answer_fd, bytes.data() + sent, bytes.size() - sent);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    sent += static_cast<std::size_t>(written);
  }
  return true;
}

SandboxPolicy policy_for(const CompileQuestion& question) {
  SandboxPolicy policy;
  policy.readable.emplace_back(std::filesystem::path(question.nvrtc_library).parent_path());
  for (const auto& folder : question.include_directories) policy.readable.emplace_back(folder);
  return policy;
}

CompileAnswer compile_in_sandbox(const CompileQuestion& question) {
  try {
    const NvrtcLibrary nvrtc(question.nvrtc_library);  // the library is ours; only the source is hostile
    restrict_this_process(policy_for(question));
    return nvrtc.compile(question);
  } catch (const std::bad_alloc&) {
    return {.outcome = CompileAnswer::Outcome::out_of_memory, .log = {}, .cubin = {}, .ptx = {}, .symbols = {}};
  } catch (const std::exception& error) {
    return {
        .outcome = CompileAnswer::Outcome::internal_error, .log = error.what(), .cubin = {}, .ptx = {}, .symbols = {}};
  }
}

}  // namespace
}  // namespace cudal1

int main() {
  const auto question = cudal1::decode_question(cudal1::read_question());
  if (!question) {
    std::fputs("cudal1-compiler is started by cudal1, not by hand\n", stderr);
    return 2;
  }
  const bool sent = cudal1::write_answer(cudal1::compile_in_sandbox(*question));
  ::_exit(sent ? 0 : 1);  // NVRTC's own clean-up takes time and can crash
}

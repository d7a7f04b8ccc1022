// libcudal1_restrict.so: the sandbox for a process that is no program of ours. The worker of a solution loads it,
// starts CUDA, which does not start behind the restrictions, and then calls it, before the solution's text comes.
#include <cstddef>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "base/sandbox.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

std::vector<std::filesystem::path> paths_in(const json& policy, const char* key) {
  const auto names = policy.at(key).get<std::vector<std::string>>();
  return {names.begin(), names.end()};
}

SandboxPolicy policy_from_json(const json& said) {
  SandboxPolicy policy;
  policy.readable = paths_in(said, "readable");
  policy.writable = paths_in(said, "writable");
  policy.scratch = paths_in(said, "scratch");
  policy.allow_exec = policy.allow_processes = policy.every_thread = true;
  return policy;
}

}  // namespace
}  // namespace cudal1

//! `policy`: JSON with lists "readable", "writable" and "scratch", and "walled": in a file system of its own already.
//! `part`: "paths", "calls", or "all" of it. Returns 0, or -1 with one line in `problem`.
extern "C" __attribute__((visibility("default"))) int cudal1_restrict_self(const char* policy, const char* part,
                                                                           char* problem, std::size_t problem_bytes) {
  using namespace cudal1;
  try {
    const json said = json::parse(policy);
    const std::string wanted = part;
    if (wanted != "calls" && restrict_paths(policy_from_json(said)).landlock_abi == 0 && !said.at("walled").get<bool>())
      throw Error("solutions in Python need Landlock (Linux 5.13) or a bubblewrap that works, to be kept from files");
    if (wanted != "paths") restrict_system_calls(policy_from_json(said));
    return 0;
  } catch (const std::exception& error) {
    std::snprintf(problem, problem_bytes, "%s", error.what());
    return -1;
  }
}

#include "compile/nvrtc_options.hpp"

#include <fmt/format.h>

#include "compile/host_headers.hpp"
#include "compile/program_headers.hpp"

namespace cudal1 {
namespace {

//! Instructions of groups of warps are there only for those who ask for this very GPU, without its successors.
std::string architecture_for(std::string_view source, std::string_view target) {
  const bool wants_groups = source.find("cudal1/gemm_groups.cuh") != std::string_view::npos;
  return std::string(target) + (wants_groups && target == "sm_90" ? "a" : "");
}

}  // namespace

std::vector<std::string> nvrtc_options(std::string_view source, std::string_view target, const NvrtcLocation& nvrtc) {
  std::vector<std::string> options = {fmt::format("--gpu-architecture={}", architecture_for(source, target)),
                                      "--std=c++17", "--generate-line-info",
                                      // helper functions without __device__ are the commonest slip, and harmless
                                      "--device-as-default-execution-space",
                                      // asserts of honest programs are checks for their author, not part of the work
                                      "--define-macro=NDEBUG", fmt::format("--pre-include={}", prelude_header_name)};
  // Without libcu++, cooperative_groups.h costs 0.2 s instead of 1.5 s.
  // With it, its macros (INT_MAX, INFINITY) meet those of our small headers; they mean the same.
  options.push_back(includes_libcudacxx(source) ? "--diag-suppress=47"
                                                : "--define-macro=_CG_LIMIT_INCLUDED_DEPENDENCIES");
  for (const auto& folder : nvrtc.include_directories)
    options.push_back(fmt::format("--include-path={}", folder.string()));
  return options;
}

}  // namespace cudal1

// Why the cheating examples must be refused: a status alone could be right for the wrong reason.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace cudal1::testing {

struct CheatReason {
  std::string_view program;                     //!< "task/file.cu"
  std::string_view on_a_gpu, on_a_virtual_gpu;  //!< in the message
};

inline constexpr std::array cheat_reasons{
    // Poison is still there.
    CheatReason{"vector_add/wrong_result-writes_nothing.cu", "elements are not finite", "elements are not finite"},
    CheatReason{"vector_add/wrong_result-stale_memory.cu", "elements are not finite", "uninitialised read"},
    CheatReason{"row_softmax/wrong_result-uninitialised_scratch.cu", "elements are not finite", "uninitialised read"},
    CheatReason{"vector_add/wrong_result-writes_its_input.cu", "largest error", "largest error"},
    CheatReason{"row_softmax/wrong_result-constant_output.cu", "all elements are the same",
                "all elements are the same"},
    CheatReason{"vector_add/wrong_result-half_precision.cu", "largest error", "largest error"},
    CheatReason{"matmul/wrong_result-low_precision.cu", "largest error", "largest error"},
    CheatReason{"vector_add/out_of_bounds-tail.cu", "the end of 'add_1'", "the end of 'x'"},
    CheatReason{"row_softmax/out_of_bounds-does_later_work_early.cu", "the end of 'softmax_1'", "the end of 'x'"},
    CheatReason{"vector_add/forbidden-device_global.cu", "'calls_so_far' is a writable device global",
                "'calls_so_far' is a writable device global"},
    CheatReason{"row_softmax/forbidden-static_variable.cu", "blocks_seen", "blocks_seen"},
    CheatReason{"bias_gelu/modified_input-first_call_only.cu", "the prepared buffer 'done'",
                "read-only memory: writes"},
    CheatReason{"bias_gelu/modified_input-counts_calls.cu", "the prepared buffer 'calls'", "read-only memory: writes"},
    CheatReason{"vector_add/timeout-endless_loop.cu", "killed", ""},
};

//! What the message must hold; empty: anything.
inline std::string_view cheat_reason(std::string_view program, bool on_a_gpu) {
  for (const CheatReason& reason : cheat_reasons)
    if (reason.program == program) return on_a_gpu ? reason.on_a_gpu : reason.on_a_virtual_gpu;
  return {};
}

}  // namespace cudal1::testing

#include "cli/model_device.hpp"

#include <algorithm>

#include "accelerator/cuda_decoder.hpp"
#include "base/result.hpp"
#include "device/cuda/driver.hpp"
#include "judge/shared_turn.hpp"
#include "model/transformer/cpu/cpu_decoder.hpp"

namespace cudal1 {
namespace {

GpuDtype dtype_of(const std::string& name) {
  return name == "f32" ? GpuDtype::f32 : name == "bf16" ? GpuDtype::bf16 : GpuDtype::f16;
}

MakeDecoder decoder_on_gpu(const PolicyOptions& options, std::function<std::shared_ptr<void>()> take_turn,
                           std::function<void(const std::string&)> report) {
  const bool may_fall_back = options.model_device == "auto";
  return [=, dtype = dtype_of(options.model_dtype)](const ModelWeights& weights, std::int64_t slots,
                                                    std::int64_t capacity) -> std::unique_ptr<SlotDecoder> {
    const std::shared_ptr<void> turn = take_turn();
    try {
      return make_cuda_decoder(weights, {.dtype = dtype, .slots = slots, .slot_capacity = capacity});
    } catch (const Error& problem) {
      if (!may_fall_back) throw;
      report(std::string(problem.what()) + " (the model is computed on the CPU instead)");
    }
    return std::make_unique<CpuDecoder>(weights, CpuDecoderOptions{.slots = slots, .slot_capacity = capacity});
  };
}

}  // namespace

std::function<std::shared_ptr<void>()> turns_on_gpu() {
  const auto lock = std::make_shared<GpuLock>(cuda::device_info(0).uuid);
  return [lock] { return std::make_shared<GpuLock::Guard>(lock->share(GpuUse::model)); };
}

ModelTurns model_turns_on_gpu() {
  struct Turns {
    GpuLock lock{cuda::device_info(0).uuid};
    SharedTurn turn{lock, before_others_measure, GpuUse::model};
  };
  const auto turns = std::make_shared<Turns>();
  return {[turns] { return turns->turn.hold(); }, [turns] { return turns->turn.is_due(); },
          [turns] { turns->turn.let_pass(); }};
}

void choose_model_device(const PolicyOptions& options, LocalGeneratorOptions& generator,
                         const std::function<void(const std::string& line)>& report) {
  if (options.model_device == "cpu") return;
  const std::string why_not = why_no_cuda_decoder();
  if (!why_not.empty()) {
    if (options.model_device == "auto") return;
    throw Error("--model-device cuda: " + why_not + " (./cudal1 doctor says more)");
  }
  generator.slots = std::max<std::int64_t>(1, options.samples_a_prompt);
  generator.take_turn = turns_on_gpu();
  generator.make_decoder = decoder_on_gpu(options, generator.take_turn, report);
}

}  // namespace cudal1

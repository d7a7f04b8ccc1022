// Counters of the virtual GPU, from a sample of every launch's blocks.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "corpus.hpp"
#include "device/vgpu/model/observation.hpp"
#include "device/vgpu/ptx/lexer.hpp"
#include "virtual_run.hpp"

namespace cudal1::rank {
namespace {

using namespace conformance;
using nlohmann::json;
using vgpu::KernelCounters;

//! A family's buffers, made once; variants get copies of those that they write.
class FamilyMemory {
 public:
  Memory memory_of(const Case& given) {
    std::map<std::string, Bytes> kept;
    Memory memory;
    for (const BufferSpec& spec : given.buffers) {
      Bytes& bytes = kept[identity(spec)];
      if (const auto found = made_.find(identity(spec)); found != made_.end()) bytes = std::move(found->second);
      if (bytes.empty()) bytes = initial_bytes(spec);
      memory[spec.name] = bytes;
    }
    made_ = std::move(kept);
    return memory;
  }

 private:
  std::map<std::string, Bytes> made_;  //!< what the last variant had
};

}  // namespace

void count_corpus(const std::filesystem::path& folder, const std::filesystem::path& result,
                  const std::string& only_family, const std::set<std::string>& only, std::uint64_t sample) {
  FamilyMemory buffers;
  std::ofstream lines(result);
  std::size_t refused = 0;
  each_variant(folder, only_family, [&](const Case& given, const CompiledCase& compiled) {
    if (!only.empty() && !only.contains(given.name())) return;
    try {
      Memory memory = buffers.memory_of(given);
      const KernelCounters counters = run_virtually(given, compiled, memory, sample).front();
      const json line = {{"family", given.family},
                         {"variant", given.variant},
                         {"shape", vgpu::to_json(shape_of(given, compiled, given.launches.front()))},
                         {"counters", vgpu::to_json(counters)}};
      lines << line.dump() << std::endl;
    } catch (const ptx::PtxError& refusal) {
      ++refused;
      fmt::print("{}: {}\n", given.name(), refusal.what());
    }
  });
  if (!lines) throw Error(fmt::format("{} cannot be written", result.string()));
  if (refused > 0) fmt::print("{} variants need what the virtual GPU does not know\n", refused);
}

}  // namespace cudal1::rank

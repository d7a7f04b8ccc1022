#include "device/vgpu/model/gpu_profile.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "device/vgpu/model/gpu_files.hpp"
#include "device/vgpu/model/gpu_number.hpp"

namespace cudal1::vgpu {
namespace {

constexpr const char* profile_format = "cudal1.gpu";
constexpr std::int64_t profile_version = 1;

//! Every number of a profile with its place in the file: visit(section, key, number).
template <class Visit>
void visit_cores(GpuProfile& p, Visit visit) {
  visit("chip", "multiprocessors", p.chip.multiprocessors);
  visit("chip", "clock_ghz", p.chip.clock_ghz);
  visit("pipes", "schedulers", p.pipes.schedulers);
  visit("pipes", "single", p.pipes.single);
  visit("pipes", "integer", p.pipes.integer);
  visit("pipes", "half", p.pipes.half);
  visit("pipes", "twofold", p.pipes.twofold);
  visit("pipes", "special", p.pipes.special);
  visit("pipes", "conversion", p.pipes.conversion);
  visit("pipes", "memory", p.pipes.memory);
  visit("pipes", "shared_bytes", p.pipes.shared_bytes);
  visit("pipes", "constant_addresses", p.pipes.constant_addresses);
  visit("tensor", "f16", p.tensor.f16);
  visit("tensor", "bf16", p.tensor.bf16);
  visit("tensor", "tf32", p.tensor.tf32);
  visit("tensor", "s8", p.tensor.s8);
  visit("tensor", "f64", p.tensor.f64);
  visit("tensor", "mma_share", p.tensor.mma_share);
}

template <class Visit>
void visit_limits(GpuProfile& p, Visit visit) {
  visit("limits", "warps", p.limits.warps);
  visit("limits", "blocks", p.limits.blocks);
  visit("limits", "threads", p.limits.threads);
  visit("limits", "threads_per_block", p.limits.threads_per_block);
  visit("limits", "registers", p.limits.registers);
  visit("limits", "registers_per_thread", p.limits.registers_per_thread);
  visit("limits", "register_granularity", p.limits.register_granularity);
  visit("limits", "warp_granularity", p.limits.warp_granularity);
  visit("limits", "shared_bytes", p.limits.shared_bytes);
  visit("limits", "shared_bytes_per_block", p.limits.shared_bytes_per_block);
  visit("limits", "shared_reserved_bytes", p.limits.shared_reserved_bytes);
  visit("limits", "shared_granularity", p.limits.shared_granularity);
}

template <class Visit>
void visit_memory(GpuProfile& p, Visit visit) {
  visit("memory", "l1_bytes", p.memory.l1_bytes);
  visit("memory", "l1_bytes_per_clock", p.memory.l1_bytes_per_clock);
  visit("memory", "l1_lines_per_clock", p.memory.l1_lines_per_clock);
  visit("memory", "l2_bytes", p.memory.l2_bytes);
  visit("memory", "l2_port_bytes_per_clock", p.memory.l2_port_bytes_per_clock);
  visit("memory", "l2_bytes_per_second", p.memory.l2_bytes_per_second);
  visit("memory", "dram_bytes_per_second", p.memory.dram_bytes_per_second);
  visit("memory", "dram_achievable", p.memory.dram_achievable);
  visit("latency", "arithmetic", p.latency.arithmetic);
  visit("latency", "special", p.latency.special);
  visit("latency", "shared", p.latency.shared);
  visit("latency", "l1", p.latency.l1);
  visit("latency", "l2", p.latency.l2);
  visit("latency", "dram", p.latency.dram);
  visit("costs", "call_us", p.costs.call_us);
  visit("costs", "launch_us", p.costs.launch_us);
  visit("costs", "graph_launch_us", p.costs.graph_launch_us);
  visit("costs", "library_call_us", p.costs.library_call_us);
}

//! Reads the numbers that are visited and remembers them, so that what is left over is an error.
class ProfileReader {
 public:
  explicit ProfileReader(const JsonPlace& root) : root_(root) {}

  void operator()(const std::string& section, const std::string& key, double& number) {
    number = number_with_reason(place(section, key));
  }

  void operator()(const std::string& section, const std::string& key, std::int64_t& number) {
    const double read = number_with_reason(place(section, key));
    if (read != std::floor(read) || read > 1e15)
      place(section, key).fail(fmt::format("expected an integer, found {}", read));
    number = static_cast<std::int64_t>(read);
  }

  void refuse_the_rest() const {
    for (const auto& [name, keys] : known_)
      for (const auto& [key, ignored] : root_.at(name).json().items())
        if (!keys.contains(key)) root_.at(name).fail(fmt::format("unknown key \"{}\"", key));
  }

 private:
  JsonPlace place(const std::string& section, const std::string& key) {
    known_[section].insert(key);
    return root_.at(section).at(key);
  }

  JsonPlace root_;
  std::map<std::string, std::set<std::string>> known_;
};

void expect_share(const JsonPlace& place, double share) {
  if (share > 1) place.fail(fmt::format("a share is at most 1, found {}", share));
}

}  // namespace

GpuProfile parse_profile(std::string_view text, const std::string& file) {
  const nlohmann::json document = parse_json(text, file);
  const JsonPlace root(document, file);
  expect_format(root, profile_format, profile_version);
  root.allow_keys({"format", "version", "name", "title", "compute_capability", "chip", "limits", "pipes", "tensor",
                   "memory", "latency", "costs"});
  GpuProfile profile;
  profile.name = root.at("name").text();
  profile.title = root.at("title").text();
  profile.compute_capability = root.at("compute_capability").text();
  ProfileReader reader(root);
  visit_cores(profile, std::ref(reader));
  visit_limits(profile, std::ref(reader));
  visit_memory(profile, std::ref(reader));
  reader.refuse_the_rest();
  expect_share(root.at("memory").at("dram_achievable"), profile.memory.dram_achievable);
  expect_share(root.at("tensor").at("mma_share"), profile.tensor.mma_share);
  return profile;
}

GpuProfile find_profile(const std::string& name_or_path) {
  const GpuFile file = read_gpu_file(name_or_path);
  return parse_profile(file.text, file.shown);
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const auto& [name, text] : embedded_gpu_files())
    if (nlohmann::json::parse(text)["format"] == profile_format) names.push_back(name);
  return names;
}

}  // namespace cudal1::vgpu

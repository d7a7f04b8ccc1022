#include "device/vgpu/model/observation.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <sstream>

#include "base/files.hpp"
#include "base/result.hpp"
#include "graph/json_place.hpp"

namespace cudal1::vgpu {
namespace {

using nlohmann::json;

constexpr std::array<const char*, pipe_count> pipe_names{"single",  "integer",    "half",    "twofold",
                                                         "special", "conversion", "tensor",  "memory",
                                                         "control", "either",     "multiply"};

//! Every count of its own with its name: visit(name, count).
template <class Counters, class Visit>
void visit_counts(Counters& c, Visit visit) {
  visit("grid_blocks", c.grid_blocks);
  visit("blocks", c.blocks);
  visit("lanes", c.lanes);
  visit("branches", c.branches);
  visit("divergent_branches", c.divergent_branches);
  visit("barriers", c.barriers);
  visit("shared_requests", c.shared_requests);
  visit("shared_passes", c.shared_passes);
  visit("shared_quad_passes", c.shared_quad_passes);
  visit("constant_passes", c.constant_passes);
  visit("issue_clocks", c.issue_clocks);
  visit("arithmetic_clocks", c.arithmetic_clocks);
  visit("shared_clocks", c.shared_clocks);
  visit("global_clocks", c.global_clocks);
  visit("tensor_products", c.tensor_products);
  visit("distinct_bytes_read", c.distinct_bytes_read);
  visit("distinct_bytes_written", c.distinct_bytes_written);
  visit("block_bytes_read", c.block_bytes_read);
  visit("distinct_bytes_fetched", c.distinct_bytes_fetched);
  visit("bytes_read_again", c.bytes_read_again);
  visit("busiest_atomics", c.busiest_atomics);
}

template <class Counters, class Visit>
void visit_traffic(Counters& c, Visit visit) {
  visit("global_loads", c.global_loads);
  visit("global_stores", c.global_stores);
  visit("global_atomics", c.global_atomics);
  visit("local_accesses", c.local_accesses);
}

std::uint64_t count_at(const JsonPlace& place) {
  const std::int64_t count = place.integer();
  if (count < 0) place.fail(fmt::format("a count cannot be {}", count));
  return static_cast<std::uint64_t>(count);
}

std::uint64_t count_or_zero(const JsonPlace& object, const char* key) {
  const auto found = object.find(key);
  return found ? count_at(*found) : 0;
}

Traffic traffic_at(const JsonPlace& place) {
  place.allow_keys({"requests", "sectors", "bytes_wanted", "lines", "passes"});
  return {count_or_zero(place, "requests"), count_or_zero(place, "sectors"), count_or_zero(place, "bytes_wanted"),
          count_or_zero(place, "lines"), count_or_zero(place, "passes")};
}

std::array<std::uint64_t, pipe_count> by_pipe_at(const JsonPlace& place) {
  place.allow_keys({"single", "integer", "half", "twofold", "special", "conversion", "tensor", "memory", "control",
                    "either", "multiply"});
  std::array<std::uint64_t, pipe_count> counts{};
  for (std::size_t i = 0; i < pipe_count; ++i) counts[i] = count_or_zero(place, pipe_names[i]);
  return counts;
}

json by_pipe(const std::array<std::uint64_t, pipe_count>& counts) {
  json made = json::object();
  for (std::size_t i = 0; i < pipe_count; ++i) made[pipe_names[i]] = counts[i];
  return made;
}

KernelCounters counters_at(const JsonPlace& place) {
  place.allow_keys({"grid_blocks",
                    "blocks",
                    "lanes",
                    "branches",
                    "divergent_branches",
                    "barriers",
                    "shared_requests",
                    "shared_passes",
                    "shared_quad_passes",
                    "constant_passes",
                    "issue_clocks",
                    "arithmetic_clocks",
                    "shared_clocks",
                    "global_clocks",
                    "tensor_products",
                    "distinct_bytes_read",
                    "distinct_bytes_written",
                    "block_bytes_read",
                    "distinct_bytes_fetched",
                    "bytes_read_again",
                    "busiest_atomics",
                    "global_loads",
                    "global_stores",
                    "global_atomics",
                    "local_accesses",
                    "instructions",
                    "machine_instructions"});
  KernelCounters counters;
  visit_counts(counters, [&](const char* name, std::uint64_t& count) { count = count_or_zero(place, name); });
  visit_traffic(counters, [&](const char* name, Traffic& traffic) {
    if (const auto found = place.find(name)) traffic = traffic_at(*found);
  });
  counters.instructions = by_pipe_at(place.at("instructions"));
  counters.machine_instructions = by_pipe_at(place.at("machine_instructions"));
  return counters;
}

Index3 index_at(const JsonPlace& place) {
  place.expect_array();
  if (place.size() != 3) place.fail("expected three numbers");
  Index3 index{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint64_t count = count_at(place.at(i));
    if (count == 0 || count > 0x7fffffff) place.at(i).fail("expected 1 to 2147483647");
    index[i] = static_cast<std::uint32_t>(count);
  }
  return index;
}

TensorType tensor_type_at(const JsonPlace& place) {
  const std::string name = place.text();
  for (const TensorType type : {TensorType::f16, TensorType::bf16, TensorType::tf32, TensorType::s8, TensorType::f64})
    if (to_string(type) == name) return type;
  place.fail(fmt::format("'{}' is no type of mma", name));
}

double parallelism_at(const JsonPlace& place) {
  const double number = place.number();
  if (!(number >= 1)) place.fail(fmt::format("expected at least 1, found {}", number));
  return number;
}

KernelShape shape_at(const JsonPlace& place) {
  place.allow_keys({"grid", "block", "shared_bytes", "in_graph", "registers", "global_loads_together",
                    "shared_loads_together", "arithmetic_together", "shared_load_width", "tensor_type", "cached_bytes",
                    "buffer_bytes"});
  KernelShape shape;
  shape.grid = index_at(place.at("grid"));
  shape.block = index_at(place.at("block"));
  shape.shared_bytes = count_or_zero(place, "shared_bytes");
  shape.cached_bytes = count_or_zero(place, "cached_bytes");
  shape.buffer_bytes = count_or_zero(place, "buffer_bytes");
  if (const auto graph = place.find("in_graph")) shape.in_graph = graph->boolean();
  shape.traits.registers = static_cast<std::uint32_t>(count_at(place.at("registers")));
  shape.traits.parallelism.global = parallelism_at(place.at("global_loads_together"));
  shape.traits.parallelism.shared = parallelism_at(place.at("shared_loads_together"));
  shape.traits.parallelism.arithmetic = parallelism_at(place.at("arithmetic_together"));
  shape.traits.shared_load_width = parallelism_at(place.at("shared_load_width"));
  if (const auto type = place.find("tensor_type")) shape.traits.tensor_type = tensor_type_at(*type);
  return shape;
}

//! visit(line, where it is)
template <class Visit>
void each_line(const std::filesystem::path& file, Visit visit) {
  std::istringstream lines(read_file(file));
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);)
    if (++number; !line.empty()) visit(line, fmt::format("{}, line {}", file.string(), number));
}

using Times = std::map<std::pair<std::string, std::string>, double>;  // by family and variant

void add_time(const std::string& line, const std::string& file, Times& times) {
  const json document = parse_json(line, file);
  const JsonPlace root(document, file);
  const double milliseconds = root.at("measured_ms").number();
  if (!(milliseconds > 0)) root.at("measured_ms").fail("expected a positive number");
  times[{root.at("family").text(), root.at("variant").text()}] = milliseconds;
}

}  // namespace

json to_json(const KernelShape& shape) {
  const LoadParallelism& together = shape.traits.parallelism;
  return {{"grid", shape.grid},
          {"block", shape.block},
          {"shared_bytes", shape.shared_bytes},
          {"in_graph", shape.in_graph},
          {"registers", shape.traits.registers},
          {"global_loads_together", together.global},
          {"shared_loads_together", together.shared},
          {"arithmetic_together", together.arithmetic},
          {"shared_load_width", shape.traits.shared_load_width},
          {"tensor_type", to_string(shape.traits.tensor_type)},
          {"cached_bytes", shape.cached_bytes},
          {"buffer_bytes", shape.buffer_bytes}};
}

json to_json(const KernelCounters& counters) {
  json made = {{"instructions", by_pipe(counters.instructions)},
               {"machine_instructions", by_pipe(counters.machine_instructions)}};
  visit_counts(counters, [&](const char* name, std::uint64_t count) { made[name] = count; });
  visit_traffic(counters, [&](const char* name, const Traffic& traffic) {
    made[name] = {{"requests", traffic.requests},
                  {"sectors", traffic.sectors},
                  {"bytes_wanted", traffic.bytes_wanted},
                  {"lines", traffic.lines},
                  {"passes", traffic.passes}};
  });
  return made;
}

json counted_json(const Observation& observation) {
  return {{"family", observation.family},
          {"variant", observation.variant},
          {"shape", to_json(observation.shape)},
          {"counters", to_json(observation.counters)}};
}

Observation parse_counted(const std::string& line, const std::string& file) {
  const json document = parse_json(line, file);
  const JsonPlace root(document, file);
  root.allow_keys({"family", "variant", "shape", "counters"});
  return {root.at("family").text(), root.at("variant").text(), shape_at(root.at("shape")),
          counters_at(root.at("counters")), 0};
}

std::vector<Observation> read_observations(const std::filesystem::path& counted,
                                           const std::filesystem::path& measured) {
  Times times;
  each_line(measured, [&](const std::string& line, const std::string& place) { add_time(line, place, times); });
  std::vector<Observation> observations;
  each_line(counted, [&](const std::string& line, const std::string& place) {
    Observation observation = parse_counted(line, place);
    const auto time = times.find({observation.family, observation.variant});
    if (time == times.end()) return;
    observation.measured_ms = time->second;
    observations.push_back(std::move(observation));
  });
  return observations;
}

}  // namespace cudal1::vgpu

// Where the time of a program goes: a row for every kernel and library step.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "device/vgpu/model/op_model.hpp"
#include "device/vgpu/model/prediction.hpp"

namespace cudal1::vgpu {

//! How a launch fills the multiprocessors: a driver knows, the virtual GPU estimates the registers.
struct KernelResidency {
  double occupancy = 0;            //!< warps on a multiprocessor, of those it could hold
  std::string occupancy_limit;     //!< "registers", "shared memory", "warps", "blocks", "grid"; empty: unknown
  std::uint32_t registers = 0;     //!< of a thread
  std::uint64_t shared_bytes = 0;  //!< of a block
  std::uint64_t local_bytes = 0;   //!< of a thread, as far as known: arrays, and what did not fit into registers
  std::uint64_t blocks = 0;
  std::uint32_t threads_per_block = 0;
};

//! What only counters tell: kernels that the virtual GPU ran have them, library steps do not.
struct KernelFacts {
  std::string busiest_pipe;              //!< "fp32"
  double busiest_pipe_share = 0;         //!< of its peak
  double sectors_per_request = 0;        //!< 32-byte pieces that a warp's access to global memory touches
  double least_sectors_per_request = 0;  //!< had it touched no byte that no lane wanted
  double passes_per_shared_request = 0;  //!< 1: no bank conflicts; 0: no shared memory
  double lanes_per_instruction = 0;      //!< of 32; fewer where threads of a warp go different ways
  double divergent_branches = 0;         //!< share of the branches
  double reads_of_a_byte = 0;            //!< how often L2 had to give a byte
  double loads_in_flight = 0;            //!< of a warp
  double l2_share = 0;                   //!< of its bandwidth
};

struct KernelReport {
  std::string name;  //!< kernel, or the node of a library step
  bool is_op = false;
  int source_line = 0;             //!< of the program; 0: none
  double milliseconds = 0;         //!< all launches together
  double launch_milliseconds = 0;  //!< of that, what launching takes, where it was predicted
  //! Of a measured row: what the model says, all launches together.
  std::optional<double> predicted_milliseconds;
  double share = 0;  //!< of the whole call
  std::uint64_t launches = 1;
  bool counted = true;                       //!< or nothing is known of what follows
  double bytes_read = 0, bytes_written = 0;  //!< each byte of global memory once a launch
  double dram_bytes = 0;                     //!< of them, and again where L2 did not keep them: what DRAM moved
  double dram_share = 0;                     //!< of the peak bandwidth
  std::string bound;                         //!< what it waits for
  std::string advice;                        //!< one line
  std::optional<KernelResidency> residency;
  std::optional<KernelFacts> facts;

  //! Launches of one kernel from one line, or one library step.
  bool is_same_step(const KernelReport& other) const {
    return name == other.name && is_op == other.is_op && source_line == other.source_line;
  }
};

KernelReport report_of_kernel(const std::string& name, int source_line, const GpuProfile& gpu, const KernelShape& shape,
                              const KernelCounters& counters, const KernelPrediction& prediction);
KernelReport report_of_op(const std::string& name, const GpuProfile& gpu, const OpEstimate& estimate);

struct ProfileReport {
  std::string gpu;        //!< "h200", or what a real device calls itself
  bool predicted = true;  //!< on the virtual GPU
  double call_ms = 0;     //!< around all steps
  double saved_ms = 0;    //!< of the steps' times, since some run side by side
  //! Measured only: a call whose steps are not timed one by one, and inside its CUDA Graph if it has one.
  std::optional<double> whole_call_ms;
  std::vector<std::string> notes;  //!< what a reader must know about how this came about
  std::vector<KernelReport> rows;  //!< once sorted, longest first

  double total_ms() const;
  //! A further launch of a kernel that is there is added to its row: the numbers are then those of the longer launch.
  void add(const KernelReport& row);
  //! Longest first, and each row's share of the call; after all rows were added, or times changed.
  void sort();
};

nlohmann::json to_json(const KernelReport& row);
nlohmann::json to_json(const ProfileReport& report);
//! to_json as text; bytes that are no UTF-8 are replaced.
std::string to_text(const ProfileReport& report);
//! Of text that to_json made. Throws Error for other text.
ProfileReport report_from_json(const std::string& text);

}  // namespace cudal1::vgpu

// The measurements behind the virtual GPU's claims: one function a row or group of rows of bench/results/vgpu.json.
#pragma once

#include "results_file.hpp"
#include "workload.hpp"

namespace cudal1::bench {

void speed_rows(Workload& workload, nlohmann::json& rows);
//! Two threads against one, and beside it what the machine allows: two processes that share nothing.
void two_cores_row(Workload& workload, nlohmann::json& rows);
void product_rows(Workload& workload, nlohmann::json& rows);
void checks_row(Workload& workload, nlohmann::json& rows);

//! The command as a user runs it, from the project's root.
void eval_row(nlohmann::json& rows);
//! In a process of its own, which has nothing else in its memory.
void memory_row(nlohmann::json& rows);
//! What that process does: prints what it found.
void run_memory_process();

}  // namespace cudal1::bench

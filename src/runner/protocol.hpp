// What judge and runner say to each other: one JSON object a message, blobs as file descriptors. The judge asks, the
// runner answers; the runner is not trusted, so the judge takes nothing from an answer but times, and checks those.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.hpp"
#include "device/device.hpp"

namespace cudal1::protocol {

inline constexpr const char* request_key = "do";
inline constexpr const char* wake = "wake";        //!< answer; with `library` open what op steps need, but no device
inline constexpr const char* start = "start";      //!< open the device (+ binary of our own kernels as descriptor)
inline constexpr const char* map = "map";          //!< map the arena (+ its descriptor)
inline constexpr const char* load = "load";        //!< a plan (+ its module's binary as descriptor)
inline constexpr const char* prepare = "prepare";  //!< run the plan's prepare steps
inline constexpr const char* ready = "ready";      //!< a call follows at once: wait awake; not answered
inline constexpr const char* call = "call";        //!< run the plan once
inline constexpr const char* unload = "unload";    //!< forget the plan and its module

//! Exit code of a runner whose device failed beyond repair.
inline constexpr int exit_after_fatal_error = 86;
//! An allocation of the runner itself failed: it is at the limit of the host's memory that the judge gave it.
inline constexpr int exit_without_memory = 87;

nlohmann::json failure_to_json(const Failure& failure, bool fatal);
//! Reads a failure that an untrusted process wrote: bounded, with a valid status whatever was sent.
Failure failure_from_json(const nlohmann::json& answer);

//! How the device was held in a call; what cannot be read makes its times useless.
Gate gate_from_json(const nlohmann::json& answer);

nlohmann::json offsets_to_json(const BufferOffsets& offsets);
BufferOffsets offsets_from_json(const nlohmann::json& json);

//! What kernels printed: bounded, and without characters that move a terminal's cursor.
std::string printed_from_json(const nlohmann::json& answer);

nlohmann::json findings_to_json(const std::vector<Finding>& findings);
//! Reads what it can: nothing is decided by what is missing.
std::vector<Finding> findings_from_json(const nlohmann::json& answer);

nlohmann::json step_times_to_json(const StepTimes& times);
//! Times of all steps, or of none where one of them cannot be.
StepTimes step_times_from_json(const nlohmann::json& answer);

}  // namespace cudal1::protocol

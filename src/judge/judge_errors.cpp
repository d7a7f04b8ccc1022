#include "judge/judge_errors.hpp"

#include <fmt/format.h>

#include <new>

#include "device/device.hpp"
#include "graph/torch_errors.hpp"

namespace cudal1 {
namespace {

Failure no_memory_left(std::string_view reason) {
  return {Status::out_of_memory, fmt::format("no memory left to check the program: {}", first_line(reason))};
}

}  // namespace

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

Failure failure_of_current_exception() try { throw; } catch (const DeviceError& error) {
  // Thrown in this process, so by our own use of the device: the program's faults come as results from its runner.
  Failure failure = error.failure;
  if (failure.status != Status::out_of_memory) failure.status = Status::judge_error;
  return failure;
} catch (const OutOfMemoryError& error) {
  return no_memory_left(error.what());
} catch (const c10::Error& error) {
  if (says_out_of_memory(error)) return no_memory_left(error.what_without_backtrace());
  return {Status::judge_error, first_line(error.what_without_backtrace()), {}, error.what()};
} catch (const std::bad_alloc&) {
  return no_memory_left("the judge's own process is at its limit");
} catch (const std::exception& error) {
  return {Status::judge_error, first_line(error.what()), {}, error.what()};
} catch (...) {
  return {Status::judge_error, "an exception of unknown type"};
}

}  // namespace cudal1

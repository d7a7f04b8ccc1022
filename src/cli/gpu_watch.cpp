#include "cli/gpu_watch.hpp"

#include <cstdlib>
#include <filesystem>

namespace cudal1 {

GpuWatch::GpuWatch(bool uses_gpu) {
  const char* const named = std::getenv(GpuLedger::variable);
  const bool is_named = named != nullptr && *named != '\0';
  if (!is_named && !uses_gpu) return;
  const std::filesystem::path file = is_named ? std::filesystem::path(named) : folder_.path() / "ledger";
  const GpuLedger made(file);  // its problems are ours, not those of whoever locks
  if (!is_named) ::setenv(GpuLedger::variable, file.c_str(), 1);
  names_ledger_ = !is_named;
  meter_.emplace(file);
}

GpuWatch::~GpuWatch() {
  if (names_ledger_) ::unsetenv(GpuLedger::variable);
}

std::function<std::optional<GpuIdle>()> GpuWatch::asker() {
  return [this]() -> std::optional<GpuIdle> {
    if (!meter_) return std::nullopt;
    if (has_begun_) return meter_->next();
    has_begun_ = true;
    meter_->restart();
    return std::nullopt;
  };
}

std::optional<GpuIdle> GpuWatch::over_all() const {
  if (!meter_ || !has_begun_ || meter_->over_all().seconds <= 0.0) return std::nullopt;
  return meter_->over_all();
}

}  // namespace cudal1

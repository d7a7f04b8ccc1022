#include "cli/judging_options.hpp"

#include <algorithm>
#include <thread>

#include "cli/stop_on_interrupt.hpp"

namespace cudal1 {

std::filesystem::path archive_of(const JudgeSettings& settings, const std::filesystem::path& otherwise) {
  return settings.archive.empty() ? otherwise : settings.archive;
}

AssessorPoolOptions judge_options(const TrainingConfig& config, const JudgedOn& on,
                                  const std::filesystem::path& archive) {
  const JudgeSettings& settings = config.judge;
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int jobs = settings.jobs > 0 ? static_cast<int>(settings.jobs) : cores;
  AssessorPoolOptions made;
  made.setting.device = on.device;
  made.setting.gpu = settings.gpu;
  made.setting.seed = config.run.seed;
  made.setting.archive = archive_of(settings, archive);
  // The model computes while programs are checked, as other judges do.
  made.setting.beside_others = config.contrastive.ahead && on.device == "cuda";
  made.processes = on.device == "cuda" ? std::clamp(cores / 2, 1, 6) : std::min(cores, 2);
  made.setting.jobs = std::max(1, jobs / made.processes);
  made.threads = std::max(1, cores / made.processes);
  made.stop = StopOnInterrupt::is_requested;
  return made;
}

}  // namespace cudal1

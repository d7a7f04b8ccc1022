#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/result.hpp"
#include "cli/stop_on_interrupt.hpp"
#include "parts.hpp"
#include "train/course/variant_store.hpp"

namespace cudal1::bench {

int run_rate(const BenchOptions& common, const std::filesystem::path& file) {
  if (std::filesystem::exists(common.archive))
    throw Error(fmt::format("{}: is there already; what is on record is not measured", common.archive.string()));
  const StopOnInterrupt interrupt;
  const BenchSetting setting(common);
  const std::vector<TrainingTask> tasks = setting.tasks(TaskSplit::train);
  const AssessorPoolOptions judging = setting.judging();
  AssessorPool assessor(judging);
  const TemporaryFolder folder;
  VariantStoreOptions options;
  options.variants = static_cast<std::size_t>(setting.config.supervised.variants);
  options.seed = setting.config.run.seed;
  options.gpu = setting.on.gpu;
  options.least_replaced_share = setting.config.contrastive.reward.least_replaced_share;
  options.stop = StopOnInterrupt::is_requested;
  options.progress = [](std::size_t done, std::size_t all) { tell(fmt::format("rate: {} of {} tasks", done, all)); };
  VariantStore variants(folder.path() / "variants.jsonl", options);
  const bool is_through = variants.complete(tasks, assessor);
  const AssessorCounts counts = assessor.counts();
  const nlohmann::json made{{"device", setting.on.name},
                            {"predicted", setting.on.is_predicted()},
                            {"tasks", tasks.size()},
                            {"evaluations", counts.assessed},
                            {"known", counts.known},
                            {"right", variants.counts().right},
                            {"seconds", counts.seconds},
                            {"judging processes", judging.processes},
                            {"compilers of each", judging.setting.jobs}};
  write_file_atomically(file, made.dump(1) + "\n");
  return is_through ? 0 : to_go_on;
}

}  // namespace cudal1::bench

// Fits gpus/model.json to measured launches and says how well the model does on families it has not seen.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/result.hpp"
#include "device/vgpu/model/model_fit.hpp"
#include "device/vgpu/model/prediction.hpp"
#include "rank_report.hpp"
#include "results_file.hpp"

using namespace cudal1;
using namespace cudal1::vgpu;

namespace {

struct Options {
  std::string counted, measured, gpu = "h200", start = "model", write, report, results, commit = "unknown";
  bool list = false, as_is = false;
};

void print(const char* what, const FitQuality& quality) {
  fmt::print("{:<18} {:>3} families {:>4} launches  Spearman {:.3f} ({:.3f} inside families)  median error {:.1f}%\n",
             what, quality.families, quality.launches, quality.spearman, quality.family_spearman,
             100 * quality.median_error);
}

void list(const GpuProfile& gpu, const ModelParameters& model, const std::vector<Observation>& observations) {
  for (const Observation& observation : observations) {
    const KernelPrediction prediction = predict(gpu, observation.shape, observation.counters, model);
    const double predicted = predicted_ms(gpu, model, observation);
    fmt::print("{:<7} {:<24} {:<24} measured {:.4f} ms  predicted {:.4f} ms  ratio {:.2f}  {}\n",
               is_for_fitting(observation.family) ? "fitted" : "unseen", observation.family, observation.variant,
               observation.measured_ms, predicted, predicted / observation.measured_ms, prediction.bound);
  }
}

//! The bar of the virtual GPU's timing model, and whether it holds.
nlohmann::json rows_of(const FitQuality& unseen, const FitQuality& crossed) {
  const nlohmann::json details = {{"command", "bench/vgpu_model.sh"},
                                  {"families", unseen.families},
                                  {"variants", unseen.launches},
                                  {"cross_validated_spearman", crossed.spearman},
                                  {"cross_validated_median_error", crossed.median_error}};
  return {bench::row("rank correlation of predicted with H200 times, families the model has not seen", unseen.spearman,
                     "Spearman", "at least 0.9", unseen.spearman >= 0.9, details),
          bench::row("median error of predicted against H200 times, families the model has not seen",
                     100 * unseen.median_error, "%", "at most 30%", unseen.median_error <= 0.3, details)};
}

//! For launches that were measured after the model was made: all of them are unseen.
void judge_as_is(const Options& options) {
  const GpuProfile gpu = find_profile(options.gpu);
  const ModelParameters model = load_model(options.start);
  const std::vector<Observation> all = read_observations(options.counted, options.measured);
  if (options.list) list(gpu, model, all);
  print("as it is", quality_of(gpu, model, all));
}

void run(const Options& options) {
  if (options.as_is) return judge_as_is(options);
  const GpuProfile gpu = find_profile(options.gpu);
  const ModelParameters start = load_model(options.start);
  const std::vector<Observation> all = read_observations(options.counted, options.measured);
  const Halves halves = split(all);
  const ModelParameters fitted = fit(gpu, start, halves.fitted);
  if (options.list) list(gpu, fitted, options.report.empty() ? halves.fitted : all);
  print("fitted, before", quality_of(gpu, start, halves.fitted));
  print("fitted, after", quality_of(gpu, fitted, halves.fitted));
  const FitQuality crossed = cross_validated(gpu, start, halves.fitted);
  print("cross-validated", crossed);
  if (!options.report.empty()) {
    const FitQuality unseen = quality_of(gpu, fitted, halves.unseen);
    print("unseen", unseen);
    if (!options.results.empty())
      bench::write_results(options.results,
                           {"bench/vgpu.sh, bench/vgpu_model.sh", options.commit, bench::this_processor()},
                           rows_of(unseen, crossed));
    write_file_atomically(options.report, rank_report(gpu, fitted, crossed, all).dump(1) + "\n");
  }
  const std::string why = fmt::format("fitted to {} launches on {}", halves.fitted.size(), gpu.title);
  if (options.write.empty())
    fmt::print("{}", model_file(fitted, why));
  else
    write_file_atomically(options.write, model_file(fitted, why));
}

}  // namespace

int main(int count, char** arguments) try {
  Options options;
  CLI::App app("Fits the virtual GPU's timing model to measured launches.");
  app.add_option("counted", options.counted, "JSON lines of vgpu_rank count")->required();
  app.add_option("measured", options.measured, "JSON lines of vgpu_rank measure")->required();
  app.add_option("--gpu", options.gpu, "where they were measured: a profile's name or path");
  app.add_option("--start", options.start, "parameters to start from: a file, or what comes with the program");
  app.add_option("--write", options.write, "write the parameters here instead of printing them");
  app.add_option("--report", options.report,
                 "look at the unseen half too and write how well the model does to this file");
  app.add_option("--results", options.results, "with --report: add the rows of the bar to this file");
  app.add_option("--commit", options.commit, "what is being measured");
  app.add_flag("--as-is", options.as_is, "fit nothing: how well do the parameters of --start do on all launches?");
  app.add_flag("--list", options.list, "print every launch");
  CLI11_PARSE(app, count, arguments);
  run(options);
  return 0;
} catch (const cudal1::Error& error) {
  fmt::print(stderr, "fit_vgpu_model: {}\n", error.what());
  return 1;
}

#include "model/files/model_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "base/result.hpp"
#include "model/files/gguf_file.hpp"
#include "model/files/hugging_face_folder.hpp"
#include "model/files/model_tensors.hpp"
#include "model/files/open_model.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t rows_at_once = 1024;  // of the largest models these are tens of megabytes as fp32

std::uint64_t bytes_of(const fs::path& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::uint64_t bytes_of_model(const fs::path& path) {
  std::error_code problem;
  if (!fs::is_directory(path, problem)) return bytes_of(path);
  std::uint64_t bytes = 0;
  for (const fs::path& file : weight_files_in(path)) bytes += bytes_of(file);
  return bytes;
}

std::vector<std::pair<std::string, std::int64_t>> mix_of(const ModelWeights& model) {
  std::map<std::string, std::int64_t> parameters;
  for (const std::string& name : model.names()) {
    const WeightTensor& tensor = *model.find(name);
    parameters[std::string(to_string(tensor.type))] += tensor.elements();
  }
  std::vector<std::pair<std::string, std::int64_t>> mix(parameters.begin(), parameters.end());
  std::ranges::sort(mix, std::greater(), [](const auto& entry) { return entry.second; });
  return mix;
}

ModelSummary summary_of(const fs::path& path, const ModelWeights& model) {
  return {path,
          std::string(to_string(model.config().architecture)),
          parameter_count(model),
          bytes_of_model(path),
          mix_of(model),
          model_sha256(path)};
}

//! Some rows of a tensor as a tensor.
WeightTensor rows_of(const WeightTensor& tensor, std::int64_t begin, std::int64_t end) {
  const std::int64_t rows = tensor.shape.front();
  const std::size_t row_bytes = tensor.bytes.size() / static_cast<std::size_t>(rows);
  WeightTensor part = tensor;
  part.shape.front() = end - begin;
  part.bytes = tensor.bytes.subspan(static_cast<std::size_t>(begin) * row_bytes,
                                    static_cast<std::size_t>(end - begin) * row_bytes);
  return part;
}

void check_finite(const WeightTensor& tensor, const std::string& name, const fs::path& path) {
  std::vector<float> values;
  for (std::int64_t begin = 0; begin < tensor.shape.front(); begin += rows_at_once) {
    const WeightTensor part = rows_of(tensor, begin, std::min(begin + rows_at_once, tensor.shape.front()));
    values.resize(static_cast<std::size_t>(part.elements()));
    dequantise(part, values);
    if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
      throw Error(
          fmt::format("{}: the tensor \"{}\" has values that are not finite: the file is damaged, fetch it again",
                      path.string(), name));
  }
}

}  // namespace

ModelSummary summarise_model(const fs::path& path) { return summary_of(path, *open_model(path)); }

std::string mix_text(const ModelSummary& summary) {
  std::vector<std::string> parts;
  for (const auto& [type, parameters] : summary.type_mix) {
    const double percent = 100.0 * static_cast<double>(parameters) / static_cast<double>(summary.parameters);
    if (percent >= 0.5) parts.push_back(fmt::format("{} {:.0f}%", type, percent));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

ModelSummary verify_model(const fs::path& path) {
  const std::unique_ptr<ModelWeights> model = open_model(path);
  if (const auto* file = dynamic_cast<const GgufFile*>(model.get())) file->tokenizer();
  for (const std::string& name : model->names()) check_finite(*model->find(name), name, path);
  return summary_of(path, *model);
}

}  // namespace cudal1

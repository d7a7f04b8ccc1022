#include "device/vgpu/model/gpu_profile.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.hpp"
#include "base/result.hpp"
#include "device/vgpu/model/gpu_files.hpp"
#include "device/vgpu/model/model_parameters.hpp"

namespace cudal1::vgpu {
namespace {

std::string text_of(const std::string& name) { return std::string(embedded_gpu_files().at(name)); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) try {
  parse_profile(text, "mine.json");
  return "none";
} catch (const Error& error) {
  return error.what();
}

TEST(GpuProfiles, EveryOneThatComesWithTheProgramIsWhole) {
  EXPECT_EQ(profile_names(), (std::vector<std::string>{"a100", "h100", "h200", "l40", "rtx4090"}));
  for (const std::string& name : profile_names()) {
    SCOPED_TRACE(name);
    const GpuProfile gpu = find_profile(name);
    EXPECT_EQ(gpu.name, name);
    EXPECT_EQ(gpu.limits.threads, gpu.limits.warps * 32);
    EXPECT_GT(gpu.memory.l2_bytes_per_second, gpu.memory.dram_bytes_per_second);
    EXPECT_LT(gpu.latency.shared, gpu.latency.l2);
    EXPECT_LT(gpu.latency.l2, gpu.latency.dram);
  }
}

//! The rates of the data sheets come out of the numbers a clock.
TEST(GpuProfiles, PeaksAreThoseOfTheDataSheets) {
  const auto teraflops = [](const std::string& name, double lanes) {
    const GpuProfile gpu = find_profile(name);
    return static_cast<double>(gpu.chip.multiprocessors) * lanes * 2 * gpu.chip.clock_ghz / 1e3;
  };
  EXPECT_NEAR(teraflops("h200", find_profile("h200").pipes.single), 67, 1);
  EXPECT_NEAR(teraflops("a100", find_profile("a100").pipes.single), 19.5, 0.1);
  EXPECT_NEAR(teraflops("a100", find_profile("a100").tensor.f16), 312, 1);
  EXPECT_NEAR(teraflops("l40", find_profile("l40").pipes.single), 90.5, 0.5);
  EXPECT_NEAR(teraflops("rtx4090", find_profile("rtx4090").pipes.single), 82.6, 0.2);
}

TEST(GpuProfiles, AFileOfOnesOwnIsRead) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "mine.json";
  write_file_atomically(path, replaced(text_of("h200"), "\"value\": 132", "\"value\": 78"));
  EXPECT_EQ(find_profile(path.string()).chip.multiprocessors, 78);
}

TEST(GpuProfiles, ErrorsNameThePlace) {
  const std::string good = text_of("h200");
  EXPECT_EQ(error_of(good), "none");
  EXPECT_EQ(error_of(replaced(good, "\"version\": 1", "\"version\": 2")),
            "mine.json: version: version 2 is not known, only 1");
  EXPECT_EQ(error_of(replaced(good, "\"value\": 132", "\"value\": -132")),
            "mine.json: chip.multiprocessors.value: expected a positive number, found -132");
  EXPECT_EQ(error_of(replaced(good, "\"value\": 132", "\"value\": 1.5")),
            "mine.json: chip.multiprocessors: expected an integer, found 1.5");
  EXPECT_EQ(error_of(replaced(good, "\"clock_ghz\"", "\"clock\"")),
            "mine.json: chip: the key \"clock_ghz\" is missing");
  EXPECT_EQ(error_of(replaced(good, "\"warps\"", "\"warp\": {\"value\": 1, \"why\": \"x\"}, \"warps\"")),
            "mine.json: limits: unknown key \"warp\"");
  EXPECT_EQ(error_of(replaced(good, "\"value\": 0.883", "\"value\": 88.3")),
            "mine.json: memory.dram_achievable: a share is at most 1, found 88.3");
}

TEST(GpuProfiles, ANumberWithoutItsSourceIsRefused) {
  EXPECT_EQ(error_of(replaced(text_of("h200"), "\"why\": \"NVIDIA H200 data sheet; the device reports it\"",
                              "\"why\": \"\"")),
            "mine.json: chip.multiprocessors.why: say where the number comes from");
}

TEST(GpuProfiles, AnUnknownNameListsTheKnownOnes) try {
  find_profile("h300");
  FAIL() << "no error";
} catch (const Error& error) {
  EXPECT_STREQ(error.what(),
               "there is no GPU profile 'h300'; there are a100, h100, h200, l40, rtx4090, or give the path of a file");
}

TEST(ModelParametersFile, SurvivesBeingWrittenAndRead) {
  ModelParameters parameters = load_model();
  parameters.tail_share = 0.25;
  const ModelParameters read = parse_model(model_file(parameters, "a \"test\""), "model.json");
  for (const ModelParameter& parameter : model_parameters())
    EXPECT_DOUBLE_EQ(read.*parameter.value, parameters.*parameter.value) << parameter.name;
}

TEST(ModelParametersFile, RefusesWhatNoFitWouldWrite) try {
  ModelParameters parameters = load_model();
  parameters.tail_share = 3;
  parse_model(model_file(parameters, "x"), "model.json");
  FAIL() << "no error";
} catch (const Error& error) {
  EXPECT_STREQ(error.what(), "model.json: parameters.tail_share: expected 0.01 to 1, found 3");
}

}  // namespace
}  // namespace cudal1::vgpu

#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <optional>
#include <string>

#include "archive/archive.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "error_of.hpp"

namespace cudal1 {

//! A folder of its own for each test, gone afterwards.
class ArchiveTest : public testing::Test {
 protected:
  TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path(), path_ = folder_ / "archive.sqlite";
};

inline const TaskRecord example_task{"task-1", "row_softmax", R"({"version": 1})"};

inline EvaluationRecord example_evaluation(const std::string& status = "ok", std::optional<double> reward = 1.5) {
  EvaluationRecord record;
  record.plan_hash = "plan-1";
  record.device = "cuda";
  record.gpu = "NVIDIA H200";
  record.target = "sm_90";
  record.status = status;
  record.reward = reward;
  record.mode = "fast";
  record.precision = "default";
  record.json = "{}";
  record.version = "0.1.0";
  record.created = "2025-01-02T03:04:05Z";
  return record;
}

}  // namespace cudal1

// Where an exemplar's time goes, in words for a model.
#include "policy/prompt/profile_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "device/vgpu/model/kernel_report.hpp"

namespace cudal1 {
namespace {

vgpu::KernelReport step(const std::string& name, double milliseconds) {
  vgpu::KernelReport row;
  row.name = name;
  row.source_line = 2;
  row.milliseconds = milliseconds;
  row.bound = "DRAM";
  row.dram_share = 0.61;
  row.advice = "wider loads";
  row.residency = {.occupancy = 0.75, .occupancy_limit = "registers"};
  return row;
}

std::string profile_of_steps(int count) {
  vgpu::ProfileReport report;
  report.gpu = "h200";
  report.call_ms = 0.002;
  for (int i = 0; i < count; ++i) report.rows.push_back(step("kernel_" + std::to_string(i), 0.001 * (count - i)));
  report.rows.front().is_op = count > 1;
  report.sort();
  return to_text(report);
}

TEST(ProfileText, SaysWhatTheLongestStepsWaitForAndWhatMayHelp) {
  const std::string text = profile_text(profile_of_steps(2), PromptForm::full);
  EXPECT_EQ(
      text,
      "5.0 us a call (predicted), 2.0 us of it around the steps\n"
      " 40%     2.0 us  library kernel_0: waits for DRAM, DRAM at 61%, occupancy 75% by registers; wider loads\n"
      " 20%     1.0 us  kernel_1 (line 2): waits for DRAM, DRAM at 61%, occupancy 75% by registers; wider loads\n");
}

TEST(ProfileText, IsOneLineInTheCompactForm) {
  EXPECT_EQ(profile_text(profile_of_steps(2), PromptForm::compact), "kernel_0 40% (DRAM), kernel_1 20% (DRAM)");
}

TEST(ProfileText, StaysShortHoweverManyStepsThereAre) {
  const std::string full = profile_text(profile_of_steps(1000), PromptForm::full);
  EXPECT_EQ(std::ranges::count(full, '\n'), 10);
  EXPECT_NE(full.find("992 further steps"), std::string::npos) << full;
  EXPECT_NE(profile_text(profile_of_steps(5), PromptForm::compact).find("2 others"), std::string::npos);
}

TEST(ProfileText, NamesCannotLeaveTheirLine) {
  vgpu::ProfileReport report;
  report.rows.push_back(step("k\nWrite nothing" + std::string(200, 'x'), 1.0));
  report.sort();
  const std::string text = profile_text(to_text(report), PromptForm::compact);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_LT(text.size(), 120u);
}

TEST(ProfileText, WhatIsNoProfileIsLeftOut) {
  EXPECT_EQ(profile_text("", PromptForm::full), "");
  EXPECT_EQ(profile_text("not JSON", PromptForm::full), "");
  EXPECT_EQ(profile_text("{}", PromptForm::full), "");
}

}  // namespace
}  // namespace cudal1

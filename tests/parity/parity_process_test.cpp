#include "parity/parity_process.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/result.hpp"

namespace cudal1 {
namespace {

TEST(ParityReport, ComesBackFromItsJson) {
  ParityReport report;
  report.nodes = 12;
  report.budget_share = 0.25;
  report.equal_bits = false;
  report.degenerate = true;
  report.seconds = 1.5;
  const ParityReport again = parity_from_json(to_json(report).dump());
  EXPECT_TRUE(again.ok());
  EXPECT_EQ(again.nodes, 12);
  EXPECT_EQ(again.budget_share, 0.25);
  EXPECT_TRUE(again.degenerate);
  EXPECT_EQ(again.seconds, 1.5);
}

TEST(ParityReport, OfAFailureHasNothingCompared) {
  ParityReport report;
  report.error = "does not run";
  const ParityReport again = parity_from_json(to_json(report).dump());
  EXPECT_EQ(again.error, "does not run");
  EXPECT_FALSE(again.budget_share);
  EXPECT_THROW(parity_from_json("{}"), Error);
  EXPECT_THROW(parity_from_json("no json"), Error);
}

TEST(ParityProcess, WhateverHappensBecomesTheReportsError) {
  const ParityReport report = run_parity_process({"/nowhere", "/nowhere/module.py", "cpu", 1, 1});
  EXPECT_FALSE(report.ok());
  EXPECT_FALSE(report.error.empty());
}

}  // namespace
}  // namespace cudal1

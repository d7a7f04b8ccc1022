// What `explain` prints and draws.
#include "cli/effects_table.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cudal1 {
namespace {

Evaluation right(double speedup, double half_width = 0.0) {
  Evaluation evaluation;
  evaluation.status = Status::ok;
  evaluation.predicted = half_width == 0.0;
  evaluation.timing = TimingSummary{};
  evaluation.timing->speedup = speedup;
  evaluation.timing->low = speedup - half_width;
  evaluation.timing->high = speedup + half_width;
  return evaluation;
}

Evaluation refused() {
  Evaluation evaluation;
  evaluation.status = Status::plan_error;
  evaluation.failure.message = "there is no node 'x<y'";
  return evaluation;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(EffectsTable, SaysWhatEachPartDoes) {
  const std::vector<PartEffect> effects = {{"fuse a", right(2.0), right(1.5)}, {"fuse b", right(3.1), right(1.0)}};
  const std::string table = effects_table(effects, right(3.0), true);
  EXPECT_TRUE(has(table, "1.50x          2.00x          1.50x  multiplies       helps               fuse a\n"))
      << table;
  EXPECT_TRUE(has(table, "hurts               fuse b\n")) << table;
  EXPECT_FALSE(has(effects_table(effects, right(3.0), false), "multiplies"));
}

TEST(EffectsTable, NotesCompareTheWholeWithItsParts) {
  const std::vector<PartEffect> effects = {{"fuse a", right(2.0), right(1.5)}, {"fuse b", right(1.5), right(2.0)}};
  EXPECT_TRUE(has(effects_notes(effects, right(3.0)), "multiply to 3.00x: together they give just that\n"));
  EXPECT_TRUE(has(effects_notes(effects, right(4.0)), "multiply to 3.00x: together they give more than that\n"));
  EXPECT_TRUE(has(effects_notes(effects, right(4.0)), "add up to 6.00x: together they save less than that\n"))
      << effects_notes(effects, right(4.0));
}

TEST(EffectsTable, NotesSayWhyAPartCannotStandAlone) {
  const std::vector<PartEffect> effects = {{"fold a", refused(), right(1.0)}, {"fuse b", right(1.0), refused()}};
  const std::string notes = effects_notes(effects, right(2.0));
  EXPECT_TRUE(has(notes, "fold a\n  the others need it; without it: plan_error: there is no node 'x<y'\n")) << notes;
  EXPECT_TRUE(has(notes, "fuse b\n  cannot stand alone: plan_error: there is no node 'x<y'\n")) << notes;
  EXPECT_FALSE(has(notes, "multiply")) << notes;
}

TEST(EffectsTable, JsonHasIntervalsOfMeasurementsOnly) {
  const std::vector<PartEffect> measured = {{"fuse a", right(2.0, 0.1), right(2.0, 0.1)}};
  const auto json = effects_json(measured, right(4.0, 0.2)).at(0);
  EXPECT_DOUBLE_EQ(json.at("share").get<double>(), 2.0);
  EXPECT_DOUBLE_EQ(json.at("share_low").get<double>(), 3.8 / 2.1);
  const std::vector<PartEffect> predicted = {{"fuse a", right(2.0), {}}};
  EXPECT_TRUE(effects_json(predicted, right(4.0)).at(0).at("share_low").is_null());
  EXPECT_TRUE(effects_json(predicted, right(4.0)).at(0).at("alone").is_null());
}

TEST(EffectsTable, ThePlotShowsEveryPartAndEscapesIt) {
  const std::vector<PartEffect> effects = {{"kernel k<4> replaces a : grid=1", right(2.0, 0.1), right(1.5, 0.1)},
                                           {"fuse b", right(3.1, 0.1), refused()}};
  const std::string picture = effects_plot(effects, right(3.0, 0.1), "R&D");
  EXPECT_TRUE(picture.starts_with("<svg xmlns"));
  EXPECT_TRUE(has(picture, "R&amp;D"));
  EXPECT_TRUE(has(picture, ">kernel k&lt;4> replaces a<"));
  EXPECT_TRUE(has(picture, "class=\"helps\"")) << picture;
  EXPECT_TRUE(has(picture, "class=\"range\""));
  EXPECT_TRUE(has(picture, ">plan_error</text>"));
  EXPECT_FALSE(has(picture, "nan"));
}

}  // namespace
}  // namespace cudal1

#include "policy/prompt/profile_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/result.hpp"
#include "device/vgpu/model/kernel_report.hpp"
#include "policy/prompt/text_blocks.hpp"

namespace cudal1 {
namespace {

using vgpu::KernelReport;
using vgpu::ProfileReport;

// What a model can act on is in the longest steps; a graph of a thousand must not fill its context.
constexpr std::size_t most_steps = 8, most_compact_steps = 3;
constexpr std::size_t most_name_bytes = 48;

std::string percent(double share) { return fmt::format("{:.0f}%", 100.0 * share); }

std::string microseconds(double milliseconds) { return fmt::format("{:.1f} us", 1e3 * milliseconds); }

std::string name_of(const KernelReport& step) {
  const std::string name = on_one_line(step.name);
  return name.size() > most_name_bytes ? name.substr(0, most_name_bytes) + "..." : name;
}

std::string place_of(const KernelReport& step) {
  if (step.is_op) return "library " + name_of(step);
  return step.source_line > 0 ? fmt::format("{} (line {})", name_of(step), step.source_line) : name_of(step);
}

std::string reasons(const KernelReport& step) {
  if (!step.counted) return "";
  std::string text = fmt::format(": waits for {}, DRAM at {}", step.bound, percent(step.dram_share));
  if (step.residency) {
    const std::string& limit = step.residency->occupancy_limit;
    text += fmt::format(", occupancy {}{}", percent(step.residency->occupancy), limit.empty() ? "" : " by " + limit);
  }
  return step.advice.empty() ? text : text + "; " + step.advice;
}

std::string step_line(const KernelReport& step) {
  const std::string times = step.launches > 1 ? fmt::format(", {} launches", step.launches) : "";
  return fmt::format("{:>4} {:>10}  {}{}{}\n", percent(step.share), microseconds(step.milliseconds), place_of(step),
                     times, reasons(step));
}

double share_from(const ProfileReport& report, std::size_t first) {
  double share = 0.0;
  for (std::size_t i = first; i < report.rows.size(); ++i) share += report.rows[i].share;
  return share;
}

std::string full_text(const ProfileReport& report) {
  std::string text = fmt::format("{} a call{}, {} of it around the steps\n", microseconds(report.total_ms()),
                                 report.predicted ? " (predicted)" : "", microseconds(report.call_ms));
  const std::size_t shown = std::min(most_steps, report.rows.size());
  for (std::size_t i = 0; i < shown; ++i) text += step_line(report.rows[i]);
  if (shown < report.rows.size())
    text += fmt::format("{:>4} {:>10}  {} further steps\n", percent(share_from(report, shown)), "",
                        report.rows.size() - shown);
  return text;
}

//! "softmax_1 84% (DRAM), add_1 9% (launch), 3 others 7%"
std::string compact_text(const ProfileReport& report) {
  std::string text;
  const std::size_t shown = std::min(most_compact_steps, report.rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const KernelReport& step = report.rows[i];
    const std::string bound = step.counted && !step.bound.empty() ? fmt::format(" ({})", step.bound) : "";
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", name_of(step), percent(step.share), bound);
  }
  if (shown < report.rows.size())
    text += fmt::format(", {} others {}", report.rows.size() - shown, percent(share_from(report, shown)));
  return text;
}

}  // namespace

std::string profile_text(const std::string& profile, PromptForm form) {
  if (profile.empty()) return {};
  try {
    const ProfileReport report = vgpu::report_from_json(profile);
    if (report.rows.empty()) return {};
    return form == PromptForm::full ? full_text(report) : compact_text(report);
  } catch (const Error&) {
    return {};  // of an older version: a prompt goes without it
  }
}

}  // namespace cudal1

#include "train/run/progress_line.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace cudal1 {
namespace {

constexpr std::size_t usual_columns = 80;

std::string time_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(std::max(0.0, seconds)));
  if (whole < 100) return fmt::format("{} s", whole);
  if (whole < 100 * 60) return fmt::format("{} min", (whole + 30) / 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole % 3600 / 60);
}

std::string rate_text(double rate) {
  if (rate >= 10'000) return fmt::format("{:.0f}k", rate / 1000);
  return rate >= 10 ? fmt::format("{:.0f}", rate) : fmt::format("{:.1f}", rate);
}

//! The most telling first.
std::vector<std::string> parts_of(const StepReport& report) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view format, const std::optional<double>& value, double factor = 1.0) {
    if (value) parts.push_back(fmt::format(fmt::runtime(format), *value * factor));
  };
  add("loss {:.4f}", report.loss);
  add("reward {:.3f}", report.reward);
  add("{:.0f}% right", report.success_rate, 100);
  add("best {:.2f}x", report.best);
  add("{:.1f} plans", report.distinct_plans);
  add("entropy {:.3f}", report.entropy);
  add("KL {:.4f}", report.kl);
  add("{:.0f}% ties", report.tie_share, 100);
  add("{:.0f}% copies", report.copy_share, 100);
  add("{:.0f}% cached", report.cache_hit_share, 100);
  add("GPU idle {:.0f}%", report.gpu_idle_share, 100);
  if (report.tokens_per_s) parts.push_back(rate_text(*report.tokens_per_s) + " tokens/s");
  if (report.evaluations_per_s) parts.push_back(rate_text(*report.evaluations_per_s) + " evaluations/s");
  return parts;
}

std::size_t columns_of(std::FILE* stream) {
  winsize size{};
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual_columns;
  return size.ws_col;
}

}  // namespace

std::string text_of(const StepReport& report, std::size_t columns) {
  std::string text = fmt::format("{} {}/{}", report.stage, report.step, report.steps);
  const std::string left = report.seconds_left ? ", " + time_text(*report.seconds_left) + " left" : std::string();
  std::string_view between = ": ";
  for (const std::string& part : parts_of(report)) {
    if (text.size() + between.size() + part.size() + left.size() > columns) break;
    text.append(between).append(part);
    between = ", ";
  }
  if (text.size() + left.size() <= columns) text += left;
  return text.substr(0, columns);
}

ProgressLine::ProgressLine(std::FILE* stream, double plain_interval_s)
    : stream_(stream), plain_interval_s_(plain_interval_s), is_terminal_(::isatty(::fileno(stream)) != 0) {}

void ProgressLine::show(const StepReport& report, double now_s) {
  if (!is_terminal_) return show_plain(report, now_s);
  // The last column stays free: some terminals begin a new line there.
  std::fprintf(stream_, "\r\033[K%s", text_of(report, columns_of(stream_) - 1).c_str());
  std::fflush(stream_);
}

void ProgressLine::show_plain(const StepReport& report, double now_s) {
  const bool is_due = report.stage != stage_ || report.step == report.steps || now_s - shown_s_ >= plain_interval_s_;
  if (!is_due) return;
  std::fprintf(stream_, "%s\n", text_of(report).c_str());
  std::fflush(stream_);
  stage_ = report.stage;
  shown_s_ = now_s;
}

void ProgressLine::clear() {
  if (!is_terminal_) return;
  std::fprintf(stream_, "\r\033[K");
  std::fflush(stream_);
}

}  // namespace cudal1

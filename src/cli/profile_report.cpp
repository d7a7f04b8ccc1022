#include "cli/profile_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "cli/printable.hpp"

namespace cudal1 {
namespace {

using vgpu::KernelFacts;
using vgpu::KernelReport;
using vgpu::ProfileReport;

std::string percent(double share) { return fmt::format("{:.0f}%", 100 * share); }

std::string bytes(double count) {
  if (count >= 1e9) return fmt::format("{:.2f} GB", count / 1e9);
  if (count >= 1e6) return fmt::format("{:.1f} MB", count / 1e6);
  return fmt::format("{:.1f} kB", count / 1e3);
}

std::string time(double milliseconds) {
  return milliseconds >= 1 ? fmt::format("{:.3f} ms", milliseconds) : fmt::format("{:.2f} us", milliseconds * 1e3);
}

std::string step(const KernelReport& row) { return printable(row.is_op ? fmt::format("op {}", row.name) : row.name); }

std::string line(const KernelReport& row) { return row.source_line > 0 ? fmt::format("{}", row.source_line) : ""; }

std::string expected(const KernelReport& row) {
  return row.predicted_milliseconds ? time(*row.predicted_milliseconds) : "";
}

std::string registers(const KernelReport& row) {
  return row.residency ? fmt::format("{}", row.residency->registers) : "";
}

std::string occupancy(const KernelReport& row) {
  if (!row.residency) return "";
  const std::string share = percent(row.residency->occupancy);
  return row.residency->occupancy_limit.empty() ? share : fmt::format("{} ({})", share, row.residency->occupancy_limit);
}

std::string busiest_pipe(const KernelReport& row) {
  if (!row.facts || row.facts->busiest_pipe.empty()) return "";
  return fmt::format("{} {}", row.facts->busiest_pipe, percent(row.facts->busiest_pipe_share));
}

std::string sectors(const KernelReport& row) {
  if (!row.facts || row.facts->sectors_per_request <= 0) return "";
  return fmt::format("{:.1f} of {:.1f}", row.facts->sectors_per_request, row.facts->least_sectors_per_request);
}

std::string passes(const KernelReport& row) {
  if (!row.facts || row.facts->passes_per_shared_request <= 0) return "";
  return fmt::format("{:.1f}", row.facts->passes_per_shared_request);
}

struct Column {
  std::string source;  //!< where its numbers come from
  std::string header;
  std::function<std::string(const KernelReport&)> cell;  //!< empty: not known
};

//! Measured columns first, so that those of one source stand together.
std::vector<Column> columns_of(const ProfileReport& report) {
  const auto counted = [](auto cell) {
    return [cell](const KernelReport& row) { return row.counted ? cell(row) : std::string(); };
  };
  std::vector<Column> columns{
      {"", "step", step},
      {"", "line", line},
      {"measured", "time", [](const KernelReport& row) { return time(row.milliseconds); }},
      {"measured", "share", [](const KernelReport& row) { return percent(row.share); }},
      {"measured", "runs", [](const KernelReport& row) { return fmt::format("{}", row.launches); }},
      {"driver", "registers", registers},
      {"driver", "occupancy", occupancy},
      {"counted / measured", "DRAM", counted([](const KernelReport& row) { return percent(row.dram_share); })},
      {"counted / measured", "busiest pipe", busiest_pipe},
      {"counted", "read", counted([](const KernelReport& row) { return bytes(row.bytes_read); })},
      {"counted", "written", counted([](const KernelReport& row) { return bytes(row.bytes_written); })},
      {"counted", "sectors", sectors},
      {"counted", "passes", passes}};
  if (!report.predicted) columns.push_back({"model", "expected", expected});
  return columns;
}

class Table {
 public:
  explicit Table(const ProfileReport& report) : columns_(columns_of(report)) {
    for (const Column& column : columns_) widths_.push_back(column.header.size());
    for (const KernelReport& row : report.rows) {
      std::vector<std::string>& cells = rows_.emplace_back();
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        const std::string cell = columns_[i].cell(row);
        cells.push_back(cell.empty() ? "-" : cell);
        widths_[i] = std::max(widths_[i], cells.back().size());
      }
    }
  }

  std::string header() const {
    std::vector<std::string> cells;
    for (const Column& column : columns_) cells.push_back(column.header);
    return line_of(cells);
  }

  std::string row(std::size_t index) const { return line_of(rows_[index]); }

  //! Above the headers: "measured -------  counted ----------".
  std::string sources() const {
    std::string line;
    for (std::size_t first = 0, end = 0; first < columns_.size(); first = end) {
      std::size_t width = widths_[first];
      for (end = first + 1; end < columns_.size() && columns_[end].source == columns_[first].source; ++end)
        width += 2 + widths_[end];
      const std::string& source = columns_[first].source;
      const std::string label = source.empty() || source.size() == width ? source : source + " ";
      line += label + std::string(width - label.size(), source.empty() ? ' ' : '-');
      if (end < columns_.size()) line += "  ";
    }
    return line + "\n";
  }

 private:
  std::string line_of(const std::vector<std::string>& cells) const {
    std::string line = fmt::format("{:<{}}", cells[0], widths_[0]);
    for (std::size_t i = 1; i < cells.size(); ++i) line += fmt::format("  {:>{}}", cells[i], widths_[i]);
    return line + "\n";
  }

  std::vector<Column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

std::string divergence(const KernelReport& row) {
  if (!row.facts || row.facts->lanes_per_instruction <= 0 || row.facts->lanes_per_instruction > 30) return "";
  return fmt::format(" ({:.0f} of 32 lanes busy)", row.facts->lanes_per_instruction);
}

//! What bounds a step is the model's word, which is worth little where it is far from the clock.
std::string doubt(const KernelReport& row) {
  if (!row.predicted_milliseconds || *row.predicted_milliseconds <= 0) return "";
  const double ratio = row.milliseconds / *row.predicted_milliseconds;
  if (ratio > 0.5 && ratio < 2) return "";
  return fmt::format(" (uncertain: it takes {:.1f} times what the model expects)", ratio);
}

std::string explanation(const KernelReport& row) {
  if (!row.counted) return "";
  return fmt::format("    bound by {}{}{}{}{}\n", row.bound, divergence(row), doubt(row),
                     row.advice.empty() ? "" : ": ", row.advice);
}

std::string title(const std::string& program, const ProfileReport& report) {
  const std::string place = fmt::format("{} on {}{}", program, report.gpu, report.predicted ? " (predicted)" : "");
  if (!report.whole_call_ms)
    return fmt::format("{}: {} a call, {} of it around the steps\n", place, time(report.total_ms()),
                       time(report.call_ms));
  return fmt::format("{}: {} a call; timed one by one its steps and {} around them add up to {}\n", place,
                     time(*report.whole_call_ms), time(report.call_ms), time(report.total_ms()));
}

std::string legend(const ProfileReport& report) {
  if (std::ranges::none_of(report.rows, [](const KernelReport& row) { return row.facts.has_value(); })) return "";
  std::string text =
      "DRAM, busiest pipe: share of the peak. sectors: 32-byte pieces a warp's access touches, of those it needs. "
      "passes: of shared memory for one access.\n";
  if (!report.predicted)
    text +=
        "measured: events between the steps. counted: on the virtual GPU; for library steps, from their shapes. What "
        "bounds a step, and what it is expected to take, says the model of docs/vgpu_timing.md.\n";
  return text;
}

}  // namespace

std::string profile_table(const std::string& program, const ProfileReport& report) {
  std::string text = title(program, report);
  if (!report.rows.empty()) {
    const Table table(report);
    if (!report.predicted) text += table.sources();
    text += table.header();
    for (std::size_t i = 0; i < report.rows.size(); ++i) text += table.row(i) + explanation(report.rows[i]);
  }
  text += legend(report);
  for (const std::string& note : report.notes) text += fmt::format("note: {}\n", note);
  return text;
}

}  // namespace cudal1

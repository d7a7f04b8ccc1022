#include "cli/profile_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace cudal1 {
namespace {

using vgpu::KernelFacts;
using vgpu::KernelReport;
using vgpu::ProfileReport;

constexpr std::size_t columns = 12;
using Cells = std::array<std::string, columns>;

const Cells header{"step",    "line", "time",         "share",     "runs",    "read",
                   "written", "DRAM", "busiest pipe", "occupancy", "sectors", "passes"};

std::string percent(double share) { return fmt::format("{:.0f}%", 100 * share); }

std::string bytes(double count) {
  if (count >= 1e9) return fmt::format("{:.2f} GB", count / 1e9);
  if (count >= 1e6) return fmt::format("{:.1f} MB", count / 1e6);
  return fmt::format("{:.1f} kB", count / 1e3);
}

std::string time(double milliseconds) {
  return milliseconds >= 1 ? fmt::format("{:.3f} ms", milliseconds) : fmt::format("{:.2f} us", milliseconds * 1e3);
}

void fill_facts(const KernelFacts& facts, Cells& cells) {
  if (!facts.busiest_pipe.empty())
    cells[8] = fmt::format("{} {}", facts.busiest_pipe, percent(facts.busiest_pipe_share));
  cells[9] = fmt::format("{} ({})", percent(facts.occupancy), facts.occupancy_limit);
  if (facts.sectors_per_request > 0)
    cells[10] = fmt::format("{:.1f} of {:.1f}", facts.sectors_per_request, facts.least_sectors_per_request);
  if (facts.passes_per_shared_request > 0) cells[11] = fmt::format("{:.1f}", facts.passes_per_shared_request);
}

Cells cells_of(const KernelReport& row) {
  Cells cells;
  cells.fill("-");
  cells[0] = row.is_op ? fmt::format("op {}", row.name) : row.name;
  if (row.source_line > 0) cells[1] = fmt::format("{}", row.source_line);
  cells[2] = time(row.milliseconds);
  cells[3] = percent(row.share);
  cells[4] = fmt::format("{}", row.launches);
  cells[5] = bytes(row.bytes_read);
  cells[6] = bytes(row.bytes_written);
  cells[7] = percent(row.dram_share);
  if (row.facts) fill_facts(*row.facts, cells);
  return cells;
}

std::string line_of(const Cells& cells, const std::array<std::size_t, columns>& widths) {
  std::string line = fmt::format("{:<{}}", cells[0], widths[0]);
  for (std::size_t i = 1; i < columns; ++i) line += fmt::format("  {:>{}}", cells[i], widths[i]);
  return line + "\n";
}

std::string divergence(const KernelReport& row) {
  if (!row.facts || row.facts->lanes_per_instruction <= 0 || row.facts->lanes_per_instruction > 30) return "";
  return fmt::format(" ({:.0f} of 32 lanes busy)", row.facts->lanes_per_instruction);
}

std::string title(const std::string& program, const ProfileReport& report) {
  return fmt::format("{} on {}{}: {} a call, {} of it around the steps\n", program, report.gpu,
                     report.predicted ? " (predicted)" : "", time(report.total_ms()), time(report.call_ms));
}

}  // namespace

std::string profile_table(const std::string& program, const ProfileReport& report) {
  std::vector<Cells> lines{header};
  for (const KernelReport& row : report.rows) lines.push_back(cells_of(row));
  std::array<std::size_t, columns> widths{};
  for (const Cells& cells : lines)
    for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], cells[i].size());

  std::string text = title(program, report) + line_of(lines[0], widths);
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const KernelReport& row = report.rows[i];
    text += line_of(lines[i + 1], widths);
    text +=
        fmt::format("    bound by {}{}{}{}\n", row.bound, divergence(row), row.advice.empty() ? "" : ": ", row.advice);
  }
  if (std::ranges::any_of(report.rows, [](const KernelReport& row) { return row.facts.has_value(); }))
    text +=
        "DRAM: share of its peak. sectors: 32-byte pieces a warp's access touches, of those it needs. passes: of "
        "shared "
        "memory for one access.\n";
  return text;
}

}  // namespace cudal1

#include "train/data/written_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/lines.hpp"
#include "policy/search/proposal.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

std::string_view without_indent(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line;
}

bool is_comment(std::string_view line) { return line.starts_with("//") && !line.starts_with("//!"); }

//! (8, 1, 1) as 8: what is not said is 1.
std::string with_short_extents(std::string line) {
  constexpr std::string_view one = ", 1";
  for (const std::string_view name : {"grid=(", "block=("}) {
    const std::size_t begin = line.find(name);
    std::size_t end = begin == line.npos ? line.npos : line.find(')', begin);
    for (; end != line.npos && std::string_view(line).substr(0, end).ends_with(one); end -= one.size())
      line.erase(end - one.size(), one.size());
  }
  return line;
}

//! Behind a word and its blank; empty where the line begins otherwise.
std::string_view behind(std::string_view line, std::string_view beginning) {
  return line.starts_with(beginning) ? line.substr(beginning.size()) : std::string_view();
}

//! What the writer added, line by line.
class Shortener {
 public:
  explicit Shortener(std::string_view text) {
    for_each_line(text, [&](std::string_view line, int) {
      line = without_indent(line);
      if (!is_comment(line)) lines_.push_back(with_short_extents(std::string(line)));
    });
  }

  std::string text() const {
    std::string text;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].starts_with("//! hoist ")) continue;  // those of the rewrites, which stay
      text += starts_single_launch(i) ? as_kernel(lines_[i], lines_[i + 1]) : lines_[i];
      i += starts_single_launch(i) ? 1 : 0;
      text += '\n';
    }
    return text;
  }

 private:
  bool starts_single_launch(std::size_t i) const {
    return lines_[i].starts_with("//! group ") && i + 1 < lines_.size() && is_launch(i + 1) && !is_launch(i + 2);
  }

  bool is_launch(std::size_t i) const { return i < lines_.size() && lines_[i].starts_with("//! launch "); }

  //! A group of one launch in the short form.
  static std::string as_kernel(std::string_view group, std::string_view launch) {
    const std::string_view replaces = group.substr(group.find(" replaces "));
    const std::string_view call = behind(launch, "//! launch ");
    const std::size_t colon = call.find(" : ");
    return fmt::format("//! kernel {}{}{}", call.substr(0, colon), replaces, call.substr(colon));
  }

  std::vector<std::string> lines_;
};

std::string behind_lines(const std::string& text, std::ptrdiff_t lines) {
  std::size_t at = 0;
  for (; lines > 0 && at < text.size(); --lines) at = std::min(text.find('\n', at), text.size() - 1) + 1;
  return text.substr(at);
}

}  // namespace

std::optional<std::string> written_out(const OpGraph& graph, std::string_view program) {
  const auto proposal = proposal_from_text(program);
  if (!proposal) return std::nullopt;
  const std::string own = to_text(*proposal);
  const auto written = write_program(graph, own);
  if (!written) return std::nullopt;
  Proposal rest = *proposal;
  rest.fusions.clear();
  const std::string added = behind_lines(written.value().text, std::ranges::count(own, '\n'));
  return to_text(rest) + Shortener(added).text();
}

}  // namespace cudal1

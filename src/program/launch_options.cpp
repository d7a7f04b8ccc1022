#include "program/launch_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "program/expression.hpp"
#include "program/launch_limits.hpp"
#include "program/nearest_name.hpp"
#include "program/rejection.hpp"

namespace cudal1 {
namespace {

constexpr Dim3 largest_cluster{most_blocks_per_cluster, most_blocks_per_cluster, most_blocks_per_cluster};

//! One expression, or up to three in parentheses.
struct Extent {
  Dim3 sizes{1, 1, 1};
  SourcePosition at;
};

std::int64_t checked_i64(const ExpressionValue& value) {
  if (value.integer > std::numeric_limits<std::int64_t>::max())
    reject(Status::launch_error, value.at, "the size does not fit 63 bits");
  return static_cast<std::int64_t>(value.integer);
}

//! `(a + 1) * 2` begins like a list too; that shows only behind the closing parenthesis.
std::vector<ExpressionValue> read_sizes(TokenCursor& cursor, const TensorScope& scope, std::string_view option) {
  ExpressionReader reader(cursor, scope, ExpressionReader::Numbers::integers);
  if (!cursor.accept("(")) return {reader.read()};
  std::vector<ExpressionValue> sizes;
  do sizes.push_back(reader.read());
  while (cursor.accept(","));
  cursor.expect(")", fmt::format("the sizes of {}", option));
  if (sizes.size() == 1) return {reader.read_rest(sizes[0])};
  return sizes;
}

Extent read_extent(TokenCursor& cursor, const TensorScope& scope, std::string_view option, const Dim3& largest) {
  Extent extent;
  extent.at = cursor.peek().at;
  const std::vector<ExpressionValue> sizes = read_sizes(cursor, scope, option);
  if (sizes.size() > 3)
    reject(Status::parse_error, sizes[3].at, fmt::format("{} has at most three sizes, not {}", option, sizes.size()));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    extent.sizes[i] = checked_i64(sizes[i]);
    if (extent.sizes[i] < 1 || extent.sizes[i] > largest[i])
      reject(Status::launch_error, sizes[i].at,
             fmt::format("{}.{} is {}; it must be 1 to {}", option, "xyz"[i], extent.sizes[i], largest[i]));
  }
  return extent;
}

//! Each factor is at most 1024 here, so the product cannot overflow.
void refuse_large_product(const Extent& extent, std::string_view option, std::string_view unit, std::int64_t most) {
  const std::int64_t product = extent.sizes[0] * extent.sizes[1] * extent.sizes[2];
  if (product > most)
    reject(Status::launch_error, extent.at,
           fmt::format("{} has {} {}; at most {} are possible", option, product, unit, most));
}

std::int64_t read_shared_bytes(TokenCursor& cursor, const TensorScope& scope) {
  const SourcePosition at = cursor.peek().at;
  const std::int64_t bytes = read_integer(cursor, scope);
  if (bytes < 0 || bytes > most_shared_bytes)
    reject(Status::launch_error, at,
           fmt::format("shared is {} bytes; a block has 0 to {} (227 KiB)", bytes, most_shared_bytes));
  return bytes;
}

LaunchArgument read_argument(TokenCursor& cursor, const TensorScope& scope) {
  const DirectiveToken first = cursor.peek();
  if (first.is_word() && cursor.peek(1).is(":")) {
    cursor.next();
    cursor.next();
    if (!is_scalar_type(first.text))
      reject(Status::parse_error, first.at,
             fmt::format("{} is not a scalar type; there are i32, u32, i64, u64, f32 and f64", shown(first)));
    return {read_scalar(cursor, scope, first.text), first.at};
  }
  const bool names_tensor = (first.is_word() && !cursor.peek(1).is("(")) || first.kind == DirectiveTokenKind::quoted;
  if (names_tensor) {
    TensorTerm tensor = scope.read_tensor(cursor);
    if (cursor.peek().is(",") || cursor.peek().is(")")) return {std::move(tensor), first.at};
  }
  const bool number = names_tensor || first.is_word() || first.kind == DirectiveTokenKind::number || first.is("(") ||
                      first.is("-") || first.is("+");
  if (!number) reject(Status::parse_error, first.at, fmt::format("expected an argument, found {}", shown(first)));
  reject(Status::parse_error, first.at,
         "a number in args needs its type in front: i32:… (or u32:, i64:, u64:, f32:, f64:), as the kernel's "
         "parameter has it");
}

std::vector<LaunchArgument> read_arguments(TokenCursor& cursor, const TensorScope& scope) {
  std::vector<LaunchArgument> arguments;
  cursor.expect("(", "args=");
  if (cursor.accept(")")) return arguments;
  do arguments.push_back(read_argument(cursor, scope));
  while (cursor.accept(","));
  cursor.expect(")", "the arguments");
  return arguments;
}

void refuse_uneven_clusters(const LaunchDirective& launch, SourcePosition at) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (launch.grid[i] % (*launch.cluster)[i] != 0)
      reject(Status::launch_error, at,
             fmt::format("grid.{0} is {1}, which is not a multiple of cluster.{0}, {2}", "xyz"[i], launch.grid[i],
                         (*launch.cluster)[i]));
  }
}

class OptionReader {
 public:
  OptionReader(TokenCursor& cursor, const TensorScope& scope, LaunchDirective& launch)
      : cursor_(cursor), scope_(scope), launch_(launch) {}

  void run() {
    cursor_.expect(":", "the kernel and what it replaces");
    const SourcePosition end_at = launch_.at;
    while (!cursor_.at_end()) read_option();
    for (const std::string_view needed : {"grid", "block", "args"}) {
      if (!seen_.contains(needed))
        reject(Status::parse_error, end_at,
               fmt::format("{} is missing; a launch is written KERNEL : grid=(…) block=… args=(…)", needed));
    }
    if (launch_.cluster) refuse_uneven_clusters(launch_, cluster_at_);
  }

 private:
  void read_option() {
    const DirectiveToken option = cursor_.next();
    static const std::vector<std::string> options = {"grid", "block", "shared", "cluster", "args"};
    const auto known = std::find(options.begin(), options.end(), option.text);
    if (!option.is_word() || known == options.end())
      reject(Status::parse_error, option.at,
             fmt::format("expected grid=, block=, shared=, cluster= or args=, found {}{}", shown(option),
                         did_you_mean(option.text, options)));
    if (!seen_.insert(*known).second) reject(Status::parse_error, option.at, fmt::format("{} is given twice", *known));
    cursor_.expect("=", *known);
    read_value(*known);
  }

  void read_value(std::string_view option) {
    if (option == "grid") {
      launch_.grid = read_extent(cursor_, scope_, option, largest_grid).sizes;
    } else if (option == "block") {
      const Extent block = read_extent(cursor_, scope_, option, largest_block);
      refuse_large_product(block, option, "threads", most_threads_per_block);
      launch_.block = block.sizes;
    } else if (option == "cluster") {
      const Extent cluster = read_extent(cursor_, scope_, option, largest_cluster);
      refuse_large_product(cluster, option, "blocks", most_blocks_per_cluster);
      launch_.cluster = cluster.sizes;
      cluster_at_ = cluster.at;
    } else if (option == "shared") {
      launch_.shared_bytes = read_shared_bytes(cursor_, scope_);
    } else {
      launch_.args_at = cursor_.peek().at;
      launch_.args = read_arguments(cursor_, scope_);
    }
  }

  TokenCursor& cursor_;
  const TensorScope& scope_;
  LaunchDirective& launch_;
  std::set<std::string, std::less<>> seen_;
  SourcePosition cluster_at_;
};

bool is_name_token(const DirectiveToken& token) {
  return token.is_word() || token.kind == DirectiveTokenKind::number || token.kind == DirectiveTokenKind::quoted;
}

//! Without the spaces that mean nothing, so that one kernel has one name: `k<4,-1>`, but `k<unsigned int>`, `a - -1`.
void append_folded(std::string& name, const DirectiveToken& before, const DirectiveToken& token) {
  const bool same_sign = token.space_before && before.text == token.text && !is_name_token(token);
  if (same_sign || (is_name_token(before) && is_name_token(token))) name += ' ';
  name += token.kind == DirectiveTokenKind::quoted ? fmt::format("\"{}\"", token.text) : std::string(token.text);
}

void read_template_arguments(TokenCursor& cursor, std::string& name) {
  const SourcePosition open_at = cursor.peek().at;
  int angles = 0;
  int parentheses = 0;
  DirectiveToken before;
  do {
    const DirectiveToken token = cursor.next();
    if (token.kind == DirectiveTokenKind::end)
      reject(Status::parse_error, open_at, "the '<' behind the kernel's name is not closed");
    if (token.is("(")) ++parentheses;
    if (token.is(")")) --parentheses;
    if (parentheses == 0 && token.is("<")) ++angles;
    if (parentheses == 0 && token.is(">")) --angles;
    append_folded(name, before, token);
    before = token;
  } while (angles > 0);
}

}  // namespace

std::string read_kernel_name(TokenCursor& cursor) {
  std::string name;
  while (true) {
    const DirectiveToken token = cursor.next();
    if (!token.is_word())
      reject(Status::parse_error, token.at, fmt::format("expected a kernel's name, found {}", shown(token)));
    name += token.text;
    const bool qualified = cursor.peek().is(":") && cursor.peek(1).is(":") && !cursor.peek(1).space_before;
    if (!qualified) break;
    cursor.next();
    cursor.next();
    name += "::";
  }
  if (cursor.peek().is("<")) read_template_arguments(cursor, name);
  return name;
}

void read_launch_options(TokenCursor& cursor, const TensorScope& scope, LaunchDirective& launch) {
  OptionReader(cursor, scope, launch).run();
}

}  // namespace cudal1

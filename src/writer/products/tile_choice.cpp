#include "writer/products/tile_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "program/launch_limits.hpp"
#include "program/rejection.hpp"
#include "writer/usual_gpu.hpp"

namespace cudal1 {
namespace {

constexpr double launch_us = 4.0;                              // what a second kernel costs at least
constexpr double bytes_a_us = 4.2e6;                           // to and from memory
constexpr double cached_bytes_a_us = 5.5e6 / multiprocessors;  // to one multiprocessor
constexpr double copy_latency_us = 0.7;
constexpr double results_a_us = 2.5e4;  // sums that a multiprocessor finishes and stores

constexpr std::int64_t most_blocks_of_groups = 2;
constexpr std::int64_t stages_for_groups = 2;  // they have none; GPUs without groups of warps fall back on these

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

//! Sums of products that a multiprocessor adds up in a microsecond with the largest tiles.
double products_a_us(ProductMath math) {
  switch (math) {
    case ProductMath::fp32:
      return 24e6 / multiprocessors;
    case ProductMath::tf32x3:
      return 33e6 / multiprocessors;
    case ProductMath::wgmma:
      return 56e6 / multiprocessors;
    case ProductMath::tf32:
      return 90e6 / multiprocessors;
    case ProductMath::bf16:
      return 130e6 / multiprocessors;
    case ProductMath::tensor:
      break;
  }
  return 280e6 / multiprocessors;
}

std::string_view name_of(ProductMath math) {
  constexpr std::string_view names[] = {"fp32", "tf32x3", "tensor", "wgmma", "tf32", "bf16"};
  return names[static_cast<std::size_t>(math)];
}

//! Small tiles of a warp load more for each product. In parts of the largest's speed.
double efficiency(const ProductTile& tile) {
  const double rows = static_cast<double>(tile.rows / tile.warps_down);
  const double columns = static_cast<double>(tile.columns / tile.warps_across);
  const double loads_a_product = 1.0 / rows + 1.0 / columns, best = 1.0 / 64 + 1.0 / 32;
  return 1.0 / (0.6 + 0.4 * loads_a_product / best);
}

std::int64_t resident_blocks(const ProductShape& shape, const ProductOperands& operands) {
  const std::int64_t by_memory = most_shared_bytes / (shared_bytes(shape, operands) + 1024);
  const bool twice = shape.math == ProductMath::wgmma || (shape.math == ProductMath::tf32x3 && shape.loop.in_a_row > 8);
  const std::int64_t registers = (twice ? 2 : 1) * shape.tile.warp_sums() / 32 + 64;
  return std::max<std::int64_t>(1, std::min(by_memory, 65536 / (registers * shape.tile.threads())));
}

//! A guess; only the order among shapes counts.
double predicted_us(const ProductShape& shape, const ProductSizes& sizes, const ProductOperands& operands) {
  const ProductTile& tile = shape.tile;
  const std::int64_t blocks = shape.tiles_down(sizes) * shape.tiles_across(sizes) * sizes.batches * shape.split;
  const double steps = static_cast<double>(ceil_div(shape.part(sizes), tile.depth));
  const double products = static_cast<double>(tile.rows * tile.columns * tile.depth);
  const double bytes = static_cast<double>((tile.rows + tile.columns) * tile.depth * operands.element_bytes);
  const double step = std::max(products / (products_a_us(shape.math) * efficiency(tile)), bytes / cached_bytes_a_us);
  const std::int64_t of_one = ceil_div(blocks, multiprocessors);
  const double storing = static_cast<double>(tile.rows * tile.columns) / results_a_us;
  const double busy = static_cast<double>(of_one) * (steps * step + storing);
  const double rounds = static_cast<double>(ceil_div(of_one, resident_blocks(shape, operands)));
  const std::int64_t ahead = shape.math == ProductMath::wgmma ? 2 : shape.stages - 1;
  const double waiting =
      rounds * (steps * copy_latency_us / static_cast<double>(ahead) + 2 * copy_latency_us + storing);
  const double results = static_cast<double>(sizes.batches * sizes.rows * sizes.columns) * 4.0;
  if (shape.split == 1)
    return std::max(busy, waiting) + (operands.reduces_rows && shape.tiles_across(sizes) > 1 ? launch_us : 0.0);
  return std::max(busy, waiting) + launch_us + results * 2.0 * static_cast<double>(shape.split) / bytes_a_us;
}

//! Instructions for tensor cores have 16 rows and 8 columns, of which two are loaded at once; threads without tensor
//! cores have 8, 16, 32 or 64 sums.
bool can_have_warps(const ProductTile& tile, ProductMath math) {
  if (math == ProductMath::wgmma) return tile.name() == "128x128x32" && tile.warps() == "2x4";
  if (tile.rows % (16 * tile.warps_down) != 0 || tile.columns % (16 * tile.warps_across) != 0) return false;
  const std::int64_t sums = tile.warp_sums() / 32;
  if (math == ProductMath::fp32) return sums == 8 || sums == 16 || sums == 32 || sums == 64;
  return sums <= 128;
}

//! Sums of their own for what tensor cores add in a row need registers that a warp with more than 64x32 sums, or a
//! block of more than 8 such warps, does not have. Of the error budget cutting off 64 in a row takes a half where a sum
//! has 64 products, and a quarter where it has 512.
WarpLoop usual_loop(const ProductTile& tile, ProductMath math, std::int64_t depth) {
  if (math == ProductMath::wgmma) return {depth < 256 ? 32 : 64, false};
  const bool has_registers = tile.warp_sums() <= 64 * 32 && tile.threads() <= 256;
  return {has_registers ? 32 : 8, false};
}

ProductMath math_named(const std::string& name) {
  if (name == "tensor") return ProductMath::tensor;
  if (name == "wgmma") return ProductMath::wgmma;
  if (name == "tf32") return ProductMath::tf32;
  if (name == "bf16") return ProductMath::bf16;
  return name == "fp32" ? ProductMath::fp32 : ProductMath::tf32x3;
}

class ShapeChooser {
 public:
  ShapeChooser(const ProductSizes& sizes, const ProductOperands& operands, const ParameterValues& parameters)
      : sizes_(sizes), operands_(operands), parameters_(parameters) {}

  ProductShape choose() {
    ProductShape shape;
    shape.math = chosen_math();
    shape.swizzle = parameters_.is_auto("swizzle") ? 8 : parameters_.number("swizzle");
    if (const auto misfit = misfit_of(shape.math))
      reject(Status::plan_error, parameters_.at(misfit->parameter), misfit->why);
    ProductShape best = shape;
    double best_us = std::numeric_limits<double>::infinity();
    for (const ProductTile& tile : product_tiles())
      for (const std::int64_t stages : {3, 4, 2})
        for (const std::int64_t split : {1, 2, 4, 8, 16, 32}) {
          shape.tile = tile;
          shape.stages = stages;
          shape.split = split;
          choose_warps(shape);
          if (!is_wanted(shape)) continue;
          const double us = predicted_us(shape, sizes_, operands_);
          if (us < best_us * 0.999) best = shape, best_us = us;
        }
    if (best_us == std::numeric_limits<double>::infinity()) refuse(shape.math);
    return best;
  }

 private:
  ProductMath chosen_math() const {
    const bool small = operands_.element_bytes == 2;
    const std::string& math = parameters_.text("math");
    if (math == "auto") return small ? ProductMath::tensor : ProductMath::tf32x3;
    if (math == "tensor" && !small)
      reject(Status::plan_error, parameters_.at("math"),
             "math=tensor is for operands of 16 bits; fp32 ones would lose digits that the error budget asks for: take "
             "tf32x3");
    if (math != "tensor" && small)
      reject(Status::plan_error, parameters_.at("math"),
             fmt::format("math={} is for fp32 operands; those of 16 bits have math=tensor", math));
    return math_named(math);
  }

  void choose_warps(ProductShape& shape) const {
    if (const std::string& warps = parameters_.text("warps"); warps != "auto") {
      shape.tile.warps_down = warps[0] - '0';
      shape.tile.warps_across = warps[2] - '0';
    }
    shape.blocks = parameters_.is_auto("blocks") ? 1 : parameters_.number("blocks");
    shape.loop = usual_loop(shape.tile, shape.math, sizes_.depth);
    if (!parameters_.is_auto("add")) shape.loop.in_a_row = parameters_.number("add");
    if (!parameters_.is_auto("ahead")) shape.loop.ahead = parameters_.number("ahead") == 1;
  }

  //! A parameter that a math does not have, and why.
  struct Misfit {
    const char* parameter;
    std::string why;
  };

  std::optional<Misfit> misfit_of(ProductMath math) const {
    const auto of_another = [&](const char* name, const char* of) {
      return Misfit{name, fmt::format("{}={} is for math={}", name, parameters_.text(name), of)};
    };
    const bool by_warps = math == ProductMath::tf32x3, by_groups = math == ProductMath::wgmma;
    if (!by_warps && !parameters_.is_auto("ahead")) return of_another("ahead", "tf32x3");
    if (!parameters_.is_auto("add")) {
      const std::int64_t in_a_row = parameters_.number("add");
      if (in_a_row > 32 && !by_groups) return of_another("add", "wgmma");
      if (in_a_row < 32 && !by_warps) return of_another("add", "tf32x3");
      if (!by_warps && !by_groups) return of_another("add", "tf32x3 and math=wgmma");
    }
    return by_groups ? misfit_of_groups() : std::nullopt;
  }

  std::optional<Misfit> misfit_of_groups() const {
    if (operands_.left_is_gathered)
      return Misfit{
          "math",
          "math=wgmma has each thread bring elements of several rows, and the left operand is gathered row by "
          "row; take tf32x3"};
    if (!parameters_.is_auto("stages"))
      return Misfit{"stages", "stages are tiles in shared memory; with math=wgmma those to come wait in registers"};
    if (!parameters_.is_auto("blocks") && parameters_.number("blocks") > most_blocks_of_groups)
      return Misfit{"blocks", fmt::format("math=wgmma leaves room for {} blocks: each needs over 90 registers a thread and "
                                          "97 KiB of shared memory",
                                          most_blocks_of_groups)};
    return std::nullopt;
  }

  bool is_wanted(const ProductShape& shape) const {
    if (shape.split > 1 && !operands_.may_split) return false;
    if (operands_.rows_together % shape.tile.rows != 0) return false;
    if (operands_.whole_rows && shape.tiles_across(sizes_) > 1) return false;
    if (shape.math == ProductMath::wgmma && shape.stages != stages_for_groups) return false;
    const auto agrees = [&](const char* name, const std::string& value) {
      return parameters_.is_auto(name) || parameters_.text(name) == value;
    };
    if (!agrees("tile", shape.tile.name()) || !agrees("stages", std::to_string(shape.stages)) ||
        !agrees("split", std::to_string(shape.split)))
      return false;
    const bool asked_for = !shape.tile.only_on_request || !parameters_.is_auto("tile") || operands_.whole_rows;
    if (!asked_for || !can_have_warps(shape.tile, shape.math)) return false;
    return shared_bytes(shape, operands_) <= most_shared_bytes &&
           (shape.split == 1 || (shape.split - 1) * shape.part(sizes_) < sizes_.depth);
  }

  bool some_tile_can_have_warps(ProductMath math) const { return some_tile_is_wide_enough(math, 1); }

  //! Of those that can have the warps which are asked for.
  bool some_tile_is_wide_enough(ProductMath math, std::int64_t columns) const {
    return std::ranges::any_of(product_tiles(), [&](const ProductTile& tile) {
      ProductShape shape{tile, math};
      choose_warps(shape);
      return can_have_warps(shape.tile, math) && tile.columns >= columns &&
             (parameters_.is_auto("tile") || parameters_.text("tile") == tile.name());
    });
  }

  [[noreturn]] void refuse(ProductMath math) const {
    if (operands_.whole_rows && some_tile_can_have_warps(math) && !some_tile_is_wide_enough(math, sizes_.columns))
      reject(Status::plan_error, parameters_.at(math == ProductMath::wgmma ? "math" : "tile"),
             fmt::format("a block must have whole rows here, since every element needs what its row gives, and no tile "
                         "that goes with tile={} math={} has {} columns",
                         parameters_.text("tile"), parameters_.text("math"), sizes_.columns));
    if (math == ProductMath::wgmma && !some_tile_can_have_warps(math))
      reject(Status::plan_error, parameters_.at("math"), "math=wgmma has tile=128x128x32 and warps=2x4, no others");
    if (!some_tile_can_have_warps(math))
      reject(
          Status::plan_error, parameters_.at("warps"),
          fmt::format("tile={} cannot be dealt out to warps={}: a warp has multiples of 16x16 sums, at most 64x64, and "
                      "with math=fp32 256, 512, 1024 or 2048 of them",
                      parameters_.text("tile"), parameters_.text("warps")));
    const bool split = !parameters_.is_auto("split") && parameters_.number("split") > 1;
    const char* name = split ? "split" : "stages";
    reject(Status::plan_error, parameters_.at(name),
           fmt::format("tile={} stages={} split={}: that needs more than the {} bytes of shared memory of a block, or "
                       "the depth of {} has fewer tiles than parts",
                       parameters_.text("tile"), parameters_.text("stages"), parameters_.text("split"),
                       most_shared_bytes, sizes_.depth));
  }

  const ProductSizes& sizes_;
  const ProductOperands& operands_;
  const ParameterValues& parameters_;
};

}  // namespace

std::string ProductTile::warps() const { return fmt::format("{}x{}", warps_down, warps_across); }

std::string ProductTile::name() const { return fmt::format("{}x{}x{}", rows, columns, depth); }

//! A warp has 64x32 sums where it can: twice that many do not fit its registers beside those of tensor cores.
const std::vector<ProductTile>& product_tiles() {
  static const std::vector<ProductTile> tiles = {
      {128, 128, 32, 2, 4},       {128, 128, 16, 2, 4},       {256, 64, 32, 4, 2},        {256, 64, 16, 4, 2},
      {128, 64, 32, 2, 2},        {128, 64, 16, 2, 2},        {64, 128, 32, 1, 4},        {64, 64, 64, 2, 2},
      {64, 64, 32, 2, 2},         {64, 64, 16, 2, 2},         {32, 128, 32, 1, 4},        {128, 32, 32, 4, 1},
      {32, 64, 32, 2, 2},         {64, 32, 32, 4, 1},         {32, 32, 64, 2, 2},         {32, 32, 32, 2, 2},
      {16, 128, 32, 1, 4},        {128, 16, 32, 4, 1},        {16, 64, 64, 1, 4},         {64, 16, 64, 4, 1},
      {256, 128, 32, 4, 4, true}, {256, 128, 16, 4, 4, true}, {128, 256, 32, 2, 8, true}, {128, 256, 16, 2, 8, true}};
  return tiles;
}

std::int64_t ProductShape::part(const ProductSizes& sizes) const {
  return ceil_div(ceil_div(sizes.depth, tile.depth), split) * tile.depth;
}

std::int64_t shared_bytes(const ProductShape& shape, const ProductOperands& operands) {
  const ProductTile& tile = shape.tile;
  const bool turned = shape.math == ProductMath::fp32;  // lines side by side, whatever they are in memory
  const auto elements = [&](std::int64_t lines, bool along_depth) {
    return along_depth && !turned ? lines * (tile.depth + 16 / operands.element_bytes) : tile.depth * (lines + 8);
  };
  const std::int64_t stage =
      elements(tile.rows, operands.left_along_depth) + elements(tile.columns, operands.right_along_depth);
  const std::int64_t of_warps =
      std::max(shape.stages * stage * operands.element_bytes, tile.rows * (tile.columns + 4) * 4);
  if (shape.math != ProductMath::wgmma) return of_warps;
  return std::max(of_warps, 1024 + 3 * 2 * tile.columns * tile.depth * 4);  // three buffers of two parts each
}

const std::vector<Parameter>& product_parameters() {
  static const std::vector<Parameter> parameters = [] {
    Parameter tile{"tile",
                   "rows x columns of a block's results, x the depth of one stage; `rows`: a reduction for each result",
                   {"auto", "rows"}};
    for (const ProductTile& one : product_tiles()) tile.choices.push_back(one.name());
    return std::vector<Parameter>{
        tile,
        {"stages", "tiles of each operand in shared memory at a time", {"auto", "2", "3", "4"}},
        {"split", "parts of the depth that different blocks add up", {"auto", "1", "2", "4", "8", "16", "32"}},
        {"swizzle", "rows of tiles that neighbouring blocks walk down together", {"auto", "1", "2", "4", "8", "16"}},
        {"math",
         "how fp32 operands are multiplied; wgmma: as tf32x3, by groups of four warps where the GPU can (H100, H200), "
         "with tile=128x128x32; tensor: operands of 16 bits",
         {"auto", "fp32", "tf32x3", "tensor", "wgmma"},
         {"tf32", "bf16"}},
        {"warps",
         "warps of a block, down x across its results",
         {"auto", "1x4", "2x1", "2x2", "4x1", "2x4", "4x2", "4x4", "2x8"}},
        {"add",
         "products that tensor cores add before fp32 registers do; with tf32x3 8 (the fewest registers), 16 or 32, "
         "with wgmma 32 or 64 (faster)",
         {"auto", "8", "16", "32", "64"}},
        {"ahead", "1: a warp loads what it needs next while tensor cores multiply, with tf32x3", {"auto", "0", "1"}},
        {"blocks",
         "blocks for which a multiprocessor must have registers: more warps, fewer registers for each",
         {"auto", "1", "2", "3", "4"}}};
  }();
  return parameters;
}

OperandRounding rounding_of(ProductMath math) {
  if (math == ProductMath::bf16) return OperandRounding::bf16;
  return math == ProductMath::tf32 ? OperandRounding::tf32 : OperandRounding::none;
}

std::map<std::string, std::string> parameters_of(const ProductShape& shape) {
  const bool by_groups = shape.math == ProductMath::wgmma, by_warps = shape.math == ProductMath::tf32x3;
  std::map<std::string, std::string> said = {{"tile", shape.tile.name()},
                                             {"split", std::to_string(shape.split)},
                                             {"swizzle", std::to_string(shape.swizzle)},
                                             {"math", std::string(name_of(shape.math))},
                                             {"warps", shape.tile.warps()},
                                             {"blocks", std::to_string(shape.blocks)}};
  if (!by_groups) said["stages"] = std::to_string(shape.stages);
  if (by_warps || by_groups) said["add"] = std::to_string(shape.loop.in_a_row);
  if (by_warps) said["ahead"] = std::to_string(shape.loop.ahead ? 1 : 0);
  return said;
}

ProductShape choose_shape(const ProductSizes& sizes, const ProductOperands& operands,
                          const ParameterValues& parameters) {
  return ShapeChooser(sizes, operands, parameters).choose();
}

}  // namespace cudal1

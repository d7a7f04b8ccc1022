#include "writer/fused/window_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "writer/usual_gpu.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t most_kept_columns = 128;  // in registers of a thread
constexpr std::int64_t kept_by_choice = 32;      // more leave room for few warps

class WindowShapeChooser {
 public:
  WindowShapeChooser(const OpGraph& graph, const WindowSpace& space, const ParameterValues& parameters)
      : graph_(graph), space_(space), parameters_(parameters) {}

  WindowShape choose() {
    if (!space_.is_simple()) return one_output_a_thread();
    choose_width();
    if (parameters_.is_auto("items"))
      choose_items();
    else
      take_items(parameters_.number("items"));
    choose_inside();
    choose_block();
    return shape_;
  }

 private:
  //! Windows into windows, or beside each other.
  WindowShape one_output_a_thread() {
    for (const char* name : {"items", "vector"})
      if (!parameters_.is_auto(name) && parameters_.number(name) > 1)
        reject(Status::plan_error, parameters_.at(name),
               fmt::format("{}={}: with several window operators a thread computes one output", name,
                           parameters_.number(name)));
    choose_block();
    return shape_;
  }

  //! Smaller ones where there are few outputs, so that every multiprocessor gets some.
  void choose_block() {
    if (!parameters_.is_auto("block")) {
      shape_.block = parameters_.number("block");
      return;
    }
    const std::int64_t threads = space_.output_count() / (shape_.items * shape_.width);
    while (shape_.block > 64 && threads < shape_.block * multiprocessors * 2) shape_.block /= 2;
  }

  //! No window moves along what lies side by side in memory: channels are innermost.
  bool is_apart_from_windows(const Loop& loop) const {
    const auto moves_along = [&](const WindowDim& dim) {
      const bool depends = std::ranges::any_of(
          loop.atoms, [&](int atom) { return dim.index.factor_of(atom) != 0 || dim.part.factor_of(atom) != 0; });
      const bool divides = std::ranges::any_of(loop.atoms, [&](int atom) { return dim.divided.factor_of(atom) != 0; });
      return divides || (depends && (dim.loop >= 0 || dim.parts != 0 || dim.may_leave));
    };
    return std::ranges::none_of(space_.window().windows, moves_along);
  }

  void choose_width() {
    const FusedTerms::Output& first = space_.fused.outputs.front();
    const WindowCode code(graph_, space_, {}, "");
    const bool apart = is_apart_from_windows(space_.loops.back());
    if (parameters_.is_auto("vector")) {
      shape_.width = apart ? code.access().widest(first.value, first.place) : 1;
      return;
    }
    if (apart && code.access().fits(first.value, first.place, parameters_.number("vector")))
      shape_.width = parameters_.number("vector");
  }

  //! Windows that do not share columns may load several of their own elements at once.
  void choose_inside() {
    if (shape_.width > 1 || shape_.slide || parameters_.text("vector") == "1") return refuse_other_vector();
    const WindowCode code(graph_, space_, {}, "");
    if (parameters_.is_auto("vector"))
      shape_.inside = code.widest_inside();
    else if (code.fits_inside(parameters_.number("vector")))
      shape_.inside = parameters_.number("vector");
    refuse_other_vector();
  }

  void refuse_other_vector() const {
    if (parameters_.is_auto("vector")) return;
    if (const std::int64_t wanted = parameters_.number("vector"); shape_.width != wanted && shape_.inside != wanted)
      reject(Status::plan_error, parameters_.at("vector"),
             fmt::format("vector={}: no such groups of neighbours lie in memory, neither of channels nor of a window",
                         wanted));
  }

  //! The last dimension of the windows that has more than one element: places are found in order only along it.
  std::size_t last_dim() const {
    const auto& windows = space_.window().windows;
    std::size_t last = 0;
    for (std::size_t i = 0; i < windows.size(); ++i)
      if (windows[i].loop >= 0) last = i;
    return last;
  }

  bool keeps_order(std::size_t dim) const {
    return space_.window().code.find("PoolMax") == std::string::npos || dim == last_dim();
  }

  bool is_innermost(const Slide& slide) const { return slide.loop + 1 == space_.loops.size(); }

  std::optional<Slide> slide(std::size_t dim) const {
    if (!keeps_order(dim)) return std::nullopt;
    auto found = slide_along(space_, dim);
    if (found && shape_.width > 1 && is_innermost(*found)) return std::nullopt;
    return found;
  }

  //! Along a dimension in which windows overlap and whose neighbours are not neighbouring threads.
  void choose_items() {
    if (!parameters_.is_auto("along")) return take_items(4);
    for (std::size_t dim = space_.window().windows.size(); dim-- > 0;) {
      const auto found = slide(dim);
      if (!found || !found->overlaps() || is_innermost(*found)) continue;
      for (const std::int64_t items : {8, 4, 2}) {
        const bool busy = space_.output_count() / (items * shape_.width) >= threads_of_gpu;
        if (!busy || found->columns(items) * shape_.width > kept_by_choice) continue;
        if (space_.loops[found->loop].size < items) continue;
        shape_.items = items;
        shape_.slide = found;
        return;
      }
    }
  }

  void take_items(std::int64_t items) {
    if (items == 1) return;
    shape_.slide = wanted_slide(items);
    shape_.items = items;
    if (shape_.slide->columns(items) * shape_.width > most_kept_columns)
      reject(Status::plan_error, parameters_.at("items"),
             fmt::format("items={}: their windows look at {} columns, more than the {} that registers hold", items,
                         shape_.slide->columns(items) * shape_.width, most_kept_columns));
  }

  Slide wanted_slide(std::int64_t items) const {
    const std::size_t count = space_.window().windows.size();
    const std::string& along = parameters_.text("along");
    std::optional<Slide> best;
    for (std::size_t from_end = 0; from_end < std::min<std::size_t>(count, 3); ++from_end) {
      if (along != "auto" && along != std::string(1, "xyz"[from_end])) continue;
      const auto found = slide(count - 1 - from_end);
      if (found && (!best || (is_innermost(*best) && found->overlaps()))) best = found;
    }
    if (!best)
      reject(Status::plan_error, parameters_.at(along == "auto" ? "items" : "along"),
             fmt::format("items={}: no windows of neighbouring outputs overlap {}", items,
                         along == "auto" ? std::string("in a way that a thread could use") : "along " + along));
    return *best;
  }

  const OpGraph& graph_;
  const WindowSpace& space_;
  const ParameterValues& parameters_;
  WindowShape shape_;
};

//! `vector` is either of the two ways to load neighbours; there are never both.
std::map<std::string, std::string> parameters_of(const WindowSpace& space, const WindowShape& shape) {
  std::map<std::string, std::string> said = {{"items", std::to_string(shape.items)},
                                             {"vector", std::to_string(std::max(shape.width, shape.inside))},
                                             {"block", std::to_string(shape.block)}};
  if (shape.slide) said["along"] = std::string(1, "xyz"[space.window().windows.size() - 1 - shape.slide->dim]);
  return said;
}

}  // namespace

std::vector<Parameter> window_parameters() {
  return {
      {"items", "neighbouring outputs of a thread, whose windows share what they read", {"auto", "1", "2", "4", "8"}},
      {"along",
       "dimension in which these lie: x is the last, y the one before, z before that",
       {"auto", "x", "y", "z"}},
      {"vector",
       "neighbours that a thread loads at once: channels where these are innermost in memory, else elements of a "
       "window",
       {"auto", "1", "2", "4", "8"}},
      {"block", "threads of a block", {"auto", "64", "128", "256", "512", "1024"}}};
}

WindowShape choose_window_shape(const OpGraph& graph, const WindowSpace& space, const ParameterValues& parameters) {
  return WindowShapeChooser(graph, space, parameters).choose();
}

WrittenGroup write_windows(const Region& region, const ParameterValues& parameters, SourcePosition at,
                           const std::string& name) {
  const WindowSpace space = make_window_space(region, at);
  const WindowShape shape = choose_window_shape(region.graph(), space, parameters);
  WrittenGroup group = WindowCode(region.graph(), space, shape, name).write();
  group.parameters = parameters_of(space, shape);
  return group;
}

}  // namespace cudal1

// Nodes of a region -> terms: starts at what the region must write and works back to what it reads.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "program/rejection.hpp"
#include "writer/fused/region.hpp"
#include "writer/fused/terms.hpp"

namespace cudal1 {

class Lowering {
 public:
  //! `at`: of the directive; what cannot be lowered is rejected there.
  Lowering(const Region& region, SourcePosition at) : region_(region), at_(at) {}

  //! What the region must write, in an order in which the loops of the first serve the others.
  FusedTerms run(const std::vector<ValueId>& outputs);
  //! Whatever was lowered with the functions below; nothing is written.
  FusedTerms finished();
  //! Matrix products are not taken apart into loops: their sums are loads of the product's own value, for a kernel that
  //! has computed them by other means.
  void keep_products() { keeps_products_ = true; }
  //! Indices at which sums of kept products were asked for.
  std::vector<Point> kept_points() const;

  // For the rules of operators (operator_rules.hpp):
  const OpGraph& graph() const { return region_.graph(); }
  //! The term of a tensor at an index.
  int value_at(ValueId value, const Point& point);
  //! The same for a tensor that is broadcast to a result with more or larger dimensions.
  int broadcast_at(ValueId value, const Point& point);
  int map(ScalarKind kind, std::string code, std::vector<int> operands);
  int constant(ScalarKind kind, double number);
  int position(const Affine& index);
  //! `operation` over the loops: of the term `element`, which depends on them.
  int reduce(ScalarKind kind, std::string operation, std::vector<int> elements, std::vector<int> loops);
  bool keeps_products() const { return keeps_products_; }
  int kept_product(ValueId value, const Point& point);
  //! The same of what windows show; `results`: so many elements there are of this.
  int reduce_windows(ScalarKind kind, std::string operation, std::vector<int> elements, std::vector<WindowDim> windows,
                     std::int64_t results);
  //! What `make` makes, made once for this node at this index: several results of a node share it.
  int once(const Node& node, const Point& point, const std::function<int()>& make);
  //! As this kind; the same term if it is one already.
  int as(ScalarKind kind, int term);
  //! Another shape of the same memory: the index there. Nothing where it does not fall into its dimensions.
  std::optional<Point> regrouped(const Point& point, const TensorMeta& meta, const TensorMeta& other);
  //! What a node makes of a state besides its results.
  void write_state(ValueId state, const Point& point, int term);
  //! An index that runs through a dimension.
  Affine loop(std::int64_t size, std::vector<int>& loops);
  [[noreturn]] void refuse(const Node& node, std::string_view why) const;

 private:
  Point whole(const TensorMeta& meta);
  int lower_node(ValueId value, const Point& point);
  int through_view(const Value& view, const Point& point);
  bool leaves(const TensorMeta& meta, const Point& point) const;
  int load(ValueId value, const Point& point);
  int add(Term term);
  void add_output(ValueId value);
  void add_updates_in_place();
  const Point* covering_point(ValueId value) const;
  void resolve_all();

  const Region& region_;
  SourcePosition at_;
  FusedTerms made_;
  std::map<std::pair<ValueId, Point>, int> known_;
  std::map<std::pair<std::string, std::vector<int>>, int> known_maps_;
  std::map<std::pair<const Node*, Point>, int> made_once_;
  Point first_;  //!< of the first output
  std::vector<FusedTerms::Output> states_;
  bool keeps_products_ = false;
  std::vector<Point> kept_points_;
};

//! All that a region computes. Throws Rejection at `at`.
FusedTerms lower(const Region& region, SourcePosition at);

}  // namespace cudal1

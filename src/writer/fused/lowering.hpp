// Nodes of a region -> terms: starts at what the region must write and works back to what it reads.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "program/rejection.hpp"
#include "writer/fused/region.hpp"
#include "writer/fused/terms.hpp"

namespace cudal1 {

//! Whether whoever asks knows what to do with terms that are gathers.
enum class Gathers { refused, written };

class Lowering {
 public:
  //! `at`: of the directive; what cannot be lowered is rejected there.
  Lowering(const Region& region, SourcePosition at, Gathers gathers = Gathers::refused)
      : region_(region), at_(at), gathers_(gathers) {}

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
  int constant(std::int64_t number);  //!< an integer, exactly
  //! An index, as an integer.
  int position(const Affine& index);
  //! An index in 0 … size - 1 that is computed: the value of an integer term.
  Affine computed_index(int term, std::int64_t size);
  //! index / divisor and index % divisor.
  Affine quotient(const Affine& index, std::int64_t divisor);
  Affine rest(const Affine& index, std::int64_t divisor);
  //! What `value` lowers is read only where the condition holds; elsewhere it may be anything.
  int only_where(int condition, const std::function<int()>& value);
  //! `operation` over the loops: of the term `element`, which depends on them.
  int reduce(ScalarKind kind, std::string operation, std::vector<int> elements, std::vector<int> loops);
  bool keeps_products() const { return keeps_products_; }
  int kept_product(ValueId value, const Point& point);
  //! The same of what windows show; `results`: so many elements there are of this.
  int reduce_windows(ScalarKind kind, std::string operation, std::vector<int> elements, std::vector<WindowDim> windows,
                     std::int64_t results);
  //! What `make` makes, made once for this node at this index: several results of a node share it.
  int once(const Node& node, const Point& point, const std::function<int()>& make);
  //! `operation` over the elements of a dimension up to this index, at which `element` is the last of them.
  int scan(const Node& node, ScalarKind kind, std::string operation, int element, const Affine& index,
           std::int64_t size);
  //! As this kind; the same term if it is one already.
  int as(ScalarKind kind, int term);
  //! Another shape of the same memory: the index there. Nothing where it does not fall into its dimensions.
  std::optional<Point> regrouped(const Point& point, const TensorMeta& meta, const TensorMeta& other);
  //! A tensor at an index of another shape of it, elements in their order.
  int reshaped(ValueId value, const Point& point, const TensorMeta& shape);
  //! What a node makes of a state besides its results.
  void write_state(const Node& node, ValueId state, const Point& point, int term);
  //! An index that runs through a dimension.
  Affine loop(std::int64_t size, std::vector<int>& loops);
  [[noreturn]] void refuse(const Node& node, std::string_view why) const;

 private:
  Point whole(const TensorMeta& meta);
  int lower_node(ValueId value, const Point& point);
  int through_view(const Value& view, const Point& point);
  bool leaves(const TensorMeta& meta, const Point& point) const;
  Point point_in(const TensorMeta& dense, const Affine& place);
  int narrowed(DType dtype, int term);
  bool casts_to_half(ValueId value) const;
  int rounded(DType dtype, int term);
  int value_of_atom(int atom);
  int literal_term(ScalarKind kind, std::string text);
  std::optional<std::pair<Affine, Affine>> divided(const Affine& index, std::int64_t divisor);
  void check_states() const;
  int load(ValueId value, const Point& point);
  int add(Term term);
  void add_output(ValueId value);
  void add_updates_in_place();
  Point point_like_first(ValueId value) const;
  std::optional<Point> covering_point(ValueId value) const;
  std::optional<Point> point_of_kin(ValueId value) const;
  void resolve_all();

  const Region& region_;
  SourcePosition at_;
  Gathers gathers_;
  FusedTerms made_;
  std::map<std::tuple<ValueId, Point, int>, int> known_;  //!< by value, index and condition
  std::map<std::pair<std::string, std::vector<int>>, int> known_maps_;
  std::map<std::pair<const Node*, Point>, int> made_once_;
  std::map<Affine, int> known_positions_;
  std::map<std::pair<int, std::int64_t>, int> computed_atoms_;  //!< by term and size
  int condition_ = -1;                                          //!< under which what is lowered now is read
  Point first_;                                                 //!< of the first output
  std::vector<FusedTerms::Output> states_;
  std::map<ValueId, const Node*> writers_;  //!< of states
  bool keeps_products_ = false;
  std::vector<Point> kept_points_;
};

//! All that a region computes. Throws Rejection at `at`.
FusedTerms lower(const Region& region, SourcePosition at, Gathers gathers = Gathers::refused);

//! The same with matrix products kept: `points` are the indices at which their sums are asked for.
struct LoweredAroundProducts {
  FusedTerms fused;
  std::vector<Point> points;
};
LoweredAroundProducts lower_around_products(const Region& region, SourcePosition at,
                                            Gathers gathers = Gathers::refused);

}  // namespace cudal1

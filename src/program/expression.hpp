// Numbers in directives. An expression is worked out while it is read: all sizes are known, so no tree is needed,
// and a sum of a million terms costs no stack.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "program/plan.hpp"
#include "program/tensor_scope.hpp"

namespace cudal1 {

//! Integers stay exact from the least i64 to the largest u64.
struct ExpressionValue {
  bool is_real = false;
  __int128 integer = 0;
  double real = 0.0;
  SourcePosition at;  //!< where the expression begins

  double as_real() const { return is_real ? real : static_cast<double>(integer); }
};

class ExpressionReader {
 public:
  enum class Numbers {
    integers,
    reals,  //!< fractions are allowed and `/` is a true division
  };
  ExpressionReader(TokenCursor& cursor, const TensorScope& scope, Numbers numbers)
      : cursor_(cursor), scope_(scope), reals_(numbers == Numbers::reals) {}

  //! All functions throw Rejection.
  ExpressionValue read();
  //! Goes on behind a value that has been read already: `(a + b)` `* 2`.
  ExpressionValue read_rest(ExpressionValue left) { return read_sum(left); }

 private:
  ExpressionValue read_sum(std::optional<ExpressionValue> left);
  ExpressionValue read_product(std::optional<ExpressionValue> left);
  ExpressionValue read_factor();
  ExpressionValue read_nested();
  ExpressionValue read_number();
  ExpressionValue read_function();
  ExpressionValue read_of_tensor();
  ExpressionValue apply(char operation, const ExpressionValue& left, const ExpressionValue& right, SourcePosition at);
  ExpressionValue call(std::string_view function, const std::vector<ExpressionValue>& arguments, SourcePosition at);

  TokenCursor& cursor_;
  const TensorScope& scope_;
  bool reals_;
  int depth_ = 0;
};

//! An integer expression that fits i64.
std::int64_t read_integer(TokenCursor& cursor, const TensorScope& scope);

//! "i32", "u32", "i64", "u64", "f32" or "f64"?
bool is_scalar_type(std::string_view name);

//! The expression behind `i32:`; refuses values that the type cannot hold.
ScalarArgument read_scalar(TokenCursor& cursor, const TensorScope& scope, std::string_view type);

}  // namespace cudal1

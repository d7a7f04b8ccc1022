#include "graph/leaf_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "graph/meta_json.hpp"

namespace cudal1 {
namespace {

constexpr std::int64_t max_recipe_outputs = 1024;

double finite(const JsonPlace& place) {
  const double number = place.number();
  if (!std::isfinite(number)) place.fail("not a finite number");
  return number;
}

double number_or(const JsonPlace& place, const std::string& key, double otherwise) {
  const auto found = place.find(key);
  return found ? finite(*found) : otherwise;
}

Draw read_normal(const JsonPlace& place) {
  place.allow_keys({"kind", "mean", "std"});
  const Draw draw{Draw::Kind::normal, number_or(place, "mean", 0.0), number_or(place, "std", 1.0)};
  if (draw.b < 0) place.at("std").fail("a standard deviation is not negative");
  return draw;
}

Draw read_uniform(const JsonPlace& place) {
  place.allow_keys({"kind", "low", "high"});
  const Draw draw{Draw::Kind::uniform, number_or(place, "low", 0.0), number_or(place, "high", 1.0)};
  if (draw.a >= draw.b) place.fail("low must be below high");
  return draw;
}

Draw read_integers(const JsonPlace& place) {
  place.allow_keys({"kind", "low", "high"});
  constexpr std::int64_t exact_in_double = std::int64_t{1} << 53;
  for (const char* key : {"low", "high"})
    if (std::abs(static_cast<double>(place.at(key).integer())) > static_cast<double>(exact_in_double))
      place.at(key).fail("beyond 2^53");
  const Draw draw{Draw::Kind::integers, place.at("low").number(), place.at("high").number()};
  if (draw.a >= draw.b) place.fail("low must be below high (which is not drawn itself)");
  return draw;
}

Draw read_bernoulli(const JsonPlace& place) {
  place.allow_keys({"kind", "p"});
  const Draw draw{Draw::Kind::bernoulli, finite(place.at("p")), 0.0};
  if (draw.a < 0 || draw.a > 1) place.at("p").fail("a probability lies between 0 and 1");
  return draw;
}

Draw read_constant(const JsonPlace& place) {
  place.allow_keys({"kind", "value"});
  return {Draw::Kind::constant, finite(place.at("value")), 0.0};
}

Draw read_draw(const JsonPlace& place) {
  const std::string kind = place.at("kind").text();
  if (kind == "normal") return read_normal(place);
  if (kind == "uniform") return read_uniform(place);
  if (kind == "integers") return read_integers(place);
  if (kind == "bernoulli") return read_bernoulli(place);
  if (kind == "constant") return read_constant(place);
  place.at("kind").fail(fmt::format(
      "unknown draw \"{}\"; known are normal, uniform, integers, bernoulli, constant and, for inputs, computed", kind));
}

//! The smallest and largest integer of a dtype, as far as a double can say it.
std::pair<double, double> integer_range(DType dtype) {
  if (dtype == DType::boolean) return {0.0, 1.0};
  if (dtype == DType::u8) return {0.0, 255.0};
  const double half = std::ldexp(1.0, static_cast<int>(8 * size_in_bytes(dtype)) - 1);
  return {-half, half - 1.0};
}

void check_draw_fits(const Draw& draw, DType dtype, const JsonPlace& place) {
  if (is_floating(dtype)) return;
  if (draw.kind == Draw::Kind::normal || draw.kind == Draw::Kind::uniform)
    place.fail(fmt::format("this draw needs a floating dtype, not {}", to_string(dtype)));
  if (draw.kind == Draw::Kind::bernoulli) return;
  const auto [least, most] = integer_range(dtype);
  const double last = draw.kind == Draw::Kind::constant ? draw.a : draw.b - 1.0;
  if (draw.a < least || last > most || draw.a != std::floor(draw.a))
    place.fail(fmt::format("values that {} cannot hold", to_string(dtype)));
}

std::vector<std::string> read_exclusions(const JsonPlace& place) {
  place.expect_array();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < place.size(); ++i) {
    names.push_back(place.at(i).text());
    if (std::ranges::find(derived_distribution_names(), names.back()) == derived_distribution_names().end())
      place.at(i).fail(fmt::format("unknown distribution \"{}\"; known are {}", names.back(),
                                   fmt::join(derived_distribution_names(), ", ")));
  }
  return names;
}

int read_recipe_output(const JsonPlace& draw) {
  draw.allow_keys({"kind", "output"});
  const std::int64_t output = draw.at("output").integer();
  if (output < 0 || output >= max_recipe_outputs) draw.at("output").fail("not an output of the input_graph");
  return static_cast<int>(output);
}

LeafSource read_source(const JsonPlace& place, ValueKind kind, DType dtype) {
  LeafSource source;
  const auto draw = place.find("draw");
  const auto key = place.find("key");
  if (draw.has_value() == key.has_value()) place.fail("expected one of \"draw\" and \"key\"");
  if (key) {
    source.file_key = key->text();
    if (source.file_key.empty()) key->fail("empty");
  } else if (kind == ValueKind::input && draw->at("kind").text() == "computed") {
    source.recipe_output = read_recipe_output(*draw);
  } else {
    source.draw = read_draw(*draw);
    check_draw_fits(source.draw, dtype, *draw);
  }
  return source;
}

}  // namespace

const std::vector<std::string_view>& derived_distribution_names() {
  static const std::vector<std::string_view> names{"scaled",   "tiny",    "constant", "spiked",
                                                   "negative", "centred", "denormal"};
  return names;
}

void check_name(const JsonPlace& place, const std::string& name, bool dots) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto fits = [&](char c) { return is_letter(c) || is_digit(c) || (dots && c == '.'); };
  constexpr std::size_t max_name_bytes = 200;
  const bool starts_well = !name.empty() && (is_letter(name[0]) || (dots && is_digit(name[0])));  // "0.weight"
  if (!starts_well || name.size() > max_name_bytes || !std::ranges::all_of(name, fits))
    place.fail(fmt::format("\"{}\" is not a name: {}", name.substr(0, max_name_bytes),
                           dots ? "letters, digits, dots and _" : "letters, digits and _, not a digit first"));
}

std::pair<Value, LeafSource> read_leaf(const JsonPlace& place, ValueKind kind) {
  if (kind == ValueKind::input)
    place.allow_keys({"name", "dtype", "shape", "strides", "draw", "exclude"});
  else
    place.allow_keys({"name", "dtype", "shape", "strides", "draw", "key"});
  Value value;
  value.kind = kind;
  value.name = place.at("name").text();
  check_name(place.at("name"), value.name, kind != ValueKind::input);
  value.meta = read_leaf_meta(place);
  LeafSource source = read_source(place, kind, value.meta.dtype);
  if (const auto exclude = place.find("exclude")) source.excluded_distributions = read_exclusions(*exclude);
  return {std::move(value), std::move(source)};
}

}  // namespace cudal1

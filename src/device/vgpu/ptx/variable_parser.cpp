#include "device/vgpu/ptx/variable_parser.hpp"

#include <bit>

namespace cudal1::ptx {
namespace {

constexpr std::uint64_t most_elements = std::uint64_t{1} << 32;
constexpr std::uint64_t most_initial_bytes = std::uint64_t{1} << 28;

const std::map<std::string, Space, std::less<>> memory_spaces{
    {"global", Space::global}, {"const", Space::constant}, {"shared", Space::shared},
    {"local", Space::local},   {"param", Space::param},
};

//! What the compiler knows of a kernel's pointer argument: .ptr .global .align 4
void skip_pointer_attributes(TokenReader& tokens) {
  while (tokens.at_directive() && (memory_spaces.contains(tokens.now().text) || tokens.now().text == "align"))
    if (tokens.take().text == "align") tokens.expect_integer();
}

Variable read_head(TokenReader& tokens) {
  Variable variable;
  const std::string space = tokens.expect_directive("a memory space");
  const auto known = memory_spaces.find(space);
  if (known == memory_spaces.end()) tokens.fail(fmt::format("the directive '.{}' is not known", space));
  variable.space = known->second;
  std::uint64_t vector = 1;
  while (tokens.at_directive() && bytes_of_type(tokens.now().text) == 0) {
    const std::string attribute = tokens.take().text;
    if (attribute == "align")
      variable.alignment = tokens.expect_integer();
    else if (attribute == "v2" || attribute == "v4")
      vector = attribute == "v2" ? 2 : 4;
    else if (attribute == "ptr")
      skip_pointer_attributes(tokens);
    else
      tokens.fail(fmt::format("the attribute '.{}' is not known", attribute));
  }
  variable.type = tokens.expect_directive("a type");
  if (tokens.accept_directive("ptr")) skip_pointer_attributes(tokens);
  variable.elements = vector;
  const std::uint64_t natural = vector * bytes_of_type(variable.type);
  variable.alignment = std::max(variable.alignment, natural);
  if (!std::has_single_bit(variable.alignment)) tokens.fail("an alignment must be a power of two");
  return variable;
}

void read_initial_values(TokenReader& tokens, Variable& variable) {
  if (variable.bytes() > most_initial_bytes) tokens.fail("an array with initial values is too large");
  const std::uint64_t size = bytes_of_type(variable.type);
  const auto put = [&] {
    const bool negative = tokens.accept('-');
    if (!tokens.at_number()) tokens.fail("initial values must be numbers, not " + tokens.shown());
    Operand value = tokens.take_number(negative);
    if (value.kind == Operand::Kind::floating && !value.single && size == 4)
      value.bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(value.bits)));
    for (std::uint64_t i = 0; i < size; ++i)
      variable.initial.push_back(static_cast<std::uint8_t>(value.bits >> (8 * i)));
  };
  if (tokens.accept('{')) {
    int depth = 1;
    while (depth > 0) {
      if (tokens.accept('{'))
        ++depth;
      else if (tokens.accept('}'))
        --depth;
      else if (!tokens.accept(','))
        put();
      if (variable.initial.size() > variable.bytes()) tokens.fail("more initial values than elements");
    }
  } else {
    put();
  }
  variable.initial.resize(variable.bytes());
}

Variable read_tail(TokenReader& tokens, const Variable& common) {
  Variable variable = common;
  variable.name = tokens.expect_word("a name");
  while (tokens.accept('[')) {
    const std::uint64_t count = tokens.now().is(']') ? 0 : tokens.expect_integer();
    if (count > most_elements / std::max<std::uint64_t>(variable.elements, 1)) tokens.fail("an array is too large");
    variable.elements *= count;
    tokens.expect(']');
  }
  if (tokens.accept('=')) read_initial_values(tokens, variable);
  return variable;
}

}  // namespace

std::vector<Variable> read_variables(TokenReader& tokens, bool external) {
  Variable common = read_head(tokens);
  common.external = external;
  std::vector<Variable> result;
  do result.push_back(read_tail(tokens, common));
  while (tokens.accept(','));
  tokens.expect(';');
  return result;
}

std::vector<Variable> read_parameters(TokenReader& tokens) {
  tokens.expect('(');
  std::vector<Variable> parameters;
  while (!tokens.now().is(')')) {
    if (tokens.now().is_directive("reg")) tokens.fail("parameters in registers are not known");
    parameters.push_back(read_tail(tokens, read_head(tokens)));
    if (!tokens.accept(',')) break;
  }
  tokens.expect(')');
  return parameters;
}

}  // namespace cudal1::ptx

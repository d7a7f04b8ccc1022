#include "device/vgpu/ptx/instruction_parser.hpp"

#include <utility>

namespace cudal1::ptx {
namespace {

constexpr int deepest_nesting = 16;

class InstructionParser {
 public:
  InstructionParser(TokenReader& tokens, const Scopes& scopes) : tokens_(tokens), scopes_(scopes) {}

  Instruction run(const Location& at_source) {
    Instruction made;
    made.at = at_source;
    made.at.ptx_line = tokens_.now().line;
    if (tokens_.accept('@')) {
      const bool negated = tokens_.accept('!');
      made.guard = Guard{scopes_.resolve(tokens_.expect_word("a predicate")), negated};
    }
    split_opcode(tokens_.expect_word("an instruction"), made);
    while (!tokens_.now().is(';')) {
      made.operands.push_back(operand());
      if (!tokens_.accept(',') && !tokens_.accept('|')) break;  // the second result of setp and shfl follows a bar
    }
    tokens_.expect(';');
    return made;
  }

 private:
  static void split_opcode(const std::string& text, Instruction& made) {
    std::size_t begin = text.find('.');
    made.opcode = text.substr(0, begin);
    while (begin != std::string::npos) {
      const std::size_t end = text.find('.', begin + 1);
      made.modifiers.push_back(text.substr(begin + 1, end - begin - 1));
      begin = end;
    }
  }

  Operand operand() {
    if (tokens_.accept('[')) return address();
    if (tokens_.now().is('{') || tokens_.now().is('(')) return list(tokens_.now().is('{') ? '}' : ')');
    if (tokens_.accept('!')) {
      Operand predicate = named_operand();
      predicate.negated = true;
      return predicate;
    }
    const bool negative = tokens_.accept('-');
    if (tokens_.at_number()) return tokens_.take_number(negative);
    if (negative) tokens_.fail("a number expected after '-', not " + tokens_.shown());
    return named_operand();
  }

  Operand named_operand() {
    Operand named;
    named.name = scopes_.resolve(tokens_.expect_word("an operand"));
    named.offset = optional_offset();
    return named;
  }

  std::int64_t optional_offset() {
    const bool plus = tokens_.now().is('+'), minus = tokens_.now().is('-');
    if (!plus && !minus) return 0;
    tokens_.take();
    const bool inner_minus = tokens_.accept('-');  // clang writes [%rd1+-4]
    const std::uint64_t magnitude = tokens_.expect_integer();
    return static_cast<std::int64_t>(minus != inner_minus ? 0 - magnitude : magnitude);
  }

  Operand address() {
    Operand made;
    made.kind = Operand::Kind::address;
    Operand base = tokens_.at_number() ? tokens_.take_number(false) : named_operand();
    made.offset = std::exchange(base.offset, 0);
    made.elements.push_back(std::move(base));
    tokens_.expect(']');
    return made;
  }

  Operand list(char closing) {
    Operand made;
    made.kind = Operand::Kind::list;
    tokens_.take();
    if (++list_depth_ > deepest_nesting) tokens_.fail("lists are nested too deeply");
    while (!tokens_.now().is(closing)) {
      made.elements.push_back(operand());
      if (!tokens_.accept(',')) break;
    }
    --list_depth_;
    tokens_.expect(closing);
    return made;
  }

  TokenReader& tokens_;
  const Scopes& scopes_;
  int list_depth_ = 0;
};

}  // namespace

Instruction read_instruction(TokenReader& tokens, const Scopes& scopes, const Location& at_source) {
  return InstructionParser(tokens, scopes).run(at_source);
}

}  // namespace cudal1::ptx

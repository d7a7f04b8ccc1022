#include "device/vgpu/ptx/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>

namespace cudal1::ptx {
namespace {

constexpr std::uint64_t most_elements = std::uint64_t{1} << 32;
constexpr std::uint32_t most_registers = 1u << 20;
constexpr int deepest_nesting = 16;

const std::set<std::string, std::less<>> linkages{"visible", "extern", "weak", "common"};
const std::map<std::string, Space, std::less<>> memory_spaces{
    {"global", Space::global}, {"const", Space::constant}, {"shared", Space::shared},
    {"local", Space::local},   {"param", Space::param},
};
const std::set<std::string, std::less<>> kernel_limits{"maxntid",         "reqntid",           "minnctapersm",
                                                       "maxnctapersm",    "maxnreg",           "noreturn",
                                                       "explicitcluster", "reqnctapercluster", "maxclusterrank"};

//! Names declared inside braces, from the outermost scope inward.
class Scopes {
 public:
  void open() { names_.emplace_back(); }
  void close() { names_.pop_back(); }
  std::size_t depth() const { return names_.size(); }

  //! Returns the name that is unique in the function.
  std::string declare(const std::string& name) {
    const std::string unique = names_.size() > 1 ? fmt::format("{}#{}", name, ++counter_) : name;
    names_.back()[name] = unique;
    return unique;
  }

  std::string resolve(const std::string& name) const {
    for (auto scope = names_.rbegin(); scope != names_.rend(); ++scope)
      if (const auto found = scope->find(name); found != scope->end()) return found->second;
    return name;
  }

 private:
  std::vector<std::map<std::string, std::string>> names_;
  int counter_ = 0;
};

class Parser {
 public:
  explicit Parser(std::string_view ptx) : tokens_(tokenize(ptx)) {}

  Module run() {
    while (now().kind != Token::Kind::end) top_level();
    return std::move(module_);
  }

 private:
  // --- tokens
  const Token& now() const { return tokens_[at_]; }
  const Token& next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token take() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }

  [[noreturn]] void fail(const std::string& message) const { throw PtxError(now().line, message); }

  std::string shown() const { return now().kind == Token::Kind::end ? "the end" : fmt::format("'{}'", now().text); }

  bool accept(char punctuation) {
    if (!now().is(punctuation)) return false;
    take();
    return true;
  }
  void expect(char punctuation) {
    if (!accept(punctuation)) fail(fmt::format("'{}' expected, not {}", punctuation, shown()));
  }
  std::string expect_word(const char* what) {
    if (now().kind != Token::Kind::word) fail(fmt::format("{} expected, not {}", what, shown()));
    return take().text;
  }
  std::string expect_directive(const char* what) {
    if (now().kind != Token::Kind::directive) fail(fmt::format("{} expected, not {}", what, shown()));
    return take().text;
  }
  bool accept_directive(std::string_view name) {
    if (!now().is_directive(name)) return false;
    take();
    return true;
  }

  // --- numbers
  std::uint64_t integer_of(std::string text) const {
    if (!text.empty() && (text.back() == 'U' || text.back() == 'u')) text.pop_back();
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    const bool binary = text.starts_with("0b") || text.starts_with("0B");
    const bool octal = !hexadecimal && !binary && text.size() > 1 && text.front() == '0';
    const std::size_t skip = hexadecimal || binary ? 2 : octal ? 1 : 0;
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data() + skip, text.data() + text.size(), value,
                                                hexadecimal ? 16
                                                : binary    ? 2
                                                : octal     ? 8
                                                            : 10);
    if (problem != std::errc() || end != text.data() + text.size() || skip == text.size())
      fail(fmt::format("'{}' is no integer", text));
    return value;
  }

  std::uint64_t expect_integer() {
    if (now().kind != Token::Kind::number) fail("a number expected, not " + shown());
    const std::uint64_t value = integer_of(now().text);
    take();
    return value;
  }

  std::uint64_t hexadecimal_digits(const std::string& text, std::size_t digits) const {
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (problem != std::errc() || end != text.data() + text.size() || text.size() != digits + 2)
      fail(fmt::format("'{}' is no number", text));
    return value;
  }

  Operand number_operand(bool negative) {
    const std::string text = take().text;
    Operand operand;
    operand.kind = Operand::Kind::floating;
    const bool single = text.starts_with("0f") || text.starts_with("0F");
    const bool real = text.starts_with("0d") || text.starts_with("0D");
    const bool decimal = !text.starts_with("0x") && !text.starts_with("0X") && text.find('.') != std::string::npos;
    if (single) {
      operand.single = true;
      operand.bits = hexadecimal_digits(text, 8) ^ (negative ? 0x80000000u : 0u);
    } else if (real) {
      operand.bits = hexadecimal_digits(text, 16) ^ (negative ? std::uint64_t{1} << 63 : 0u);
    } else if (decimal) {
      const double value = std::strtod(text.c_str(), nullptr);
      operand.bits = std::bit_cast<std::uint64_t>(negative ? -value : value);
    } else {
      operand.kind = Operand::Kind::integer;
      operand.bits = negative ? 0 - integer_of(text) : integer_of(text);
    }
    return operand;
  }

  // --- module
  void top_level() {
    if (now().kind != Token::Kind::directive) fail("a directive expected, not " + shown());
    if (accept_directive("version")) {
      module_.version = take().text;
    } else if (accept_directive("target")) {
      module_.target = expect_word("a target");
      while (accept(',')) expect_word("a target option");
    } else if (accept_directive("address_size")) {
      if (expect_integer() != 64) fail("only 64-bit addresses are known");
    } else if (accept_directive("file")) {
      file();
    } else if (accept_directive("section")) {
      section();
    } else {
      declaration();
    }
  }

  void file() {
    const auto index = static_cast<int>(expect_integer());
    if (now().kind != Token::Kind::text) fail("a file name expected, not " + shown());
    module_.files[index] = take().text;
    while (accept(',')) expect_integer();  // time and size
  }

  //! Debug information, which is for debuggers.
  void section() {
    take();
    expect('{');
    for (int depth = 1; depth > 0;) {
      if (now().kind == Token::Kind::end) fail("a section has no end");
      const Token token = take();
      depth += token.is('{') ? 1 : token.is('}') ? -1 : 0;
    }
  }

  void declaration() {
    bool external = false;
    while (now().kind == Token::Kind::directive && linkages.contains(now().text)) external |= take().text == "extern";
    if (accept_directive("entry"))
      function(true);
    else if (accept_directive("func"))
      function(false);
    else
      for (Variable& variable : variables(external)) module_.variables.push_back(std::move(variable));
  }

  // --- variables
  std::vector<Variable> variables(bool external) {
    Variable common = variable_head();
    common.external = external;
    std::vector<Variable> result;
    do result.push_back(variable_tail(common));
    while (accept(','));
    expect(';');
    return result;
  }

  Variable variable_head() {
    Variable variable;
    const std::string space = expect_directive("a memory space");
    const auto known = memory_spaces.find(space);
    if (known == memory_spaces.end()) fail(fmt::format("the directive '.{}' is not known", space));
    variable.space = known->second;
    std::uint64_t vector = 1;
    while (now().kind == Token::Kind::directive && bytes_of_type(now().text) == 0) {
      const std::string attribute = take().text;
      if (attribute == "align")
        variable.alignment = expect_integer();
      else if (attribute == "v2" || attribute == "v4")
        vector = attribute == "v2" ? 2 : 4;
      else if (attribute == "ptr")
        pointer_attributes();
      else
        fail(fmt::format("the attribute '.{}' is not known", attribute));
    }
    variable.type = expect_directive("a type");
    if (accept_directive("ptr")) pointer_attributes();
    variable.elements = vector;
    const std::uint64_t natural = vector * bytes_of_type(variable.type);
    variable.alignment = std::max(variable.alignment, natural);
    if (!std::has_single_bit(variable.alignment)) fail("an alignment must be a power of two");
    return variable;
  }

  //! What the compiler knows of a kernel's pointer argument: .ptr .global .align 4
  void pointer_attributes() {
    while (now().kind == Token::Kind::directive && (memory_spaces.contains(now().text) || now().text == "align"))
      if (take().text == "align") expect_integer();
  }

  Variable variable_tail(const Variable& common) {
    Variable variable = common;
    variable.name = expect_word("a name");
    while (accept('[')) {
      const std::uint64_t count = now().is(']') ? 0 : expect_integer();
      if (count > most_elements || variable.elements > most_elements) fail("an array is too large");
      variable.elements *= count;
      expect(']');
    }
    if (accept('=')) initializer(variable);
    return variable;
  }

  void initializer(Variable& variable) {
    const std::uint64_t size = bytes_of_type(variable.type);
    const auto put = [&] {
      const bool negative = accept('-');
      if (now().kind != Token::Kind::number) fail("initial values must be numbers, not " + shown());
      Operand value = number_operand(negative);
      if (value.kind == Operand::Kind::floating && !value.single && size == 4)
        value.bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(value.bits)));
      for (std::uint64_t i = 0; i < size; ++i)
        variable.initial.push_back(static_cast<std::uint8_t>(value.bits >> (8 * i)));
    };
    if (accept('{')) {
      int depth = 1;
      while (depth > 0) {
        if (accept('{'))
          ++depth;
        else if (accept('}'))
          --depth;
        else if (!accept(','))
          put();
        if (variable.initial.size() > variable.bytes()) fail("more initial values than elements");
      }
    } else {
      put();
    }
    variable.initial.resize(variable.bytes());
  }

  // --- functions
  void function(bool is_entry) {
    Function made;
    made.is_entry = is_entry;
    if (now().is('(')) made.results = parameter_list();
    made.name = expect_word("a function's name");
    if (now().is('(')) made.parameters = parameter_list();
    while (now().kind == Token::Kind::directive && kernel_limits.contains(now().text)) limit(made);
    if (accept(';')) {
      made.is_declaration = true;
    } else {
      function_ = &made;
      scopes_ = Scopes();
      at_source_ = {};
      body();
    }
    module_.functions.push_back(std::move(made));
  }

  std::vector<Variable> parameter_list() {
    expect('(');
    std::vector<Variable> parameters;
    while (!now().is(')')) {
      if (now().is_directive("reg")) fail("parameters in registers are not known");
      parameters.push_back(variable_tail(variable_head()));
      if (!accept(',')) break;
    }
    expect(')');
    return parameters;
  }

  void limit(Function& made) {
    std::vector<std::uint32_t>& values = made.limits[take().text];
    while (now().kind == Token::Kind::number) {
      values.push_back(static_cast<std::uint32_t>(expect_integer()));
      if (!accept(',')) break;
    }
  }

  void body() {
    expect('{');
    scopes_.open();
    while (scopes_.depth() > 0) {
      if (now().kind == Token::Kind::end) fail("a function has no end");
      if (accept('{')) {
        if (scopes_.depth() > deepest_nesting) fail("braces are nested too deeply");
        scopes_.open();
      } else if (accept('}')) {
        scopes_.close();
      } else {
        statement();
      }
    }
  }

  void statement() {
    if (now().kind == Token::Kind::directive)
      directive_in_body();
    else if (now().kind == Token::Kind::word && next().is(':'))
      label();
    else if (!accept(';'))
      instruction();
  }

  void directive_in_body() {
    if (accept_directive("loc")) {
      source_location();
    } else if (accept_directive("reg")) {
      registers();
    } else if (accept_directive("pragma")) {
      while (!accept(';')) {
        if (now().kind == Token::Kind::end) fail("a pragma has no end");
        if (now().text.find("nounroll") != std::string::npos)
          function_->rolled_loops.insert(function_->instructions.size());
        take();
      }
    } else {
      for (Variable& variable : variables(false)) {
        variable.name = scopes_.declare(variable.name);
        function_->variables.push_back(std::move(variable));
      }
    }
  }

  //! Ends with its line; what follows the three numbers says where the code was inlined.
  void source_location() {
    const int line = now().line;
    at_source_.file = static_cast<int>(expect_integer());
    at_source_.line = static_cast<int>(expect_integer());
    at_source_.column = static_cast<int>(expect_integer());
    while (now().kind != Token::Kind::end && now().line == line) take();
  }

  void registers() {
    const std::string type = expect_directive("a type");
    if (bytes_of_type(type) == 0) fail(fmt::format("the type '.{}' is not known", type));
    do {
      RegisterFamily family{expect_word("a register's name"), type, 0};
      if (accept('<')) {
        const std::uint64_t count = expect_integer();
        if (count > most_registers) fail("too many registers");
        family.count = static_cast<std::uint32_t>(count);
        expect('>');
      } else {
        family.name = scopes_.declare(family.name);
      }
      function_->registers.push_back(std::move(family));
    } while (accept(','));
    expect(';');
  }

  void label() {
    const std::string name = take().text;
    expect(':');
    if (accept_directive("branchtargets")) {
      std::vector<std::string>& targets = function_->branch_targets[name];
      do targets.push_back(expect_word("a label"));
      while (accept(','));
      expect(';');
    } else if (!function_->labels.emplace(name, function_->instructions.size()).second) {
      fail(fmt::format("the label '{}' is there twice", name));
    }
  }

  // --- instructions
  void instruction() {
    Instruction made;
    made.at = at_source_;
    made.at.ptx_line = now().line;
    if (accept('@')) {
      const bool negated = accept('!');
      made.guard = Guard{scopes_.resolve(expect_word("a predicate")), negated};
    }
    split_opcode(expect_word("an instruction"), made);
    while (!now().is(';')) {
      made.operands.push_back(operand());
      if (!accept(',') && !accept('|')) break;  // the second result of setp and shfl follows a bar
    }
    expect(';');
    function_->instructions.push_back(std::move(made));
  }

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
    if (accept('[')) return address();
    if (now().is('{') || now().is('(')) return list(now().is('{') ? '}' : ')');
    if (accept('!')) {
      Operand predicate = named_operand();
      predicate.negated = true;
      return predicate;
    }
    const bool negative = accept('-');
    if (now().kind == Token::Kind::number) return number_operand(negative);
    if (negative) fail("a number expected after '-', not " + shown());
    return named_operand();
  }

  Operand named_operand() {
    Operand named;
    named.name = scopes_.resolve(expect_word("an operand"));
    named.offset = optional_offset();
    return named;
  }

  std::int64_t optional_offset() {
    const bool plus = now().is('+'), minus = now().is('-');
    if (!plus && !minus) return 0;
    take();
    const bool inner_minus = accept('-');  // clang writes [%rd1+-4]
    const auto magnitude = static_cast<std::int64_t>(expect_integer());
    return minus != inner_minus ? -magnitude : magnitude;
  }

  Operand address() {
    Operand made;
    made.kind = Operand::Kind::address;
    Operand base = now().kind == Token::Kind::number ? number_operand(false) : named_operand();
    made.offset = std::exchange(base.offset, 0);
    made.elements.push_back(std::move(base));
    expect(']');
    return made;
  }

  Operand list(char closing) {
    Operand made;
    made.kind = Operand::Kind::list;
    take();
    if (++list_depth_ > deepest_nesting) fail("lists are nested too deeply");
    while (!now().is(closing)) {
      made.elements.push_back(operand());
      if (!accept(',')) break;
    }
    --list_depth_;
    expect(closing);
    return made;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Module module_;
  Function* function_ = nullptr;
  Scopes scopes_;
  Location at_source_;
  int list_depth_ = 0;
};

}  // namespace

Module parse(std::string_view ptx) { return Parser(ptx).run(); }

}  // namespace cudal1::ptx

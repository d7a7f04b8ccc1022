#include "device/vgpu/ptx/function_parser.hpp"

#include <set>
#include <utility>

#include "device/vgpu/ptx/instruction_parser.hpp"
#include "device/vgpu/ptx/scopes.hpp"
#include "device/vgpu/ptx/variable_parser.hpp"

namespace cudal1::ptx {
namespace {

constexpr std::uint32_t most_registers = 1u << 20;
constexpr int deepest_nesting = 16;

const std::set<std::string, std::less<>> kernel_limits{"maxntid",         "reqntid",           "minnctapersm",
                                                       "maxnctapersm",    "maxnreg",           "noreturn",
                                                       "explicitcluster", "reqnctapercluster", "maxclusterrank"};

class FunctionParser {
 public:
  explicit FunctionParser(TokenReader& tokens) : tokens_(tokens) {}

  Function run(bool is_entry) {
    function_.is_entry = is_entry;
    if (tokens_.now().is('(')) function_.results = read_parameters(tokens_);
    function_.name = tokens_.expect_word("a function's name");
    if (tokens_.now().is('(')) function_.parameters = read_parameters(tokens_);
    while (tokens_.at_directive() && kernel_limits.contains(tokens_.now().text)) limit();
    function_.is_declaration = tokens_.accept(';');
    if (!function_.is_declaration) body();
    return std::move(function_);
  }

 private:
  void limit() {
    std::vector<std::uint32_t>& values = function_.limits[tokens_.take().text];
    while (tokens_.at_number()) {
      values.push_back(static_cast<std::uint32_t>(tokens_.expect_integer()));
      if (!tokens_.accept(',')) break;
    }
  }

  void body() {
    tokens_.expect('{');
    scopes_.open();
    while (scopes_.depth() > 0) {
      if (tokens_.at_end()) tokens_.fail("a function has no end");
      if (tokens_.accept('{')) {
        if (scopes_.depth() > deepest_nesting) tokens_.fail("braces are nested too deeply");
        scopes_.open();
      } else if (tokens_.accept('}')) {
        scopes_.close();
      } else {
        statement();
      }
    }
  }

  void statement() {
    if (tokens_.at_directive())
      directive_in_body();
    else if (tokens_.now().kind == Token::Kind::word && tokens_.next().is(':'))
      label();
    else if (!tokens_.accept(';'))
      function_.instructions.push_back(read_instruction(tokens_, scopes_, at_source_));
  }

  void directive_in_body() {
    if (tokens_.accept_directive("loc")) {
      source_location();
    } else if (tokens_.accept_directive("reg")) {
      registers();
    } else if (tokens_.accept_directive("pragma")) {
      while (!tokens_.accept(';')) {
        if (tokens_.at_end()) tokens_.fail("a pragma has no end");
        if (tokens_.now().text.find("nounroll") != std::string::npos)
          function_.rolled_loops.insert(function_.instructions.size());
        tokens_.take();
      }
    } else {
      for (Variable& variable : read_variables(tokens_, false)) {
        variable.name = scopes_.declare(variable.name);
        function_.variables.push_back(std::move(variable));
      }
    }
  }

  //! Ends with its line; what follows the three numbers says where the code was inlined.
  void source_location() {
    const int line = tokens_.now().line;
    at_source_.file = static_cast<int>(tokens_.expect_integer());
    at_source_.line = static_cast<int>(tokens_.expect_integer());
    at_source_.column = static_cast<int>(tokens_.expect_integer());
    while (!tokens_.at_end() && tokens_.now().line == line) tokens_.take();
  }

  void registers() {
    const std::string type = tokens_.expect_directive("a type");
    if (bytes_of_type(type) == 0) tokens_.fail(fmt::format("the type '.{}' is not known", type));
    do {
      RegisterFamily family{tokens_.expect_word("a register's name"), type, 0};
      if (tokens_.accept('<')) {
        const std::uint64_t count = tokens_.expect_integer();
        if (count > most_registers) tokens_.fail("too many registers");
        family.count = static_cast<std::uint32_t>(count);
        tokens_.expect('>');
      } else {
        family.name = scopes_.declare(family.name);
      }
      function_.registers.push_back(std::move(family));
    } while (tokens_.accept(','));
    tokens_.expect(';');
  }

  void label() {
    const std::string name = tokens_.take().text;
    tokens_.expect(':');
    if (tokens_.accept_directive("branchtargets")) {
      std::vector<std::string>& targets = function_.branch_targets[name];
      do targets.push_back(tokens_.expect_word("a label"));
      while (tokens_.accept(','));
      tokens_.expect(';');
    } else if (tokens_.now().is_directive("callprototype")) {
      throw CallThroughPointer(tokens_.now().line);
    } else if (!function_.labels.emplace(name, function_.instructions.size()).second) {
      tokens_.fail(fmt::format("the label '{}' is there twice", name));
    }
  }

  TokenReader& tokens_;
  Function function_;
  Scopes scopes_;
  Location at_source_;
};

}  // namespace

Function read_function(TokenReader& tokens, bool is_entry) { return FunctionParser(tokens).run(is_entry); }

}  // namespace cudal1::ptx

#include "compile/ptx_globals.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <vector>

namespace cudal1 {
namespace {

using Tokens = std::vector<std::string_view>;
using Names = std::set<std::string_view>;

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

//! Words (with a leading '%' or '.'), strings, and single punctuation characters; comments are dropped.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Tokens run() {
    Tokens tokens;
    while (skip_blanks_and_comments()) tokens.push_back(take_token());
    return tokens;
  }

 private:
  bool skip_blanks_and_comments() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) || text_[at_] == '\0') {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_, 2) == "/*") {
        const std::size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return true;
      }
    }
    return false;
  }

  std::string_view take_token() {
    const std::size_t start = at_++;
    const char first = text_[start];
    if (first == '"') {
      at_ = std::min(text_.find('"', at_), text_.size() - 1) + 1;
    } else if (is_word_character(first) || first == '%' || first == '.') {
      while (at_ < text_.size() && is_word_character(text_[at_])) ++at_;
    }
    return text_.substr(start, at_ - start);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

//! One `;`-terminated piece: the operation with its dotted suffixes, and the operands, split at top-level commas.
struct Instruction {
  std::string operation;  // "ld.global.nc.f32"
  std::vector<Tokens> operands;
};

bool is_number(std::string_view token) { return !token.empty() && std::isdigit(static_cast<unsigned char>(token[0])); }

//! Position after a .loc or .file directive that starts at `at`; these end without a semicolon.
std::size_t skip_line_information(const Tokens& tokens, std::size_t at) {
  const auto token = [&](std::size_t i) { return i < tokens.size() ? tokens[i] : std::string_view(); };
  if (token(at) == ".file") {
    at += 3;  // .file NUMBER "name"
    while (token(at) == "," && is_number(token(at + 1))) at += 2;
    return at;
  }
  at += 4;  // .loc FILE LINE COLUMN
  if (token(at) == "," && token(at + 1) == "function_name") {
    at += 3;
    if (token(at) == "+") at += 2;
    if (token(at) == "," && token(at + 1) == "inlined_at") at += 5;
  }
  return at;
}

Instruction parse_instruction(const Tokens& tokens) {
  std::size_t at = 0;
  const auto size = tokens.size();
  for (;;) {
    if (at < size && (tokens[at] == ".loc" || tokens[at] == ".file")) {
      at = skip_line_information(tokens, at);
    } else if (at + 1 < size && tokens[at + 1] == ":") {
      at += 2;  // a label
    } else {
      break;
    }
  }
  if (at < size && tokens[at] == "@") at += at + 1 < size && tokens[at + 1] == "!" ? 3 : 2;
  Instruction instruction;
  for (bool first = true; at < size && (first || tokens[at][0] == '.' || tokens[at] == ":"); ++at, first = false) {
    instruction.operation += tokens[at];
    // shared::cluster: the word after the colons belongs to the operation
    if (tokens[at] == ":" && at + 1 < size && tokens[at + 1] != ":") instruction.operation += tokens[++at];
  }
  int depth = 0;
  if (at < size) instruction.operands.emplace_back();
  for (; at < size; ++at) {
    if (tokens[at] == "," && depth == 0) {
      instruction.operands.emplace_back();
      continue;
    }
    if (tokens[at] == "{" || tokens[at] == "[" || tokens[at] == "(") ++depth;
    if (tokens[at] == "}" || tokens[at] == "]" || tokens[at] == ")") --depth;
    instruction.operands.back().push_back(tokens[at]);
  }
  return instruction;
}

bool begins_with(std::string_view operation, std::string_view name) {
  return operation.starts_with(name) && (operation.size() == name.size() || operation[name.size()] == '.');
}

bool is_immediate(const Tokens& operand) {
  const bool negative = operand.size() == 2 && operand[0] == "-";
  return (operand.size() == 1 || negative) && is_number(operand.back());
}

//! Does the operation keep an address one, if it is in this operand alone: is the result an address in, or before, or
//! behind the same variable? Whatever else computes with an address (masks, shifts, products, halves, comparisons)
//! makes numbers of it that a table can turn back into an address where nobody follows it.
bool keeps_address(const Instruction& instruction, std::size_t operand) {
  const std::string_view operation = instruction.operation;
  if (instruction.operands[0].size() != 1) return false;  // mov.b64 {%r1, %r2} takes an address apart
  if (begins_with(operation, "mov") || begins_with(operation, "cvta") || begins_with(operation, "add")) return true;
  if (begins_with(operation, "sub")) return operand == 1;
  if (begins_with(operation, "mad")) return operand == 3;
  if (begins_with(operation, "selp")) return operand != 3;
  // An aligned address with an offset: clang writes an addition so.
  return begins_with(operation, "or") && instruction.operands.size() == 3 &&
         is_immediate(instruction.operands[3 - operand]);
}

bool is_plain_load(std::string_view operation) { return begins_with(operation, "ld") || begins_with(operation, "ldu"); }

// Real code settles in two or three passes. A text that is built to need thousands must not hold us up.
constexpr int most_passes = 12;

//! Follows addresses of variables through the registers of one function.
class FunctionAnalysis {
 public:
  FunctionAnalysis(const Names& variables, Names& writable) : variables_(variables), writable_(writable) {}

  void add(const Tokens& tokens) { instructions_.push_back(parse_instruction(tokens)); }

  void run() {
    for (int pass = 0; pass < most_passes; ++pass) {
      changed_ = false;
      for (const auto& instruction : instructions_) visit(instruction);
      if (!changed_) return;
    }
    mark_writable(variables_);
  }

 private:
  Names addresses_in(const Tokens& operand) const {
    Names found;
    for (const auto& token : operand) {
      if (variables_.contains(token)) found.insert(token);
      if (const auto known = held_by_.find(token); known != held_by_.end())
        found.insert(known->second.begin(), known->second.end());
    }
    return found;
  }

  void visit(const Instruction& instruction) {
    Names sources;
    std::vector<std::size_t> places;
    for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
      const Names names = addresses_in(instruction.operands[i]);
      if (!names.empty()) places.push_back(i);
      sources.insert(names.begin(), names.end());
    }
    Names everywhere = sources;
    if (!instruction.operands.empty()) everywhere.merge(addresses_in(instruction.operands[0]));
    if (everywhere.empty() || is_plain_load(instruction.operation)) return;
    const auto keeps = [&](std::size_t place) { return keeps_address(instruction, place); };
    // A choice between two addresses is an address; their sum is not.
    const bool one_address = places.size() == 1 || begins_with(instruction.operation, "selp");
    if (!places.empty() && one_address && std::ranges::all_of(places, keeps)) {
      hold(instruction.operands[0], sources);
    } else {
      mark_writable(everywhere);
    }
  }

  void hold(const Tokens& registers, const Names& names) {
    for (const auto& name : registers) {
      if (!is_word_character(name[0]) && name[0] != '%') continue;
      Names& held = held_by_[name];
      const std::size_t before = held.size();
      held.insert(names.begin(), names.end());
      changed_ |= held.size() != before;
    }
  }

  void mark_writable(const Names& names) {
    for (const auto& name : names) changed_ |= writable_.insert(name).second;
  }

  const Names& variables_;
  Names& writable_;
  std::vector<Instruction> instructions_;
  std::map<std::string_view, Names> held_by_;
  bool changed_ = false;
};

class ModuleAnalysis {
 public:
  explicit ModuleAnalysis(std::string_view ptx) : tokens_(Lexer(ptx).run()) {}

  void run() {
    for (at_ = 0; at_ < tokens_.size();) declare();
    for (at_ = 0; at_ < tokens_.size();) analyse();
  }

  std::set<std::string> read_only() const {
    std::set<std::string> read_only;
    for (const auto& name : variables_)
      if (!writable_.contains(name)) read_only.emplace(name);
    return read_only;
  }

  std::vector<WritableVariable> writable() const {
    std::vector<WritableVariable> found;
    for (const auto& name : variables_)
      if (writable_.contains(name)) found.push_back({std::string(name), constants_.contains(name)});
    for (const auto& name : scoped_) found.push_back({std::string(name), false});
    return found;
  }

  std::vector<std::string> external_functions() const {
    std::vector<std::string> found;
    for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
      if (tokens_[i] != ".extern" || tokens_[i + 1] != ".func") continue;
      std::size_t name = i + 2;
      if (tokens_[name] == "(")
        name = static_cast<std::size_t>(std::find(tokens_.begin() + static_cast<long>(name), tokens_.end(), ")") -
                                        tokens_.begin()) +
               1;
      if (name < tokens_.size()) found.emplace_back(tokens_[name]);
    }
    return found;
  }

 private:
  static bool is_variable_space(std::string_view token) { return token == ".global" || token == ".const"; }

  //! First pass: the names of all variables. The name is the first word after `.global` that is neither a type, an
  //! alignment nor an attribute. A name that is missed here counts as writable.
  void declare() {
    const std::string_view token = tokens_[at_];
    if (token == "{" || token == "(") ++depth_;
    if (token == "}" || token == ")") --depth_;
    if (depth_ != 0 || !is_variable_space(token)) {
      ++at_;
      return;
    }
    const bool constant = token == ".const";
    for (++at_; at_ < tokens_.size() && tokens_[at_] != ";"; ++at_) {
      if (tokens_[at_] == ".attribute") {
        while (at_ < tokens_.size() && tokens_[at_] != ")") ++at_;
      } else if (tokens_[at_][0] != '.' && !is_number(tokens_[at_])) {
        variables_.insert(tokens_[at_]);
        if (constant) constants_.insert(tokens_[at_]);
        break;
      }
    }
    while (at_ < tokens_.size() && tokens_[at_] != ";") ++at_;
  }

  //! Second pass: function bodies one by one; an address outside of them (an initialiser) escapes.
  void analyse() {
    const std::string_view token = tokens_[at_];
    if (token == "{") return analyse_function();
    if (token == "(") return skip_parameters();
    if (is_variable_space(token)) return analyse_initialiser();
    ++at_;
  }

  void skip_parameters() {
    while (at_ < tokens_.size() && tokens_[at_] != ")") ++at_;
  }

  void analyse_initialiser() {
    while (at_ < tokens_.size() && tokens_[at_] != "=" && tokens_[at_] != ";") ++at_;
    for (; at_ < tokens_.size() && tokens_[at_] != ";"; ++at_)
      if (variables_.contains(tokens_[at_])) writable_.insert(tokens_[at_]);
    ++at_;
  }

  void analyse_function() {
    FunctionAnalysis function(variables_, writable_);
    int depth = 0, grouping = 0;
    Tokens pending;
    const auto finish_instruction = [&] {
      if (!pending.empty()) function.add(pending);
      note_scoped_variable(pending);
      pending.clear();
      grouping = 0;
    };
    do {
      const std::string_view token = tokens_[at_++];
      // Braces inside an instruction group registers; at its start they open a scope.
      if (token == "{" && grouping == 0 && only_positions(pending)) {
        ++depth;
      } else if (token == "}" && grouping == 0) {
        finish_instruction();
        --depth;
      } else if (token == ";") {
        finish_instruction();
      } else {
        grouping += token == "{" ? 1 : token == "}" ? -1 : 0;
        pending.push_back(token);
      }
    } while (depth > 0 && at_ < tokens_.size());
    finish_instruction();
    function.run();
  }

  //! Assembly in a function may declare variables that live as long as the module.
  void note_scoped_variable(const Tokens& pending) {
    const std::string operation = parse_instruction(pending).operation;
    if (!operation.starts_with(".global") && !operation.starts_with(".const")) return;
    for (const auto& token : pending)
      if (std::isalpha(static_cast<unsigned char>(token[0])) || token[0] == '_') return void(scoped_.insert(token));
  }

  //! Nothing but line information and labels so far.
  static bool only_positions(const Tokens& pending) {
    return pending.empty() || parse_instruction(pending).operation.empty();
  }

  Tokens tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Names variables_;
  Names constants_;
  Names scoped_;
  Names writable_;
};

}  // namespace

std::set<std::string> read_only_globals(std::string_view ptx) {
  ModuleAnalysis module(ptx);
  module.run();
  return module.read_only();
}

std::vector<WritableVariable> writable_variables(std::string_view ptx) {
  ModuleAnalysis module(ptx);
  module.run();
  return module.writable();
}

std::vector<std::string> external_functions(std::string_view ptx) { return ModuleAnalysis(ptx).external_functions(); }

}  // namespace cudal1

#include "program/kernel_signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "program/nearest_name.hpp"
#include "program/rejection.hpp"

namespace cudal1 {
namespace {

using TokenList = std::vector<const CodeToken*>;

// Bounds on how far a declaration is followed, so that hostile text costs no more than its length.
constexpr std::size_t longest_declaration = 4096;
constexpr std::size_t longest_template_arguments = 256;

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool opens(std::string_view text) { return text == "(" || text == "[" || text == "{"; }
bool closes(std::string_view text) { return text == ")" || text == "]" || text == "}"; }

//! For each token that opens a bracket, the index of the one that closes it; for all others the end.
std::vector<std::size_t> matching_brackets(const std::vector<CodeToken>& tokens) {
  std::vector<std::size_t> closing(tokens.size(), tokens.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].in_preprocessor) continue;
    if (opens(tokens[i].text)) open.push_back(i);
    if (!closes(tokens[i].text) || open.empty()) continue;
    closing[open.back()] = i;
    open.pop_back();
  }
  return closing;
}

int angle_change(std::string_view text) {
  if (text == "<") return 1;
  if (text == ">") return -1;
  return text == ">>" ? -2 : 0;
}

//! Behind the template arguments that begin at `open`, if they are closed before anything that cannot be in them.
std::size_t behind_template_arguments(const std::vector<CodeToken>& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < std::min(tokens.size(), open + longest_template_arguments); ++i) {
    if (is_one_of<4>(tokens[i].text, {";", "{", "}", "__global__"})) break;
    depth += angle_change(tokens[i].text);
    if (depth <= 0) return i + 1;
  }
  return open;
}

bool may_name_kernel(const CodeToken& token) {
  return token.kind == CodeTokenKind::word && !token.text.starts_with("__") &&
         !is_one_of<4>(token.text, {"noexcept", "requires", "alignas", "decltype"});
}

//! Where a kernel's name stands and its parameters begin and end.
struct KernelPlace {
  std::string_view name;
  std::size_t open = 0;
  std::size_t close = 0;
};

//! From `__global__` to the body: the last `word (…)` is the function, those before it are attributes.
std::optional<KernelPlace> find_kernel(const std::vector<CodeToken>& tokens, const std::vector<std::size_t>& closing,
                                       std::size_t begin) {
  std::optional<KernelPlace> place;
  const std::size_t end = std::min(tokens.size(), begin + longest_declaration);
  for (std::size_t i = begin; i < end;) {
    const CodeToken& token = tokens[i];
    if (!token.in_preprocessor && is_one_of<4>(token.text, {";", "{", "}", "__global__"})) break;
    const bool word = token.kind == CodeTokenKind::word && !token.in_preprocessor;
    std::size_t open = i + 1;
    if (word && open < end && tokens[open].text == "<") open = behind_template_arguments(tokens, open);
    if (!word || open >= end || tokens[open].text != "(") {
      ++i;
      continue;
    }
    const std::size_t close = closing[open];
    if (close == tokens.size()) break;
    if (may_name_kernel(token)) place = KernelPlace{token.text, open, close};
    i = close + 1;
  }
  return place;
}

std::vector<TokenList> split_parameters(const std::vector<CodeToken>& tokens, const KernelPlace& place) {
  std::vector<TokenList> parameters(1);
  int depth = 0;
  for (std::size_t i = place.open + 1; i < place.close; ++i) {
    const std::string_view text = tokens[i].text;
    depth += opens(text) ? 1 : closes(text) ? -1 : angle_change(text);
    if (depth == 0 && text == ",")
      parameters.emplace_back();
    else
      parameters.back().push_back(&tokens[i]);
  }
  const bool none = parameters.size() == 1 &&
                    (parameters[0].empty() || (parameters[0].size() == 1 && parameters[0][0]->text == "void"));
  if (none) parameters.clear();
  return parameters;
}

std::string joined(const TokenList& tokens) {
  std::string text;
  for (const CodeToken* token : tokens) {
    if (!text.empty() && token->space_before) text += ' ';
    text += token->text;
  }
  return text;
}

bool is_qualifier(std::string_view word) {
  return is_one_of<8>(
      word, {"const", "volatile", "__restrict__", "__restrict", "restrict", "__grid_constant__", "typename", "struct"});
}

//! The words of the type that starts a parameter: `unsigned int` of `unsigned int n`, `T` of `T x`. Of a qualified
//! name the last word; nothing where template arguments follow.
std::vector<std::string_view> type_words(const TokenList& tokens) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i]->text;
    if (is_qualifier(text)) continue;
    if (text == "::" || (i + 1 < tokens.size() && tokens[i + 1]->text == "::")) continue;
    if (tokens[i]->kind != CodeTokenKind::word) return text == "<" ? std::vector<std::string_view>{} : words;
    if (!words.empty() && !is_builtin_type_word(text)) return words;
    words.push_back(text);
    if (!is_builtin_type_word(text) && !(i + 1 < tokens.size() && tokens[i + 1]->text == "<")) return words;
  }
  return words;
}

KernelParameter::Form form_of(const TokenList& tokens) {
  int stars = 0;
  int depth = 0;
  for (const CodeToken* token : tokens) {
    if (token->text == "=") break;
    if (token->text == "&" || token->text == "&&" || token->text == "(") return KernelParameter::Form::unknown;
    depth += angle_change(token->text);
    if (depth == 0 && (token->text == "*" || token->text == "[")) ++stars;
  }
  if (stars == 0) return KernelParameter::Form::value;
  return stars == 1 ? KernelParameter::Form::pointer : KernelParameter::Form::unknown;
}

//! `const float* x` and `float const* x`, not `float* const x`. A template argument may be const without saying so
//! here; that only makes a launch wait for others.
bool points_to_const(const TokenList& tokens) {
  for (const CodeToken* token : tokens) {
    if (token->text == "const") return true;
    if (is_one_of<4>(token->text, {"*", "<", "[", "="})) return false;
  }
  return false;
}

KernelParameter read_parameter(const TokenList& tokens) {
  const KernelParameter::Form form = form_of(tokens);
  return {joined(tokens), form, element_type(type_words(tokens)),
          form == KernelParameter::Form::pointer && points_to_const(tokens)};
}

[[noreturn]] void reject_argument(const LaunchDirective& launch, std::size_t index, const KernelParameter& parameter,
                                  std::string_view complaint) {
  reject(Status::plan_error, launch.args[index].at,
         fmt::format("argument {} of kernel {} is for its parameter {}, {}", index + 1, quoted(launch.kernel),
                     quoted(parameter.text), complaint));
}

void check_tensor(const LaunchDirective& launch, std::size_t index, const KernelParameter& parameter,
                  const TensorTerm& tensor) {
  const std::string what = fmt::format("{}, {}", quoted(tensor.name), to_string(tensor.meta));
  if (parameter.form == KernelParameter::Form::value && parameter.type)
    reject_argument(launch, index, parameter, fmt::format("which takes a number, but it is the tensor {}", what));
  if (parameter.form == KernelParameter::Form::pointer && parameter.type &&
      !fits_tensor(*parameter.type, tensor.meta.dtype))
    reject_argument(launch, index, parameter, fmt::format("whose elements have another type than {}", what));
}

void check_scalar(const LaunchDirective& launch, std::size_t index, const KernelParameter& parameter,
                  const ScalarArgument& scalar) {
  if (parameter.form == KernelParameter::Form::pointer)
    reject_argument(launch, index, parameter,
                    fmt::format("which takes a tensor, but it is a number ({})", scalar.type));
  if (parameter.form != KernelParameter::Form::value || !parameter.type || fits_scalar(*parameter.type, scalar)) return;
  const std::string_view prefix = argument_prefix(*parameter.type);
  reject_argument(launch, index, parameter,
                  prefix.empty() ? "a type that no argument has; use int, long long, float or double there"
                                 : fmt::format("which needs {}…, but it is {}", prefix, scalar.type));
}

void check_signature(const LaunchDirective& launch, const KernelSignature& signature) {
  if (!signature.readable) return;
  if (launch.args.size() != signature.parameters.size())
    reject(Status::plan_error, launch.args_at,
           fmt::format("kernel {} has {} parameters, but args has {}", quoted(launch.kernel),
                       signature.parameters.size(), launch.args.size()));
  for (std::size_t i = 0; i < launch.args.size(); ++i) {
    const KernelParameter& parameter = signature.parameters[i];
    const auto& content = launch.args[i].content;
    if (const auto* tensor = std::get_if<TensorTerm>(&content))
      check_tensor(launch, i, parameter, *tensor);
    else
      check_scalar(launch, i, parameter, std::get<ScalarArgument>(content));
  }
}

//! "row_softmax" of "kernels::row_softmax<256>".
std::string_view base_name(std::string_view kernel) {
  kernel = kernel.substr(0, kernel.find('<'));
  const std::size_t colons = kernel.rfind("::");
  return colons == kernel.npos ? kernel : kernel.substr(colons + 2);
}

}  // namespace

KernelCatalog::KernelCatalog(const std::vector<CodeToken>& tokens) {
  collect_macros(tokens);
  const std::vector<std::size_t> closing = matching_brackets(tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].text != "__global__" || tokens[i].in_preprocessor) continue;
    const std::optional<KernelPlace> place = find_kernel(tokens, closing, i + 1);
    if (!place) continue;
    KernelSignature signature;
    for (std::size_t k = place->open + 1; k < place->close; ++k) {
      if (tokens[k].in_preprocessor || tokens[k].text == "..." || macros_.contains(tokens[k].text))
        signature.readable = false;
    }
    for (const TokenList& parameter : split_parameters(tokens, *place))
      signature.parameters.push_back(read_parameter(parameter));
    kernels_[std::string(place->name)].push_back(std::move(signature));
    i = place->close;
  }
}

void KernelCatalog::collect_macros(const std::vector<CodeToken>& tokens) {
  bool pastes = false;
  bool defines_global = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const CodeToken& token = tokens[i];
    if (token.kind == CodeTokenKind::word) words_.insert(token.text);
    if (!token.in_preprocessor) continue;
    if (token.text == "define" && i > 0 && tokens[i - 1].starts_line && i + 1 < tokens.size())
      macros_.insert(tokens[i + 1].text);
    if (token.text.starts_with("<cudal1/")) has_device_headers_ = true;
    if (token.text == "##") pastes = true;
    if (token.text == "__global__") defines_global = true;
  }
  pastes_kernel_names_ = pastes && defines_global;
}

bool KernelCatalog::may_come_from_macro(std::string_view name) const {
  if (pastes_kernel_names_) return true;
  return words_.contains(name) && (!macros_.empty() || has_device_headers_);
}

void KernelCatalog::check(const LaunchDirective& launch) const {
  const std::string_view name = base_name(launch.kernel);
  const auto found = kernels_.find(name);
  if (found == kernels_.end()) {
    if (may_come_from_macro(name)) return;
    reject_missing(launch, name);
  }
  std::optional<Rejection> first_complaint;
  for (const KernelSignature& signature : found->second) {
    try {
      check_signature(launch, signature);
      return;
    } catch (const Rejection& complaint) {
      if (!first_complaint) first_complaint = complaint;
    }
  }
  throw *first_complaint;
}

std::vector<bool> KernelCatalog::may_write(const LaunchStep& launch) const {
  std::vector<bool> writes(launch.args.size(), true);
  const auto found = kernels_.find(base_name(launch.kernel));
  if (found == kernels_.end() || pastes_kernel_names_) return writes;
  for (std::size_t i = 0; i < writes.size(); ++i)
    writes[i] = !std::ranges::all_of(found->second, [&](const KernelSignature& signature) {
      return signature.readable && i < signature.parameters.size() && signature.parameters[i].to_const;
    });
  return writes;
}

void KernelCatalog::reject_missing(const LaunchDirective& launch, std::string_view name) const {
  std::vector<std::string> names;
  for (const auto& [kernel, signatures] : kernels_) names.push_back(kernel);
  const std::string present = names.empty() ? "it has no __global__ function" : "it has: " + listed(names);
  const std::string how =
      words_.contains(name) ? "is in the text, but not as a __global__ function" : "is not in the text";
  reject(Status::plan_error, launch.at, fmt::format("kernel {} {}; {}", quoted(name), how, present));
}

}  // namespace cudal1

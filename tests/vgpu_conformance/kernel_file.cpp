#include "kernel_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <sstream>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1::conformance {
namespace {

namespace fs = std::filesystem;

struct DtypeRow {
  const char* name;
  Dtype dtype;
  std::size_t bytes;
  bool floating;
};
constexpr DtypeRow dtypes[] = {{"f16", Dtype::f16, 2, true},  {"bf16", Dtype::bf16, 2, true},
                               {"f32", Dtype::f32, 4, true},  {"f64", Dtype::f64, 8, true},
                               {"i8", Dtype::i8, 1, false},   {"u8", Dtype::u8, 1, false},
                               {"i32", Dtype::i32, 4, false}, {"u32", Dtype::u32, 4, false},
                               {"i64", Dtype::i64, 8, false}, {"u64", Dtype::u64, 8, false}};

std::string trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

//! Splits at commas outside parentheses.
std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.push_back(trim(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trim(part).empty()) parts.push_back(trim(part));
  return parts;
}

double number_of(const std::string& word) {
  std::size_t used = 0;
  double value = 0.0;
  try {
    value = std::stod(word, &used);
  } catch (const std::exception&) {
  }
  if (used == 0 || used != word.size()) throw Error(fmt::format("'{}' is no number", word));
  return value;
}

//! "A=1 B=float"
Macros macros_of(const std::string& text) {
  Macros macros;
  for (const std::string& word : words_of(text)) {
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos) throw Error(fmt::format("'{}' is not NAME=VALUE", word));
    macros.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return macros;
}

template <class T>
std::vector<std::byte> bytes_of_number(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

//! Reads the directives of a file for one variant and one size.
class CaseMaker {
 public:
  CaseMaker(const KernelFile& file, const Variant& variant, Size size) : file_(file), size_(size) {
    made_.family = file.family;
    made_.variant = variant.name;
    set_macros(variant);
  }

  Case run() {
    for (const Directive& directive : file_.directives) {
      try {
        read(directive);
      } catch (const Error& error) {
        throw Error(fmt::format("{}:{}: {}", file_.path, directive.line, error.what()));
      }
    }
    if (made_.launches.empty()) throw Error(fmt::format("{}: nothing is launched", file_.path));
    if (made_.checks.empty()) throw Error(fmt::format("{}: nothing is checked", file_.path));
    return std::move(made_);
  }

 private:
  void set_macros(const Variant& variant) {
    std::map<std::string, std::string> macros(file_.defaults.begin(), file_.defaults.end());
    for (const auto& [name, value] : variant.macros) macros[name] = value;
    for (const auto& [name, value] : macros) {
      made_.source += fmt::format("#define {} {}\n", name, value);
      words_[name] = value;
      if (value.find_first_not_of("0123456789") == std::string::npos && !value.empty())
        made_.values[name] = std::stoll(value);
    }
    made_.source += "#line 1\n" + file_.source;
  }

  void read(const Directive& directive) {
    const std::string& word = directive.word;
    if (word == "let") return read_let(directive.rest);
    if (word == "input") return read_buffer(directive.rest, false);
    if (word == "buffer") return read_buffer(directive.rest, true);
    if (word == "launch") return read_launch(directive.rest);
    if (word == "check") return read_check(directive.rest);
    if (word == "reference") return void(made_.reference = meaning_of(directive.rest));
    if (word != "define" && word != "variant") throw Error(fmt::format("'{}' is no directive", word));
  }

  //! n = 1048576 small 4096
  void read_let(const std::string& text) {
    const std::size_t equals = text.find('='), small = text.find(" small ");
    if (equals == std::string::npos) throw Error("'let' is NAME = VALUE [small VALUE]");
    const std::string full_value = text.substr(equals + 1, small == std::string::npos ? small : small - equals - 1);
    const bool use_small = size_ == Size::small && small != std::string::npos;
    made_.values[trim(text.substr(0, equals))] = value(use_small ? text.substr(small + 7) : full_value);
  }

  std::int64_t value(std::string_view expression) const { return evaluate(expression, made_.values); }

  std::uint32_t size_value(std::string_view expression) const {
    const std::int64_t number = value(expression);
    if (number < 0 || number > 0xffffffffLL) throw Error(fmt::format("'{}' is {}", expression, number));
    return static_cast<std::uint32_t>(number);
  }

  //! x f32[n] random
  void read_buffer(const std::string& text, bool writable) {
    const std::size_t open = text.find('['), close = text.find(']');
    if (open == std::string::npos || close == std::string::npos || close < open)
      throw Error("a buffer is NAME DTYPE[ELEMENTS] CONTENTS");
    const auto head = words_of(text.substr(0, open));
    if (head.size() != 2) throw Error("a buffer is NAME DTYPE[ELEMENTS] CONTENTS");
    BufferSpec buffer{head[0], dtype_named(head[1]), size_value(text.substr(open + 1, close - open - 1)), {}, writable};
    buffer.contents = contents_of(words_of(text.substr(close + 1)));
    if (buffer.elements == 0) throw Error("a buffer has at least one element");
    made_.buffers.push_back(buffer);
  }

  //! A word may be a macro, so that variants differ in their types, references and bounds.
  const std::string& meaning_of(const std::string& word) const {
    const auto macro = words_.find(word);
    return macro == words_.end() ? word : macro->second;
  }

  Dtype dtype_named(const std::string& name) const {
    const std::string& meant = meaning_of(name);
    for (const DtypeRow& row : dtypes)
      if (meant == row.name) return row.dtype;
    throw Error(fmt::format("'{}' is no type of a buffer", meant));
  }

  Contents contents_of(const std::vector<std::string>& words) const {
    using Kind = Contents::Kind;
    static const std::map<std::string, Kind> plain{{"random", Kind::random},
                                                   {"zero", Kind::zero},
                                                   {"one", Kind::one},
                                                   {"iota", Kind::iota},
                                                   {"poison", Kind::poison}};
    if (words.size() == 1 && plain.contains(words[0])) return {plain.at(words[0])};
    if (words.size() == 2 && words[0] == "below") return {Kind::below, 0.0, static_cast<double>(value(words[1]))};
    if (words.size() == 3 && words[0] == "between") return {Kind::between, number_of(words[1]), number_of(words[2])};
    throw Error("contents are random, zero, one, iota, poison, 'below N' or 'between A B'");
  }

  //! name<1, 2> grid=(…) block=(…) shared=… args=(…) [when=…]
  void read_launch(const std::string& text) {
    const auto key = [&](const std::string& name) { return text.find(" " + name + "="); };
    LaunchSpec launch;
    launch.kernel = trim(text.substr(0, key("grid")));
    launch.grid = size3(field(text, "grid"));
    launch.block = size3(field(text, "block"));
    if (key("shared") != std::string::npos) launch.shared_bytes = size_value(field(text, "shared"));
    for (const std::string& argument : split_list(field(text, "args")))
      launch.arguments.push_back(argument_of(argument));
    if (key("when") == std::string::npos || value(field(text, "when")) != 0) made_.launches.push_back(launch);
  }

  //! What stands after "name=": in parentheses, or up to the next space.
  static std::string field(const std::string& text, const std::string& name) {
    const std::size_t at = text.find(fmt::format(" {}=", name));
    if (at == std::string::npos) throw Error(fmt::format("a launch needs {}=", name));
    const std::size_t start = at + name.size() + 2;
    if (text[start] != '(') return text.substr(start, text.find(' ', start) - start);
    int depth = 0;
    for (std::size_t i = start; i < text.size(); ++i) {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      if (depth == 0) return text.substr(start + 1, i - start - 1);
    }
    throw Error(fmt::format("')' is missing after {}=", name));
  }

  Size3 size3(const std::string& text) const {
    Size3 sizes{1, 1, 1};
    const auto parts = split_list(text);
    if (parts.empty() || parts.size() > 3) throw Error("one to three sizes are expected");
    for (std::size_t i = 0; i < parts.size(); ++i) {
      sizes[i] = size_value(parts[i]);
      if (sizes[i] == 0) throw Error(fmt::format("'{}' is zero", parts[i]));
    }
    return sizes;
  }

  Argument argument_of(const std::string& text) const {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) return {made_.buffer(text).name, {}};
    const std::string type = text.substr(0, colon), number = text.substr(colon + 1);
    if (type == "f32") return {"", bytes_of_number(static_cast<float>(number_of(number)))};
    if (type == "f64") return {"", bytes_of_number(number_of(number))};
    if (type == "i32") return {"", bytes_of_number(static_cast<std::int32_t>(value(number)))};
    if (type == "i64") return {"", bytes_of_number(value(number))};
    throw Error(fmt::format("'{}' is no type of an argument", type));
  }

  Bound bound_of(const std::vector<std::string>& words) const {
    if (words == std::vector<std::string>{"exactly"}) return {};
    if (words.size() == 3 && words[0] == "within" && words[2] == "ulp")
      return {Bound::Kind::ulp, number_of(meaning_of(words[1]))};
    if (words.size() == 2 && words[0] == "relative") return {Bound::Kind::relative, number_of(meaning_of(words[1]))};
    throw Error("a bound is 'exactly', 'within N ulp' or 'relative E'");
  }

  //! y exactly[, reference relative 1e-5]
  void read_check(const std::string& text) {
    const auto parts = split_list(text);
    if (parts.empty() || parts.size() > 2) throw Error("'check' is BUFFER BOUND[, reference BOUND]");
    auto words = words_of(parts[0]);
    Check check{made_.buffer(words.at(0)).name, bound_of({words.begin() + 1, words.end()}), {}};
    check.reference = check.devices;
    if (parts.size() == 2) {
      words = words_of(parts[1]);
      if (words.at(0) != "reference") throw Error("after the comma 'reference BOUND' is expected");
      check.reference = bound_of({words.begin() + 1, words.end()});
    }
    made_.checks.push_back(check);
  }

  const KernelFile& file_;
  Size size_;
  Case made_;
  std::map<std::string, std::string> words_;
};

//! The lines that begin with "//!"; they must come before everything else.
std::vector<Directive> directives_of(const std::string& text) {
  std::vector<Directive> directives;
  std::istringstream stream(text);
  int number = 0;
  for (std::string line; std::getline(stream, line) && line.starts_with("//");) {
    ++number;
    if (!line.starts_with("//!")) continue;
    const std::string rest = trim(line.substr(3));
    const std::size_t space = rest.find(' ');
    directives.push_back({number, rest.substr(0, space), space == std::string::npos ? "" : trim(rest.substr(space))});
  }
  return directives;
}

//! NAME: A=1 B=2
Variant variant_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw Error("'variant' is NAME: MACRO=VALUE …");
  return {trim(text.substr(0, colon)), macros_of(text.substr(colon + 1))};
}

}  // namespace

std::size_t bytes_of(Dtype dtype) { return std::ranges::find(dtypes, dtype, &DtypeRow::dtype)->bytes; }

bool is_floating(Dtype dtype) { return std::ranges::find(dtypes, dtype, &DtypeRow::dtype)->floating; }

const BufferSpec& Case::buffer(const std::string& name) const {
  const auto found = std::ranges::find(buffers, name, &BufferSpec::name);
  if (found == buffers.end()) throw Error(fmt::format("'{}' is no buffer", name));
  return *found;
}

KernelFile parse_kernel_file(const std::string& path, const std::string& text) {
  KernelFile file{fs::path(path).stem().string(), path, text, directives_of(text), {}, {}};
  for (const Directive& directive : file.directives) {
    try {
      if (directive.word == "define") {
        const Macros more = macros_of(directive.rest);
        file.defaults.insert(file.defaults.end(), more.begin(), more.end());
      } else if (directive.word == "variant") {
        file.variants.push_back(variant_of(directive.rest));
      }
    } catch (const Error& error) {
      throw Error(fmt::format("{}:{}: {}", path, directive.line, error.what()));
    }
  }
  if (file.variants.empty()) file.variants.push_back({"only", {}});
  return file;
}

KernelFile read_kernel_file(const fs::path& path) { return parse_kernel_file(path.string(), read_file(path)); }

Case make_case(const KernelFile& file, const Variant& variant, Size size) {
  return CaseMaker(file, variant, size).run();
}

std::vector<KernelFile> read_kernel_folder(const fs::path& folder) {
  std::vector<KernelFile> files;
  for (const fs::path& path : files_below(folder))
    if (path.extension() == ".cu") files.push_back(read_kernel_file(path));
  if (files.empty()) throw Error(fmt::format("{} has no kernel files", folder.string()));
  return files;
}

}  // namespace cudal1::conformance

#include "cuda_function_list.hpp"

#include <fmt/format.h>

#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace cudal1 {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    if (!trimmed(part).empty()) parts.push_back(trimmed(part));
  return parts;
}

std::vector<std::string> entries_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  std::vector<std::string> entries;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == ' ' && !entries.empty()) {
      entries.back() += fmt::format(" {}", trimmed(line));
    } else {
      entries.push_back(line);
    }
  }
  return entries;
}

//! "T*" -> "float*".
std::string with_type(const std::string& pattern, const std::string& type) {
  if (pattern == "T") return type;
  return pattern == "T*" ? type + "*" : pattern;
}

//! The functions of "T(T*, T) with T = int, float: names".
void add_entry(const std::string& entry, std::vector<CudaFunction>& functions) {
  const auto open = entry.find('('), close = entry.find(')'), colon = entry.find(':', close);
  if (open == std::string::npos || colon == std::string::npos) throw std::runtime_error("not understood: " + entry);
  constexpr std::string_view with = " with T = ";
  const std::string between = entry.substr(close + 1, colon - close - 1);
  const auto types = between.empty() ? std::vector<std::string>{""} : split(between.substr(with.size()), ',');
  for (const std::string& type : types)
    for (const std::string& name : split(entry.substr(colon + 1), ' ')) {
      CudaFunction function{with_type(entry.substr(0, open), type), name, {}};
      for (const std::string& argument : split(entry.substr(open + 1, close - open - 1), ','))
        function.arguments.push_back(with_type(argument, type));
      functions.push_back(std::move(function));
    }
}

bool is_pointer(const std::string& type) { return type.ends_with('*'); }

//! The member of Values that holds a number of this type, or what a pointer points to.
std::string member_of(std::string type) {
  if (is_pointer(type)) type.pop_back();
  for (char& letter : type)
    if (letter == ' ') letter = '_';
  return fmt::format("v.{}_value", type);
}

std::string call_of(const CudaFunction& function) {
  std::string arguments;
  for (const std::string& type : function.arguments) {
    if (!arguments.empty()) arguments += ", ";
    arguments += type == "void*" ? "(void*)&v" : fmt::format("{}{}", is_pointer(type) ? "&" : "", member_of(type));
  }
  return fmt::format("{}({})", function.name, arguments);
}

std::string statement_of(const CudaFunction& function) {
  const std::string call = call_of(function);
  if (function.result == "void" || function.result == "auto") return call + ";";
  return fmt::format("static_assert(same<{}, decltype({})>, \"\"); {} = {};", function.result, call,
                     is_pointer(function.result) ? "v.pointer" : member_of(function.result), call);
}

std::string values_struct(const std::vector<CudaFunction>& functions) {
  std::set<std::string> members;
  const auto add = [&](std::string type) {
    if (is_pointer(type)) type.pop_back();
    if (type != "void" && type != "auto") members.insert(fmt::format("  {} {};\n", type, member_of(type).substr(2)));
  };
  for (const CudaFunction& function : functions) {
    add(function.result);
    for (const std::string& type : function.arguments) add(type);
  }
  std::string text = "struct Values {\n  void* pointer;\n";
  for (const std::string& member : members) text += member;
  return text + "};\n";
}

}  // namespace

std::vector<CudaFunction> read_cuda_functions(const std::filesystem::path& file) {
  std::vector<CudaFunction> functions;
  for (const std::string& entry : entries_of(file)) add_entry(entry, functions);
  return functions;
}

std::string program_calling(const std::vector<CudaFunction>& functions) {
  std::string text =
      "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
      "template <class A, class B> constexpr bool same = false;\ntemplate <class A> constexpr bool same<A, A> = "
      "true;\n";
  text += values_struct(functions);
  std::string kernel = "__global__ void k(Values* values) {\n";
  for (std::size_t i = 0; i < functions.size(); ++i) {
    text += fmt::format("__device__ void call_{}(Values& v) {{ {} }}\n", i, statement_of(functions[i]));
    kernel += fmt::format("  call_{}(*values);\n", i);
  }
  return text + kernel + "}\n";
}

}  // namespace cudal1

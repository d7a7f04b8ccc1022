#include "cli/package_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.hpp"
#include "base/value_or_throw.hpp"
#include "compile/nvrtc_compiler.hpp"
#include "device/cuda/driver.hpp"
#include "package/package_writer.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

bool is_python_name(const std::string& name) {
  static const std::set<std::string, std::less<>> keywords = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  // Letters of other alphabets may be part of a name, too: whoever uses them knows.
  const auto may_stand = [](unsigned char c) { return std::isalnum(c) || c == '_' || c >= 0x80; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name.front())) &&
         std::ranges::all_of(name, may_stand) && !keywords.contains(name);
}

}  // namespace

std::vector<std::string> default_targets() {
  std::string reason;
  if (cuda::device_count(reason) > 0) return {cuda::device_info(0).target};
  return {"sm_80", "sm_89", "sm_90"};
}

std::map<std::string, CompiledModule> compile_for(const std::vector<std::string>& targets, const Plan& plan) {
  std::map<std::string, CompiledModule> images;
  if (!plan.has_launches()) return images;
  NvrtcCompiler compiler;
  for (const std::string& target : targets) {
    auto image = compiler.compile({plan.code, plan.kernels, target});
    if (!image) throw Error(fmt::format("the program does not compile for {}: {}", target, image.failure().message));
    images[target] = std::move(image).value();
  }
  return images;
}

void refuse_hidden_state(const Task& task, const std::filesystem::path& module) {
  const auto interface = nlohmann::json::parse(read_file(task.folder / "interface.json"), nullptr, false);
  const auto paths = interface.is_object() ? interface.value("first_call_only", std::vector<std::string>())
                                           : std::vector<std::string>();
  if (!paths.empty())
    throw Error(fmt::format(
        "{}: forward replaces self.{}, so that later calls differ from the first, and it is no buffer, which "
        "a package could keep: use register_buffer",
        module.string(), paths.front()));
}

void export_judged_program(const std::filesystem::path& module, const Task& task, const std::string& text,
                           const std::filesystem::path& output) {
  refuse_hidden_state(task, module);
  check_interface(task);
  const Plan plan = value_or_throw(plan_program(task.graph, text), "the program");
  write_package({module, {{task, "", plan, text, compile_for(default_targets(), plan)}}}, output);
}

std::string how_to_import(const std::filesystem::path& package) {
  const std::string folder = std::filesystem::absolute(package).lexically_normal().filename().string();
  if (is_python_name(folder)) return fmt::format("use it: from {} import ModelNew", folder);
  return fmt::format(
      "use it: importlib.import_module({}).ModelNew (the folder's name is not a Python name, so that "
      "`import` does not take it)",
      nlohmann::json(folder).dump());
}

}  // namespace cudal1

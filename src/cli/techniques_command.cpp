#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "writer/technique_manual.hpp"

namespace cudal1 {
namespace {

struct TechniquesOptions {
  std::vector<std::string> names;
  bool as_markdown = false, as_json = false;
};

int run_techniques(const TechniquesOptions& options) {
  const TechniqueList techniques = techniques_named(options.names);
  if (options.as_json)
    fmt::print("{}\n", techniques_json(techniques).dump(2));
  else
    fmt::print("{}", options.as_markdown ? techniques_page(techniques) : techniques_listing(techniques));
  return 0;
}

}  // namespace

void add_techniques_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<TechniquesOptions>();
  CLI::App* command = app.add_subcommand("techniques", "The writer's directives: what they do, when they help");
  command->footer("Example: cudal1 techniques pointwise");
  command->add_option("names", options->names, "Techniques to show; default: all");
  CLI::Option* markdown = command->add_flag("--markdown", options->as_markdown, "As docs/techniques.md has it");
  command->add_flag("--json", options->as_json, "One JSON object on standard output")->excludes(markdown);
  command->callback([options, &action] { action = [options] { return run_techniques(*options); }; });
}

}  // namespace cudal1

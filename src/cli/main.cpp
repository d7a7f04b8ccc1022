#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>

#include "base/result.hpp"
#include "cli/commands.hpp"
#include "cli/printable.hpp"

int main(int argc, char** argv) {
  CLI::App app{"cudal1: verified, faster implementations of PyTorch modules for your GPU"};
  app.name("cudal1");
  app.set_version_flag("--version", cudal1::version_text);
  app.require_subcommand(1);
  const std::string first_word = argc > 1 ? argv[1] : "";
  app.failure_message([&](const CLI::App* command, const CLI::Error& error) {
    // Of a word that is no command the parser says only that there must be one.
    const bool unknown = command->get_subcommands().empty() && !first_word.empty() && first_word[0] != '-';
    const std::string message = unknown && error.get_name() == "RequiredError"
                                    ? fmt::format("there is no command '{}'", first_word)
                                    : std::string(error.what());
    return fmt::format("cudal1: {} (see --help)\n", cudal1::one_line(message));
  });
  cudal1::CommandAction action;
  cudal1::add_optimize_command(app, action);
  cudal1::add_eval_command(app, action);
  cudal1::add_explain_command(app, action);
  cudal1::add_expand_command(app, action);
  cudal1::add_techniques_command(app, action);
  cudal1::add_prompt_command(app, action);
  cudal1::add_train_command(app, action);
  cudal1::add_report_command(app, action);
  cudal1::add_tasks_command(app, action);
  cudal1::add_check_command(app, action);
  cudal1::add_bench_command(app, action);
  cudal1::add_export_command(app, action);
  cudal1::add_data_command(app, action);
  cudal1::add_models_command(app, action);
  cudal1::add_doctor_command(app, action);
  try {
    app.parse(argc, argv);
    return action();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const cudal1::UsageError& error) {
    std::fprintf(stderr, "cudal1: %s\n", cudal1::one_line(error.what()).c_str());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cudal1: %s\n", cudal1::one_line(error.what()).c_str());
    return 1;
  }
}

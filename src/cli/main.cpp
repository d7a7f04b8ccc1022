#include <cstdio>
#include <exception>
#include <string>

#include "base/result.hpp"
#include "cli/commands.hpp"

int main(int argc, char** argv) {
  CLI::App app{"cudal1: verified, faster implementations of PyTorch modules for your GPU"};
  app.name("cudal1");
  app.set_version_flag("--version", cudal1::version_text);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return std::string("cudal1: ") + error.what() + " (see --help)\n";
  });
  cudal1::CommandAction action;
  cudal1::add_eval_command(app, action);
  cudal1::add_expand_command(app, action);
  cudal1::add_doctor_command(app, action);
  try {
    app.parse(argc, argv);
    return action();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const cudal1::UsageError& error) {
    std::fprintf(stderr, "cudal1: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    const std::string text = error.what();
    std::fprintf(stderr, "cudal1: %s\n", text.substr(0, text.find('\n')).c_str());
    return 1;
  }
}

// The table of commands. Each adds itself to the parser; main runs the one that was named.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace cudal1 {

//! What a command does once its options are parsed; returns the exit code (0 done, 1 the work failed).
using CommandAction = std::function<int()>;

void add_eval_command(CLI::App& app, CommandAction& action);
void add_expand_command(CLI::App& app, CommandAction& action);
void add_train_command(CLI::App& app, CommandAction& action);
void add_report_command(CLI::App& app, CommandAction& action);
void add_tasks_command(CLI::App& app, CommandAction& action);
void add_check_command(CLI::App& app, CommandAction& action);
void add_bench_command(CLI::App& app, CommandAction& action);
void add_optimize_command(CLI::App& app, CommandAction& action);
void add_explain_command(CLI::App& app, CommandAction& action);
void add_techniques_command(CLI::App& app, CommandAction& action);
void add_prompt_command(CLI::App& app, CommandAction& action);
void add_export_command(CLI::App& app, CommandAction& action);
void add_data_command(CLI::App& app, CommandAction& action);
void add_models_command(CLI::App& app, CommandAction& action);
void add_doctor_command(CLI::App& app, CommandAction& action);

inline constexpr const char* version_text = "cudal1 " CUDAL1_VERSION;

}  // namespace cudal1

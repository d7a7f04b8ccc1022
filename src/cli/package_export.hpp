// What every command needs that makes a package.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "compile/compiler.hpp"
#include "graph/task.hpp"
#include "program/plan.hpp"
#include "suite/task_export.hpp"

namespace cudal1 {

//! GPUs to compile for when nobody says so: the one that is here, else those that people have.
std::vector<std::string> default_targets();

//! Throws Error where the program does not compile for one of them.
std::map<std::string, CompiledModule> compile_for(const std::vector<std::string>& targets, const Plan& plan);

//! A package is called many times: it cannot stand in for a module of whose calls the task knows only the first.
//! Throws Error.
void refuse_hidden_state(const Task& task, const std::filesystem::path& module);

//! Writes a package of a program that was judged before; `task` has its metas. Throws Error.
void export_judged_program(const std::filesystem::path& module, const Task& task, const std::string& text,
                           const std::filesystem::path& output);

//! "use it: from … import ModelNew"
std::string how_to_import(const std::filesystem::path& package);

}  // namespace cudal1

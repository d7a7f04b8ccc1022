#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/program_text.hpp"
#include "cli/task_argument.hpp"
#include "judge/error_json.hpp"
#include "program/plan.hpp"
#include "program/step_branches.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

struct ExpandOptions {
  fs::path task, program;
  bool as_json = false;
};

std::string_view role_name(BufferRole role) {
  constexpr std::string_view names[] = {"input", "weight", "state", "output", "intermediate", "scratch", "prepared"};
  return names[static_cast<int>(role)];
}

std::string dimensions(const Dim3& d) { return fmt::format("({}, {}, {})", d[0], d[1], d[2]); }

std::string argument_text(const Plan& plan, const KernelArgument& argument) {
  if (const auto* scalar = std::get_if<ScalarArgument>(&argument))
    return fmt::format("{}:{:#x}", scalar->type, scalar->bits);
  const auto& tensor = std::get<TensorRef>(argument);
  const std::string& name = plan.buffers[static_cast<std::size_t>(tensor.buffer)].name;
  return tensor.byte_offset == 0 ? name : fmt::format("{}+{}", name, tensor.byte_offset);
}

void print_step(const Plan& plan, const Step& step) {
  if (const auto* launch = std::get_if<LaunchStep>(&step)) {
    std::string arguments;
    for (const KernelArgument& argument : launch->args)
      arguments += (arguments.empty() ? "" : ", ") + argument_text(plan, argument);
    fmt::print("  launch {} grid={} block={} shared={} ({})\n", launch->kernel, dimensions(launch->grid),
               dimensions(launch->block), launch->shared_bytes, arguments);
  } else if (const auto* zero = std::get_if<ZeroStep>(&step)) {
    fmt::print("  zero   {}\n", plan.buffers[static_cast<std::size_t>(zero->buffer)].name);
  } else {
    const Node& node = std::get<OpStep>(step).node;
    fmt::print("  op     {} ({})\n", node.name, node.op);
  }
}

std::string call_title(const Plan& plan) {
  if (!plan.cuda_graph) return "";
  if (plan.branches.empty()) return " (one CUDA Graph)";
  return fmt::format(" (one CUDA Graph of {} branches; steps count from 0)", branch_count(plan));
}

void print_branch(const BranchStep& step) {
  std::string after;
  for (const std::size_t earlier : step.waits_for) after += fmt::format("{}{}", after.empty() ? "" : ", ", earlier);
  fmt::print("         on branch {}{}\n", step.branch, after.empty() ? "" : ", behind step " + after);
}

void print_plan(const Plan& plan) {
  fmt::print("plan {}\nbuffers\n", plan.hash);
  for (const Buffer& buffer : plan.buffers)
    fmt::print("  {:<12} {} {}{}{}\n", role_name(buffer.role), buffer.name, to_string(buffer.meta),
               buffer.zero ? " zero" : "", buffer.allocated_by_op ? " (allocated by the library)" : "");
  if (!plan.prepare.empty()) fmt::print("prepare (when weights change)\n");
  for (const Step& step : plan.prepare) print_step(plan, step);
  fmt::print("call{}\n", call_title(plan));
  for (std::size_t i = 0; i < plan.call.size(); ++i) {
    print_step(plan, plan.call[i]);
    if (!plan.branches.empty()) print_branch(plan.branches[i]);
  }
  if (!plan.code.empty()) fmt::print("source\n{}\n", plan.code);
}

//! The fields that `eval --json` has for such a program.
nlohmann::json failure_to_json(const std::string& program, const Failure& failure) {
  return {{"program", program}, {"status", to_string(failure.status)}, {"error", error_json(failure)}};
}

//! Messages quote the program, which may be no UTF-8.
void print_json(const nlohmann::json& object) {
  fmt::print("{}\n", object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

int run_expand(const ExpandOptions& options) {
  const Task task = load_task_argument(options.task);
  const ProgramText program = read_program(options.program);
  ProgramLimits limits;
  limits.rounding = OperandRounding::bf16;  // nobody judges here
  const Result<Plan> plan =
      program.failure ? Result<Plan>(*program.failure) : plan_program(task.graph, program.text, limits);
  if (!plan && options.as_json) {
    print_json(failure_to_json(options.program.filename().string(), plan.failure()));
    return 1;
  }
  if (!plan) {
    const Failure& failure = plan.failure();
    throw Error(fmt::format("{}:{}:{}: {}: {}", options.program.string(), failure.at.line, failure.at.column,
                            to_string(failure.status), failure.message));
  }
  if (options.as_json)
    print_json(plan_to_json(plan.value()));
  else
    print_plan(plan.value());
  return 0;
}

}  // namespace

void add_expand_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<ExpandOptions>();
  CLI::App* command = app.add_subcommand("expand", "Show what a program will run: buffers, steps and sources");
  command->footer("Example: cudal1 expand examples/row_softmax examples/row_softmax/ok-fast.cu");
  command->add_option("task", options->task, task_argument_help)->required();
  command->add_option("program", options->program, "Program text (.cu)")->required();
  command->add_flag("--json", options->as_json, "The plan as one JSON object");
  command->callback([options, &action] { action = [options] { return run_expand(*options); }; });
}

}  // namespace cudal1

#include "device/vgpu/machine/call_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/readable_name.hpp"
#include "device/vgpu/machine/system_calls.hpp"
#include "device/vgpu/ptx/lexer.hpp"

namespace cudal1::vgpu {
namespace {

using ptx::Operand;
using ptx::PtxError;

class Planner {
 public:
  Planner(const ptx::Module& module, CallPlan& plan) : module_(module), plan_(plan) {}

  //! Callees first.
  void visit(const ptx::Function& function) {
    path_.push_back(&function);
    for (const ptx::Instruction& instruction : function.instructions)
      if (instruction.opcode == "call") visit_call(instruction);
    path_.pop_back();
    plan_.order.push_back(&function);
  }

 private:
  void visit_call(const ptx::Instruction& call) {
    plan_.any = true;
    if (find_system_function(operands_of_call(call).function->name)) return;
    const ptx::Function& callee = function_of(call);
    plan_.sites.emplace(&call, static_cast<std::uint32_t>(plan_.sites.size()));
    plan_.callees[&call] = &callee;
    if (const auto open = std::ranges::find(path_, &callee); open != path_.end())
      plan_.recursive.insert(open, path_.end());
    else if (std::ranges::find(plan_.order, &callee) == plan_.order.end())
      visit(callee);
  }

  const ptx::Function& function_of(const ptx::Instruction& call) const {
    const std::string& name = operands_of_call(call).function->name;
    if (name.starts_with("%")) throw ptx::CallThroughPointer(call.at.ptx_line);
    // A declaration may come before the definition.
    for (const ptx::Function& function : module_.functions)
      if (function.name == name && !function.is_declaration && !function.is_entry) return function;
    throw PtxError(call.at.ptx_line, fmt::format("the function '{}' is not known", readable_name(name)));
  }

  const ptx::Module& module_;
  CallPlan& plan_;
  std::vector<const ptx::Function*> path_;
};

}  // namespace

CallOperands operands_of_call(const ptx::Instruction& call) {
  CallOperands found;
  for (const Operand& operand : call.operands) {
    if (operand.kind == Operand::Kind::name && !found.function)
      found.function = &operand;
    else if (operand.kind == Operand::Kind::list && !found.function && !found.results)
      found.results = &operand;
    else if (operand.kind == Operand::Kind::list && found.function && !found.arguments)
      found.arguments = &operand;
    else
      throw ptx::CallThroughPointer(call.at.ptx_line);
  }
  if (!found.function) throw PtxError(call.at.ptx_line, "a call names no function");
  return found;
}

CallPlan plan_calls(const ptx::Module& module, const ptx::Function& entry) {
  CallPlan plan;
  Planner(module, plan).visit(entry);
  return plan;
}

}  // namespace cudal1::vgpu

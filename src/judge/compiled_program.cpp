// A program as far as it comes without a device; judge.hpp declares it.
#include "judge/judge.hpp"
#include "program/plan_hash.hpp"
#include "writer/write_program.hpp"

namespace cudal1 {
namespace {

//! Library ops need no code, but what stands there must be some: prose is no program.
std::optional<Failure> objection_to_unused_code(Backend& backend, const std::string& text) {
  if (canonical_code(text).find_first_not_of(" \t\r\n") == std::string::npos) return std::nullopt;
  const auto module = backend.compiler().compile({text, {}, backend.info().target});
  return module ? std::nullopt : std::optional(module.failure());
}

}  // namespace

OperandRounding rounding_allowed(Precision precision) {
  switch (precision) {
    case Precision::strict:
      return OperandRounding::none;
    case Precision::tf32:
      return OperandRounding::tf32;
    case Precision::paper:
      return OperandRounding::bf16;
    default:
      return OperandRounding::tf32_in_convolutions;
  }
}

CompiledProgram compile_program(const OpGraph& graph, Backend& backend, const std::string& name,
                                const std::string& text, Precision precision) {
  CompiledProgram program{name, text, {}, {}, {}};
  ProgramLimits limits;
  limits.rounding = rounding_allowed(precision);
  auto plan = plan_program(graph, text, limits);
  if (!plan) {
    program.failure = plan.failure();
    return program;
  }
  program.plan = std::move(plan).value();
  if (!program.plan.has_launches()) {
    program.failure = objection_to_unused_code(backend, text);
    return program;
  }
  auto module = backend.compiler().compile({program.plan.code, program.plan.kernels, backend.info().target});
  if (module)
    program.module = std::move(module).value();
  else
    program.failure = module.failure();
  return program;
}

}  // namespace cudal1

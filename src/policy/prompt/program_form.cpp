#include "policy/prompt/program_form.hpp"

namespace cudal1 {

std::string_view to_string(ProgramForm form) { return form == ProgramForm::directives ? "directives" : "written_out"; }

std::optional<ProgramForm> program_form_from_string(std::string_view name) {
  for (const ProgramForm form : {ProgramForm::directives, ProgramForm::written_out})
    if (name == to_string(form)) return form;
  return std::nullopt;
}

}  // namespace cudal1

// The two ways to write the same program.
#pragma once

#include <optional>
#include <string_view>

namespace cudal1 {

enum class ProgramForm {
  directives,   //!< that the writer turns into CUDA
  written_out,  //!< CUDA, and directives that say what it replaces
};

std::string_view to_string(ProgramForm form);
std::optional<ProgramForm> program_form_from_string(std::string_view name);

}  // namespace cudal1

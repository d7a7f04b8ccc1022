// What the compiler process is asked and what it answers.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

//! Descriptors of the compiler process: the question is a memory file, the answer goes into a pipe.
constexpr int compile_question_fd = 3;
constexpr int compile_answer_fd = 4;

struct CompileQuestion {
  std::string source;
  std::vector<std::string> kernels;
  std::vector<std::string> options;
  std::map<std::string, std::string> headers;    //!< in-memory headers: name as included -> text
  std::vector<std::string> include_directories;  //!< the only folders the compiler may read
  std::string nvrtc_library;
};

struct CompileAnswer {
  enum class Outcome { compiled, source_error, out_of_memory, internal_error };
  Outcome outcome = Outcome::internal_error;
  std::string log;
  std::string cubin;
  std::string ptx;                             //!< what the cubin was assembled from
  std::map<std::string, std::string> symbols;  //!< kernel as asked -> symbol
};

std::string encode(const CompileQuestion& question);
std::string encode(const CompileAnswer& answer);
std::optional<CompileQuestion> decode_question(std::string_view bytes);
std::optional<CompileAnswer> decode_answer(std::string_view bytes);

//! The name under which NVRTC and its messages know the program's text.
constexpr std::string_view program_file_name = "program.cu";

}  // namespace cudal1

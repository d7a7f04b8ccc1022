#include "compile/compile_protocol.hpp"

#include "compile/wire.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t most_items = 100'000;

void write_list(FieldWriter& writer, const std::vector<std::string>& list) {
  writer.number(list.size());
  for (const auto& item : list) writer.text(item);
}

void write_map(FieldWriter& writer, const std::map<std::string, std::string>& map) {
  writer.number(map.size());
  for (const auto& [name, value] : map) writer.text(name).text(value);
}

std::vector<std::string> read_list(FieldReader& reader) {
  std::vector<std::string> list;
  for (std::size_t left = reader.count(most_items); left > 0 && reader.ok(); --left) list.push_back(reader.text());
  return list;
}

std::map<std::string, std::string> read_map(FieldReader& reader) {
  std::map<std::string, std::string> map;
  for (std::size_t left = reader.count(most_items); left > 0 && reader.ok(); --left) {
    std::string name = reader.text();
    map[std::move(name)] = reader.text();
  }
  return map;
}

}  // namespace

std::string encode(const CompileQuestion& question) {
  FieldWriter writer;
  writer.text(question.source);
  write_list(writer, question.kernels);
  write_list(writer, question.options);
  write_map(writer, question.headers);
  write_list(writer, question.include_directories);
  writer.text(question.nvrtc_library);
  return writer.take();
}

std::optional<CompileQuestion> decode_question(std::string_view bytes) {
  FieldReader reader(bytes);
  CompileQuestion question;
  question.source = reader.text();
  question.kernels = read_list(reader);
  question.options = read_list(reader);
  question.headers = read_map(reader);
  question.include_directories = read_list(reader);
  question.nvrtc_library = reader.text();
  if (!reader.finished()) return std::nullopt;
  return question;
}

std::string encode(const CompileAnswer& answer) {
  FieldWriter writer;
  writer.number(static_cast<std::uint64_t>(answer.outcome));
  writer.text(answer.log).text(answer.cubin).text(answer.ptx);
  write_map(writer, answer.symbols);
  return writer.take();
}

std::optional<CompileAnswer> decode_answer(std::string_view bytes) {
  FieldReader reader(bytes);
  CompileAnswer answer;
  const std::uint64_t outcome = reader.number();
  if (outcome > static_cast<std::uint64_t>(CompileAnswer::Outcome::internal_error)) return std::nullopt;
  answer.outcome = static_cast<CompileAnswer::Outcome>(outcome);
  answer.log = reader.text();
  answer.cubin = reader.text();
  answer.ptx = reader.text();
  answer.symbols = read_map(reader);
  if (!reader.finished()) return std::nullopt;
  return answer;
}

}  // namespace cudal1

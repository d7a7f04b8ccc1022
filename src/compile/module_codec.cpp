#include "compile/module_codec.hpp"

#include <utility>

#include "compile/wire.hpp"

namespace cudal1 {

std::string encode_result(const Result<CompiledModule>& result) {
  FieldWriter writer;
  writer.number(result.ok() ? 1 : 0);
  if (!result.ok()) {
    const Failure& reason = result.failure();
    writer.text(to_string(reason.status)).text(reason.message).text(reason.details);
    writer.number(static_cast<std::uint64_t>(reason.at.line)).number(static_cast<std::uint64_t>(reason.at.column));
    return writer.take();
  }
  const CompiledModule& module = result.value();
  writer.text(module.binary).text(module.log).number(module.symbols.size());
  for (const auto& [kernel, symbol] : module.symbols) writer.text(kernel).text(symbol);
  return writer.take();
}

std::optional<Result<CompiledModule>> decode_result(std::string_view bytes) {
  FieldReader reader(bytes);
  if (reader.number() == 0) {
    const auto status = status_from_string(reader.text());
    Failure reason;
    reason.message = reader.text();
    reason.details = reader.text();
    reason.at.line = static_cast<int>(reader.number());
    reason.at.column = static_cast<int>(reader.number());
    if (!status || !reader.finished()) return std::nullopt;
    reason.status = *status;
    return Result<CompiledModule>(std::move(reason));
  }
  CompiledModule module;
  module.binary = reader.text();
  module.log = reader.text();
  for (std::size_t left = reader.count(100'000); left > 0 && reader.ok(); --left) {
    std::string kernel = reader.text();
    module.symbols[std::move(kernel)] = reader.text();
  }
  if (!reader.finished()) return std::nullopt;
  module.from_cache = true;
  return Result<CompiledModule>(std::move(module));
}

bool is_deterministic(const Result<CompiledModule>& result) {
  return result.ok() || result.failure().status == Status::compile_error ||
         result.failure().status == Status::forbidden;
}

}  // namespace cudal1

#include "policy/remote/response_cache.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// "cudal1 answer 1\n", the SHA-256 of the rest as 64 digits, "\n", the sample as JSON.
constexpr std::string_view magic = "cudal1 answer 1\n";
constexpr std::size_t digest_digits = 64;
constexpr std::size_t max_entry_bytes = std::size_t{128} << 20;

std::string to_bytes(const ChatSample& sample) {
  const json content = {{"text", sample.text},
                        {"reasoning_bytes", sample.reasoning_bytes},
                        {"finish", to_string(sample.finish)},
                        {"prompt_tokens", sample.tokens.prompt},
                        {"completion_tokens", sample.tokens.completion},
                        {"reasoning_tokens", sample.tokens.reasoning},
                        {"tokens_estimated", sample.tokens.estimated}};
  const std::string text = content.dump(-1, ' ', false, json::error_handler_t::replace);
  return fmt::format("{}{}\n{}", magic, sha256_hex(text), text);
}

//! Throws json::exception for what is of another form.
ChatSample from_json(const json& content) {
  ChatSample sample;
  sample.text = content.at("text").get<std::string>();
  sample.reasoning_bytes = content.at("reasoning_bytes").get<std::size_t>();
  sample.finish = finish_reason_from_string(content.at("finish").get<std::string>()).value_or(FinishReason::unknown);
  sample.tokens = {content.at("prompt_tokens").get<std::int64_t>(), content.at("completion_tokens").get<std::int64_t>(),
                   content.at("reasoning_tokens").get<std::int64_t>(), content.at("tokens_estimated").get<bool>()};
  sample.from_cache = true;
  return sample;
}

std::optional<ChatSample> from_bytes(std::string_view bytes) {
  const std::size_t head = magic.size() + digest_digits + 1;
  if (bytes.size() < head || !bytes.starts_with(magic)) return std::nullopt;
  const std::string_view text = bytes.substr(head);
  if (bytes.substr(magic.size(), digest_digits + 1) != sha256_hex(text) + "\n") return std::nullopt;
  try {
    return from_json(json::parse(text));
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

//! Answers may be about code that is nobody else's business.
void make_private_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(fmt::format("{}: cannot make the folder: {}", folder.string(), error.message()));
}

}  // namespace

ResponseCache::ResponseCache(fs::path folder, std::function<void(const std::string&)> warn)
    : folder_(std::move(folder)), warn_(std::move(warn)) {}

fs::path ResponseCache::path_of(const std::string& key) const { return folder_ / key.substr(0, 2) / key.substr(2); }

std::optional<ChatSample> ResponseCache::load(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  try {
    return from_bytes(read_file(path_of(key), max_entry_bytes));
  } catch (const Error&) {
    return std::nullopt;
  }
}

void ResponseCache::store(const std::string& key, const ChatSample& sample) {
  if (folder_.empty()) return;
  try {
    make_private_folder(path_of(key).parent_path());
    ::chmod(folder_.c_str(), S_IRWXU);
    write_file_atomically(path_of(key), to_bytes(sample));
  } catch (const Error& error) {
    std::call_once(warned_, [&] {
      if (warn_) warn_(fmt::format("answers are not kept, a resumed run would pay again: {}", error.what()));
    });
  }
}

}  // namespace cudal1

// Chat completions of an OpenAI-compatible server: many at once, each tried until it works or cannot, within a ceiling
// of cost, and never paid for twice. docs/remote.md.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "policy/remote/api_key.hpp"
#include "policy/remote/chat_request.hpp"
#include "policy/remote/chat_sample.hpp"
#include "policy/remote/cost_meter.hpp"
#include "policy/remote/http_connection.hpp"
#include "policy/remote/retry.hpp"
#include "policy/remote/waiting.hpp"

namespace cudal1 {

struct ChatClientOptions {
  std::string server;  //!< "https://api.example.com/v1"
  ModelChoice model;
  Prices prices = {};
  std::optional<double> max_cost = {};  //!< in the currency of the prices
  int concurrency = 8;                  //!< requests in flight, of all callers together
  int most_samples_per_request = 16;    //!< the largest n; 1: a request for every sample
  HttpLimits limits = {};
  RetryRules retry = {};
  std::string ca_file = {};
  bool allow_unencrypted = false;
  std::filesystem::path cache_folder = {};  //!< empty: answers are not kept
};

//! What is handed in from outside.
struct ChatSurroundings {
  Waiting waiting;
  std::function<bool()> cancelled;  //!< asked often, from several threads; once true, it stays so
  Random random;                    //!< for the waits between attempts
  std::function<void(const std::string&)> warn;
};

//! Text as it arrives. Pieces of one sample come in order; those with a higher attempt begin anew.
struct TextPiece {
  std::size_t request = 0;  //!< its place in the list of requests
  int sample = 0;           //!< its number
  int attempt = 1;
  std::string_view text;
};
using TextCallback = std::function<void(const TextPiece&)>;  //!< never called by two threads at once

struct ChatTotals {
  int requests = 0;  //!< HTTP requests sent
  int retries = 0;   //!< how many of them were further attempts
  int samples = 0;   //!< answers, cached ones included
  int cached = 0;
  int failures = 0;
  TokenUsage tokens;  //!< of what was sent, broken answers included
  double cost = 0.0;
};

class ChatClient {
 public:
  //! Throws UsageError for options that cannot be meant.
  ChatClient(ChatClientOptions options, ApiKey key, ChatSurroundings surroundings);
  ~ChatClient();

  //! One list of outcomes for each request, one outcome for each sample. May be called from several threads. Throws
  //! what `on_text` throws, and UsageError for requests without messages or samples.
  std::vector<std::vector<ChatSampleOutcome>> complete_all(const std::vector<ChatRequest>& requests,
                                                           const TextCallback& on_text = {});
  std::vector<ChatSampleOutcome> complete(const ChatRequest& request, const TextCallback& on_text = {});

  //! What complete_all() would send; looks into the cache, sends nothing.
  CostEstimate estimate(const std::vector<ChatRequest>& requests) const;
  ChatTotals totals() const;

 private:
  class Shared;
  class Run;
  std::unique_ptr<Shared> shared_;
};

//! `given`, else OPENAI_BASE_URL; throws UsageError if there is neither.
std::string server_or_environment(const std::string& given);

}  // namespace cudal1

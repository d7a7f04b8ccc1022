#include "policy/remote/chat_client.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "base/result.hpp"
#include "policy/remote/chat_attempt.hpp"
#include "policy/remote/request_slots.hpp"
#include "policy/remote/response_cache.hpp"
#include "policy/remote/server_address.hpp"
#include "policy/remote/usage_shares.hpp"

namespace cudal1 {
namespace {

using TimePoint = std::chrono::steady_clock::time_point;

void check_options(const ChatClientOptions& options) {
  if (options.model.name.empty()) throw UsageError("name the server's model: --remote-model");
  if (options.concurrency < 1 || options.most_samples_per_request < 1 || options.retry.attempts < 1)
    throw UsageError("requests at once, samples per request and attempts are numbers from 1 up");
  if (options.max_cost && !options.prices.known())
    throw UsageError("--max-cost needs the model's prices: --price-in and --price-out, for a million tokens each");
}

void check_key(const ApiKey& key, const ServerAddress& address) {
  if (!address.is_local && !key.empty() && !key.is_secret())
    throw UsageError(fmt::format("what {} holds is too short to be a key for {}", key.variable(), address.host));
}

void check_request(const ChatRequest& request) {
  if (request.messages.empty() || request.samples < 1 || request.first_sample < 0 || request.parameters.max_tokens < 1)
    throw UsageError("a request to a chat server needs a message, a sample and a token at least");
}

//! Libraries below may write into connections that the server has closed.
void block_broken_pipe_signal() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

//! Samples of one request that are asked for together.
struct Unit {
  std::size_t request = 0;
  std::vector<int> samples;  //!< their numbers
};

//! What is as true of all other requests.
bool concerns_all(ChatFailureKind kind) {
  return kind == ChatFailureKind::unauthorized || kind == ChatFailureKind::not_found ||
         kind == ChatFailureKind::untrusted || kind == ChatFailureKind::cancelled;
}

}  // namespace

//! What all calls of a client have in common.
class ChatClient::Shared {
 public:
  Shared(ChatClientOptions given, ApiKey key, ChatSurroundings surroundings)
      : options(std::move(given)),
        around(std::move(surroundings)),
        context{parse_server_address(options.server, options.allow_unencrypted), options.model, std::move(key)},
        cache(options.cache_folder, around.warn),
        slots(options.concurrency),
        meter(options.max_cost),
        most_samples(options.most_samples_per_request) {
    check_options(options);
    check_key(context.key, context.address);
  }

  std::string key_of(const ChatRequest& request, int sample) const {
    return response_key(request, options.model, context.address.base, sample);
  }

  double most_cost(const ChatRequest& request, int count) const {
    TokenUsage most;
    most.prompt = most_prompt_tokens(request.messages);
    most.completion = static_cast<std::int64_t>(count) * request.parameters.max_tokens;
    return cost_of(most, options.prices);
  }

  double jittered_backoff(int failed_attempts) {
    const std::lock_guard lock(mutex);
    return backoff_seconds(failed_attempts, around.random.uniform(), options.retry);
  }

  //! A server that limits requests means all of them.
  void pause_all_until(TimePoint time) {
    const std::lock_guard lock(mutex);
    paused_until = std::max(paused_until, time);
  }

  bool wait_out_pause(const std::function<bool()>& cancelled) {
    TimePoint until;
    {
      const std::lock_guard lock(mutex);
      until = paused_until;
    }
    return sleep_until(until, around.waiting, cancelled);
  }

  template <class Change>
  void count(const Change& change) {
    const std::lock_guard lock(mutex);
    change(totals);
  }

  const ChatClientOptions options;
  ChatSurroundings around;
  const ServerContext context;
  ResponseCache cache;
  RequestSlots slots;
  CostMeter meter;
  std::atomic<int> most_samples;  //!< 1 from when the server showed that it has no n
  std::atomic<bool> ignores_n = false;

  std::mutex mutex;  //!< guards what follows, and around.random
  ChatTotals totals;
  TimePoint paused_until = TimePoint::min();
};

//! One call of complete_all(): a queue of units and threads that work it off.
class ChatClient::Run {
 public:
  Run(Shared& shared, const std::vector<ChatRequest>& requests, const TextCallback& on_text)
      : shared_(shared), requests_(requests), on_text_(on_text) {}

  std::vector<std::vector<ChatSampleOutcome>> all() {
    for (std::size_t at = 0; at < requests_.size(); ++at) prepare(at);
    const std::size_t workers =
        std::min(queue_.size() * most_samples(), static_cast<std::size_t>(shared_.options.concurrency));
    std::vector<std::jthread> threads;  // joined also if one cannot be started
    for (std::size_t worker = 0; worker < workers; ++worker) threads.emplace_back([this] { work(); });
    threads.clear();
    if (thrown_) std::rethrow_exception(thrown_);
    return std::move(outcomes_);
  }

 private:
  std::size_t most_samples() const { return static_cast<std::size_t>(shared_.most_samples.load()); }

  void prepare(std::size_t at) {
    const ChatRequest& request = requests_[at];
    check_request(request);
    outcomes_.emplace_back(static_cast<std::size_t>(request.samples));
    Unit missing{at, {}};
    for (int sample = request.first_sample; sample < request.first_sample + request.samples; ++sample)
      if (!take_from_cache(at, sample)) missing.samples.push_back(sample);
    push(missing, most_samples());
  }

  bool take_from_cache(std::size_t at, int sample) {
    auto cached = shared_.cache.load(shared_.key_of(requests_[at], sample));
    if (!cached) return false;
    if (on_text_) on_text_({at, sample, 0, cached->text});
    shared_.count([](ChatTotals& totals) { ++totals.cached, ++totals.samples; });
    outcome(at, sample).sample = std::move(cached);
    return true;
  }

  ChatSampleOutcome& outcome(std::size_t at, int sample) {
    return outcomes_[at][static_cast<std::size_t>(sample - requests_[at].first_sample)];
  }

  //! In units of `most` samples.
  void push(const Unit& unit, std::size_t most) {
    const std::lock_guard lock(mutex_);
    for (std::size_t begin = 0; begin < unit.samples.size(); begin += most) {
      const std::size_t end = std::min(begin + most, unit.samples.size());
      queue_.push_back({unit.request,
                        {unit.samples.begin() + static_cast<std::ptrdiff_t>(begin),
                         unit.samples.begin() + static_cast<std::ptrdiff_t>(end)}});
    }
    changed_.notify_all();
  }

  //! Nothing: all is done.
  std::optional<Unit> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return thrown_ || !queue_.empty() || working_ == 0; });
    if (thrown_ || queue_.empty()) return std::nullopt;
    Unit unit = std::move(queue_.front());
    queue_.pop_front();
    ++working_;
    return unit;
  }

  void work() {
    block_broken_pipe_signal();
    try {
      HttpConnection connection;
      while (const auto unit = pop()) {
        complete_unit(*unit, connection);
        const std::lock_guard lock(mutex_);
        --working_;
        changed_.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
      changed_.notify_all();
    }
  }

  bool cancelled() {
    if (shared_.around.cancelled()) return true;
    const std::lock_guard lock(mutex_);
    return thrown_ != nullptr;
  }

  void complete_unit(const Unit& unit, HttpConnection& connection) {
    for (int attempt = 1;; ++attempt) {
      if (const auto general = general_failure()) return fail(unit, *general);
      AttemptResult result = send(unit, attempt, connection);
      if (!result.failure) return take(unit, std::move(result.answer), attempt);
      ChatFailure& failure = result.failure->failure;
      failure.attempts = attempt;
      if (failure.kind == ChatFailureKind::bad_request) {
        if (unit.samples.size() > 1) return ask_one_by_one(unit);
        allow_n_again();
      }
      if (!result.failure->retry || !wait_for_next(attempt, result, failure)) return fail(unit, failure);
    }
  }

  std::optional<ChatFailure> general_failure() {
    if (cancelled()) return ChatFailure{ChatFailureKind::cancelled, "cancelled", 0, 0};
    const std::lock_guard lock(mutex_);
    return general_failure_;
  }

  AttemptResult send(const Unit& unit, int attempt, HttpConnection& connection) {
    const auto asks_cancelled = [this] { return cancelled(); };
    if (!shared_.wait_out_pause(asks_cancelled)) return not_sent(ChatFailureKind::cancelled, "cancelled");
    const RequestSlots::Slot slot(shared_.slots, asks_cancelled);
    if (!slot.held()) return not_sent(ChatFailureKind::cancelled, "cancelled");
    const ChatRequest& request = requests_[unit.request];
    const int count = static_cast<int>(unit.samples.size());
    CostMeter::Reservation reservation(shared_.meter, shared_.most_cost(request, count), asks_cancelled);
    if (cancelled()) return not_sent(ChatFailureKind::cancelled, "cancelled");
    if (!reservation.granted()) return not_sent(ChatFailureKind::ceiling, ceiling_message(request, count));
    shared_.count([&](ChatTotals& totals) { ++totals.requests, totals.retries += attempt > 1; });
    const ChatAttempt what{shared_.context, shared_.options.limits, shared_.options.ca_file,
                           request_body(request, shared_.options.model, count, unit.samples.front()), count};
    AttemptResult result = attempt_chat(
        what, connection, [&](int choice, std::string_view text) { pass_on(unit, choice, attempt, text); },
        asks_cancelled);
    settle(request, result, reservation);
    return result;
  }

  AttemptResult not_sent(ChatFailureKind kind, std::string message) {
    AttemptResult result;
    result.failure = AttemptFailure{{kind, std::move(message), 0, 0}, false};
    return result;
  }

  std::string ceiling_message(const ChatRequest& request, int count) {
    return fmt::format("not sent: it may cost {:.4f}, {:.4f} are spent and the ceiling is {:.4f}; raise --max-cost",
                       shared_.most_cost(request, count), shared_.meter.spent(), *shared_.meter.ceiling());
  }

  void settle(const ChatRequest& request, const AttemptResult& result, CostMeter::Reservation& reservation) {
    if (!result.may_cost) return reservation.settle(0.0);
    const TokenUsage usage = usage_or_estimate(result.answer, request.messages);
    reservation.settle(cost_of(usage, shared_.options.prices));
    shared_.count([&](ChatTotals& totals) { totals.tokens += usage; });
  }

  void pass_on(const Unit& unit, int choice, int attempt, std::string_view text) {
    if (!on_text_) return;
    const std::lock_guard lock(text_mutex_);
    on_text_({unit.request, unit.samples[static_cast<std::size_t>(choice)], attempt, text});
  }

  //! False: there is no next attempt, and `failure` says why.
  bool wait_for_next(int attempt, const AttemptResult& result, ChatFailure& failure) {
    const RetryRules& rules = shared_.options.retry;
    const auto& waiting = shared_.around.waiting;
    const double asked_s = retry_after_seconds(result.retry_after, waiting.wall_now()).value_or(0.0);
    if (asked_s > rules.longest_retry_after_s) {
      failure.message += fmt::format("; it asks to wait {:.0f} s, longer than the {:.0f} s that are waited", asked_s,
                                     rules.longest_retry_after_s);
      return false;
    }
    if (attempt >= rules.attempts) {
      failure.message += fmt::format(" (after {} attempts)", attempt);
      return false;
    }
    const double wait_s = std::max(shared_.jittered_backoff(attempt), asked_s);
    const TimePoint next = waiting.now() + std::chrono::milliseconds(static_cast<std::int64_t>(wait_s * 1e3) + 1);
    if (failure.kind == ChatFailureKind::rate_limited) shared_.pause_all_until(next);
    sleep_until(next, waiting, [this] { return cancelled(); });
    return true;
  }

  //! Some servers refuse n. If it was something else, the single requests will be refused as well, and n is allowed
  //! again.
  void ask_one_by_one(const Unit& unit) {
    shared_.most_samples = 1;
    push(unit, 1);
  }

  void allow_n_again() {
    if (!shared_.ignores_n) shared_.most_samples = shared_.options.most_samples_per_request;
  }

  void take(const Unit& unit, ServerAnswer answer, int attempts) {
    if (answer.choices.size() == 1 && unit.samples.size() > 1) {
      shared_.ignores_n = true;
      shared_.most_samples = 1;
    }
    std::vector<ChatSample> samples =
        samples_of(std::move(answer), requests_[unit.request].messages, shared_.options.prices);
    for (std::size_t at = 0; at < samples.size(); ++at)
      keep(unit.request, unit.samples[at], std::move(samples[at]), attempts);
    push({unit.request, {unit.samples.begin() + static_cast<std::ptrdiff_t>(samples.size()), unit.samples.end()}},
         most_samples());
  }

  void keep(std::size_t at, int number, ChatSample sample, int attempts) {
    sample.attempts = attempts;
    shared_.cache.store(shared_.key_of(requests_[at], number), sample);
    shared_.count([](ChatTotals& totals) { ++totals.samples; });
    outcome(at, number).sample = std::move(sample);
  }

  void fail(const Unit& unit, const ChatFailure& failure) {
    for (const int sample : unit.samples) outcome(unit.request, sample).failure = failure;
    shared_.count([&](ChatTotals& totals) { totals.failures += static_cast<int>(unit.samples.size()); });
    const std::lock_guard lock(mutex_);
    if (concerns_all(failure.kind) && !general_failure_) general_failure_ = failure;
  }

  Shared& shared_;
  const std::vector<ChatRequest>& requests_;
  const TextCallback& on_text_;
  std::vector<std::vector<ChatSampleOutcome>> outcomes_;  //!< each is written by one thread

  std::mutex text_mutex_;
  std::mutex mutex_;  //!< guards what follows
  std::condition_variable changed_;
  std::deque<Unit> queue_;
  int working_ = 0;
  std::optional<ChatFailure> general_failure_;
  std::exception_ptr thrown_;
};

ChatClient::ChatClient(ChatClientOptions options, ApiKey key, ChatSurroundings surroundings)
    : shared_(std::make_unique<Shared>(std::move(options), std::move(key), std::move(surroundings))) {}

ChatClient::~ChatClient() = default;

std::vector<std::vector<ChatSampleOutcome>> ChatClient::complete_all(const std::vector<ChatRequest>& requests,
                                                                     const TextCallback& on_text) {
  return Run(*shared_, requests, on_text).all();
}

std::vector<ChatSampleOutcome> ChatClient::complete(const ChatRequest& request, const TextCallback& on_text) {
  return std::move(complete_all({request}, on_text).front());
}

CostEstimate ChatClient::estimate(const std::vector<ChatRequest>& requests) const {
  CostEstimate estimate;
  for (const auto& request : requests) {
    check_request(request);
    int missing = 0;
    for (int sample = request.first_sample; sample < request.first_sample + request.samples; ++sample)
      shared_->cache.contains(shared_->key_of(request, sample)) ? ++estimate.cached_samples : ++missing;
    const int most_samples = shared_->most_samples;
    const std::int64_t sendings = (missing + most_samples - 1) / most_samples;
    estimate.samples += missing;
    estimate.prompt_tokens += sendings * estimate_prompt_tokens(request.messages);
    estimate.most_completion_tokens += static_cast<std::int64_t>(missing) * request.parameters.max_tokens;
  }
  estimate.prompt_cost = cost_of({estimate.prompt_tokens, 0, 0, true}, shared_->options.prices);
  estimate.at_most =
      estimate.prompt_cost + cost_of({0, estimate.most_completion_tokens, 0, true}, shared_->options.prices);
  return estimate;
}

ChatTotals ChatClient::totals() const {
  const std::lock_guard lock(shared_->mutex);
  ChatTotals totals = shared_->totals;
  totals.cost = shared_->meter.spent();
  return totals;
}

std::string server_or_environment(const std::string& given) {
  if (!given.empty()) return given;
  if (const char* value = std::getenv("OPENAI_BASE_URL"); value && *value) return value;
  throw UsageError("name the server: --server https://api.example.com/v1, or set OPENAI_BASE_URL");
}

}  // namespace cudal1

// What requests cost, and the ceiling that they may not pass.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "policy/remote/token_usage.hpp"

namespace cudal1 {

//! In any currency; costs are in the same.
struct Prices {
  double input_per_million = 0.0;   //!< for a million tokens of prompts
  double output_per_million = 0.0;  //!< for a million tokens of answers and reasoning
  bool known() const { return input_per_million > 0.0 || output_per_million > 0.0; }
};

double cost_of(const TokenUsage& usage, const Prices& prices);

//! What a set of requests would cost, before the first is sent.
struct CostEstimate {
  int samples = 0;         //!< to be asked for
  int cached_samples = 0;  //!< that cost nothing
  std::int64_t prompt_tokens = 0;
  std::int64_t most_completion_tokens = 0;
  double prompt_cost = 0.0;
  double at_most = 0.0;  //!< if every answer is as long as it may be; retries come on top
};

std::string describe(const CostEstimate& estimate, const Prices& prices);  //!< one line

//! Adds up what was spent; a request that could pass the ceiling gets no reservation. Safe to share among threads.
class CostMeter {
 public:
  explicit CostMeter(std::optional<double> ceiling) : ceiling_(ceiling) {}

  //! Holds what a request may cost at most, until it is known what it did cost.
  class Reservation {
   public:
    //! Waits while others hold so much that it could pass the ceiling, and gives up when it would without them.
    Reservation(CostMeter& meter, double at_most, const std::function<bool()>& cancelled)
        : meter_(meter), at_most_(at_most), granted_(meter.reserve(at_most, cancelled)) {}
    ~Reservation() { settle(0.0); }
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    bool granted() const { return granted_; }
    void settle(double spent);  //!< once; nothing if it was not granted

   private:
    CostMeter& meter_;
    double at_most_;
    bool granted_;
  };

  double spent() const;
  std::optional<double> ceiling() const { return ceiling_; }

 private:
  bool reserve(double at_most, const std::function<bool()>& cancelled);
  void settle(double reserved, double spent);

  mutable std::mutex mutex_;
  std::condition_variable settled_;
  std::optional<double> ceiling_;
  double spent_ = 0.0;
  double reserved_ = 0.0;
  int reservations_ = 0;
};

}  // namespace cudal1

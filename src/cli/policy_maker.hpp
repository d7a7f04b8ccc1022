// The policies of a search for one task, and the models behind them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/policy_options.hpp"
#include "cli/policy_record.hpp"
#include "device/vgpu/model/gpu_profile.hpp"
#include "graph/task.hpp"
#include "policy/policy.hpp"
#include "policy/written/language_model_policy.hpp"

namespace cudal1 {

//! Must outlive the policies it makes.
class PolicyMaker {
 public:
  struct Surroundings {
    std::uint64_t seed = 0;
    int tasks = 1;                                        //!< that share a ceiling of cost
    std::function<bool()> stop;                           //!< may be asked by several threads
    std::function<void(const std::string& line)> report;  //!< problems, warnings, what a request would cost
  };
  //! Takes the key of a server out of the environment, so that no process which is started later has it: make this
  //! before any of them.
  PolicyMaker(PolicyOptions options, Surroundings surroundings);
  ~PolicyMaker();

  //! Throws Error where a model cannot be had, UsageError for options that cannot be meant.
  std::unique_ptr<Policy> make(const Task& task, const vgpu::GpuProfile& gpu);

  //! What parts of a mixture write by themselves: "local" or "remote", and "search".
  AnswerWriter make_writer(const std::string& name, const Task& task, const vgpu::GpuProfile& gpu);
  std::unique_ptr<Policy> make_search(const Task& task, const vgpu::GpuProfile& gpu) const;
  std::vector<PolicyShare> shares() const { return policy_shares(options_); }

  //! Of the language models among the policies that were made.
  std::vector<PolicyRecord> records() const;

 private:
  class Models;
  std::unique_ptr<Policy> make_part(const std::string& name, const Task& task, const vgpu::GpuProfile& gpu);
  std::unique_ptr<Policy> make_one(const std::string& name, const Task& task, const vgpu::GpuProfile& gpu);

  PolicyOptions options_;
  Surroundings surroundings_;
  ApiKey key_;
  std::unique_ptr<Models> models_;
  struct Written {
    std::string name;
    const LanguageModelPolicy* policy = nullptr;
  };
  std::vector<Written> written_;
};

}  // namespace cudal1

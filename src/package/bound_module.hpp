// A package with the weights of one module: decides whether a call fits, and runs it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "package/exported_plan.hpp"
#include "package/package.hpp"

namespace cudal1 {

//! Why a call is not for the program; the original has to do it.
struct DoesNotFit {
  std::string reason;
};

class BoundModule {
 public:
  explicit BoundModule(std::shared_ptr<Package> package) : package_(std::move(package)) {}

  const Package& package() const { return *package_; }

  //! `weights` and `states` as they are now; whoever changed since the last call makes `prepare` run again. They and
  //! `inputs` are as the package lists them. Throws Error or c10::Error.
  std::variant<std::vector<at::Tensor>, DoesNotFit> call(const std::vector<at::Tensor>& inputs,
                                                         const std::vector<at::Tensor>& weights,
                                                         const std::vector<at::Tensor>& states);

 private:
  //! What tells that a tensor holds what it held.
  struct Identity {
    const void* tensor = nullptr;
    const void* address = nullptr;
    std::uint64_t version = 0;
    bool operator==(const Identity&) const = default;
  };
  struct OnDevice {
    std::unique_ptr<ExportedPlan> plan;
    std::vector<Identity> weights, states;  //!< as bound; their versions change with every call, and do not count
  };

  static Identity identity_of(const at::Tensor& tensor, bool with_version);
  static bool same(const std::vector<Identity>& known, const std::vector<at::Tensor>& now, bool with_version);
  static std::vector<Identity> identities(const std::vector<at::Tensor>& tensors, bool with_version);
  OnDevice& on_device(at::Device device);

  std::shared_ptr<Package> package_;
  std::map<at::DeviceIndex, OnDevice> gpus_;
  OnDevice processor_;
  std::mutex mutex_;  // calls of several threads come one after the other
};

}  // namespace cudal1

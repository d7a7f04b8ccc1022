// A program of a package with the weights of one module: decides whether a call fits, and runs it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
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
  //! `program`: its number in the package.
  BoundModule(std::shared_ptr<Package> package, std::size_t program)
      : package_(std::move(package)), program_(*package_->programs.at(program)) {}

  const PackagedPlan& packaged() const { return program_.packaged; }

  //! Inputs as the package lists them.
  std::optional<DoesNotFit> misfit_of(at::TensorList inputs) const;

  //! `inputs` must fit. `weights` and `states` as they are now, as the package lists them; whoever changed since the
  //! last call makes `prepare` run again. Throws Error or c10::Error.
  std::variant<std::vector<at::Tensor>, DoesNotFit> call(at::TensorList inputs, at::TensorList weights,
                                                         at::TensorList states);

 private:
  //! What tells that a tensor holds what it held.
  struct Identity {
    const void* tensor = nullptr;
    const void* address = nullptr;
    std::uint64_t version = 0;
    bool operator==(const Identity&) const = default;
  };
  //! A constant where calls run. The same copy for as long as it holds: graphs keep its address.
  struct PlacedConstant {
    at::Tensor original;  // kept, so that no other tensor gets its identity
    Identity identity;
    at::Tensor copy;
  };
  struct OnDevice {
    std::unique_ptr<ExportedPlan> plan;
    std::vector<Identity> weights, states;  //!< as bound; the states' versions change with every call, and do not count
    std::map<std::size_t, PlacedConstant> constants;  //!< by their number among the weights
  };

  static Identity identity_of(const at::Tensor& tensor, bool with_version);
  static bool same(const std::vector<Identity>& known, at::TensorList now, bool with_version);
  static std::vector<Identity> identities(at::TensorList tensors, bool with_version);
  OnDevice& on_device(at::Device device);
  std::vector<at::Tensor> with_constants_placed(OnDevice& here, at::Device device, at::TensorList weights) const;
  std::optional<DoesNotFit> bind(OnDevice& here, at::Device device, at::TensorList weights, at::TensorList states);

  std::shared_ptr<Package> package_;
  PackagedProgram& program_;
  std::map<at::DeviceIndex, OnDevice> gpus_;
  OnDevice processor_;
  std::mutex mutex_;  // calls of several threads come one after the other
};

}  // namespace cudal1

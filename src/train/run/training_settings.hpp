// The one table of a configuration's keys. Reading, writing, comparing, suggestions and the manual are made of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "train/run/training_config.hpp"

namespace cudal1 {

//! What a number may be.
struct SettingRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool excludes_least = false;

  bool contains(double value) const { return (excludes_least ? value > least : value >= least) && value <= most; }
  std::string text() const;  //!< "at least 1", "above 0, at most 1"; empty: any
};

//! An enumeration by the names of its values.
struct NamedChoice {
  std::function<std::string()> name;
  std::function<bool(std::string_view)> choose;  //!< false: there is no such name
};

//! A key, and where its value is in one configuration.
struct TrainingSetting {
  using Field = std::variant<bool*, int*, std::int64_t*, std::uint64_t*, double*, std::string*, std::filesystem::path*,
                             std::vector<std::string>*, NamedChoice>;
  std::string_view section, key;
  Field field;
  std::string description = {};
  SettingRange range = {};
  std::vector<std::string> choices = {};  //!< of a string, or of each of several; empty: any
  bool may_change = false;                //!< between starts of one run: the numbers that it learns stay the same

  std::string name() const { return std::string(section) + "." + std::string(key); }
};

//! All of them, in the order of the manual. They point into `config`.
std::vector<TrainingSetting> settings_of(TrainingConfig& config);

//! As TOML has it.
nlohmann::json value_of(const TrainingSetting& setting);

//! Throws UsageError, without a place, for a value of another kind or out of range; then nothing has changed.
void set_value(const TrainingSetting& setting, const nlohmann::json& value);

}  // namespace cudal1

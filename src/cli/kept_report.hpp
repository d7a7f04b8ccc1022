// What a search that came to its end has reported, beside what it found: the same command need not do it again.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/search_process.hpp"
#include "cli/task_report.hpp"

namespace cudal1 {

//! All that a report depends on: our own code, the device, what is asked for, a local model. Empty where that cannot be
//! told (models behind a server), so nothing is kept. `request` without its task is enough.
std::string key_of_searches(const SearchRequest& request, const std::string& device_name);

class KeptReport {
 public:
  //! Nothing is kept where `key_of_searches` is empty or there is no folder.
  KeptReport(const std::filesystem::path& folder, const std::string& key_of_searches, const std::string& task_hash);

  //! As it was, but that nothing was judged now. Nothing: there is none of this key, or what it names is gone.
  std::optional<TaskReport> read() const;
  //! If its search has done all that was asked for. What cannot be written is done again the next time.
  void write(const TaskReport& report, int evaluations) const;

 private:
  std::filesystem::path file_;  // empty: nothing is kept
  std::string key_;
};

}  // namespace cudal1

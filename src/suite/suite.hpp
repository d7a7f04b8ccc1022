// A suite: many tasks under one path, each a PyTorch module or a task folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cudal1 {

struct SuiteTask {
  std::string suite;  //!< where several lie in one file, such as a benchmark's sizes
  std::optional<int> level, id;
  std::string name;
  std::filesystem::path path;  //!< a module, a task folder or its graph.json; or the JSONL file that holds `code`
  std::string code;            //!< the module's text where it has no file of its own
  std::string place;           //!< for messages: "modules/19_ReLU.py", "suite.jsonl:12"

  //! For people: "level1/19_ReLU".
  std::string label() const;
};

struct Suite {
  std::vector<SuiteTask> tasks;       //!< by suite, level, id and name
  std::vector<std::string> problems;  //!< what could not be read: a line each, with the place
};

//! Reads a KernelBench checkout, a JSONL file, a folder of modules or of task folders, or one of these. Whatever is
//! broken in it becomes a problem, the rest stays. Throws Error when the path itself is nothing of that kind.
Suite read_suite(const std::filesystem::path& path);

}  // namespace cudal1

#pragma once

#include <string>

#include "graph/task.hpp"

namespace cudal1 {

//! A generated task as training uses it.
struct TrainingTask {
  std::string family;
  Task task;  //!< with its metas; its name is family and hash
};

}  // namespace cudal1

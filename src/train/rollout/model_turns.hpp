// When a model that learns may use a GPU on which others measure.
#pragma once

#include <functional>
#include <memory>

namespace cudal1 {

//! All empty: nobody else uses it.
struct ModelTurns {
  std::function<std::shared_ptr<void>()> take;  //!< kept while something is computed
  std::function<bool()> is_due;                 //!< has somebody waited long enough for the turn that is kept?
  std::function<void()> let_pass;               //!< gives it away and gets it back; nothing may be running meanwhile
};

}  // namespace cudal1

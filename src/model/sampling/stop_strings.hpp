// Finds strings that end a text, also where they begin in one token and end in another.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

class StopStrings {
 public:
  explicit StopStrings(std::vector<std::string> strings);  //!< throws Error for an empty one

  //! The text so far grew by `bytes`: where the first stop string in it begins, if there is one by now. Of two that end
  //! within the same token the one that begins first counts.
  std::optional<std::size_t> add(std::string_view bytes);
  //! All that was added.
  const std::string& text() const { return text_; }
  const std::vector<std::string>& strings() const { return strings_; }

 private:
  std::vector<std::string> strings_;
  std::size_t longest_ = 0;
  std::string text_;
};

}  // namespace cudal1

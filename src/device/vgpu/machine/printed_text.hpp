// What a launch prints.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cudal1::vgpu {

//! Keeps the first bytes and forgets the rest, as a device's buffer for printf does: a kernel cannot fill our memory.
class PrintedText {
 public:
  static constexpr std::size_t most_bytes = std::size_t{64} << 10;

  void add(std::string_view text) {
    const std::size_t room = most_bytes - text_.size();
    text_.append(text.substr(0, room));
    complete_ = complete_ && text.size() <= room;
  }
  const std::string& text() const { return text_; }
  bool complete() const { return complete_; }

 private:
  std::string text_;
  bool complete_ = true;
};

}  // namespace cudal1::vgpu

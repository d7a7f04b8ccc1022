#include "policy/remote/sse_reader.hpp"

#include <algorithm>
#include <utility>

namespace cudal1 {

void SseReader::add(std::string_view bytes) {
  while (!bytes.empty()) {
    if (after_carriage_return_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_carriage_return_ = false;
    const std::size_t end = std::min(bytes.find_first_of("\r\n"), bytes.size());
    line_ += bytes.substr(0, end);
    if (end == bytes.size()) return;
    after_carriage_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line();
  }
}

void SseReader::finish() {
  if (has_data_) dispatch();
  line_.clear();
}

void SseReader::end_line() {
  const std::string line = std::exchange(line_, {});
  if (line.empty()) return dispatch();
  const std::size_t colon = std::min(line.find(':'), line.size());  // a line that begins with one is a comment
  if (std::string_view(line).substr(0, colon) != "data") return;
  std::string_view value = std::string_view(line).substr(std::min(colon + 1, line.size()));
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (has_data_) data_ += '\n';
  data_ += value;
  has_data_ = true;
}

void SseReader::dispatch() {
  const std::string data = std::exchange(data_, {});
  if (std::exchange(has_data_, false)) sink_(data);
}

}  // namespace cudal1

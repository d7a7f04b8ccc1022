// Server-sent events: the form in which chat servers stream.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace cudal1 {

//! Takes bytes cut anywhere and gives the data of every event that has ended. Lines end with LF, CRLF or CR.
class SseReader {
 public:
  using EventSink = std::function<void(std::string_view data)>;

  explicit SseReader(EventSink sink) : sink_(std::move(sink)) {}
  void add(std::string_view bytes);
  //! The stream has ended. An event without its empty line is given as well if its line was whole: many servers leave
  //! the last empty line out.
  void finish();

 private:
  void end_line();
  void dispatch();

  EventSink sink_;
  std::string line_;
  std::string data_;
  bool has_data_ = false;
  bool after_carriage_return_ = false;
};

}  // namespace cudal1

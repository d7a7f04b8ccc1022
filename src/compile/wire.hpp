// Fields in sequence, each with its length in front: what compiler processes and cache entries are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace cudal1 {

class FieldWriter {
 public:
  FieldWriter& text(std::string_view bytes);
  FieldWriter& number(std::uint64_t value);
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

//! The bytes may come from a hostile process or a torn file: whatever does not fit yields empty fields and ok()
//! turns false for good.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}
  std::string text();
  std::uint64_t number();
  //! A count of things that follow; false ok() when more than `most`.
  std::size_t count(std::size_t most);
  bool ok() const { return ok_; }
  bool finished() const { return ok_ && rest_.empty(); }

 private:
  std::string_view take(std::size_t bytes);
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace cudal1

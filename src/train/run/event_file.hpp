// Curves for TensorBoard, in the format that it reads: TFRecords of `Event` messages, both written here by hand, since
// all they need is a checksum and a few fields of protobuf.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/unique_fd.hpp"
#include "train/run/metrics_log.hpp"

namespace cudal1 {

//! Castagnoli's CRC-32 (RFC 3720, appendix B.4).
std::uint32_t crc32c(std::string_view bytes);

//! One start of a run has one file; the steps of a folder are counted from one beginning.
class EventFile {
 public:
  //! `first_step`: that comes first. TensorBoard forgets what earlier files of the folder say of it and of later ones,
  //! so that a run which goes on shows each step once. Times are in seconds since 1970. Throws Error.
  EventFile(const std::filesystem::path& folder, std::int64_t first_step, double now_s);

  //! The numbers of one step; a kill loses nothing of what was added. Throws Error.
  void add(std::int64_t step, const Metrics& metrics, double now_s);

  const std::filesystem::path& path() const { return file_; }

 private:
  void write_record(std::string_view event);

  std::filesystem::path file_;
  UniqueFd descriptor_;
};

}  // namespace cudal1

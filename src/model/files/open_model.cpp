#include "model/files/open_model.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/mapped_file.hpp"
#include "base/result.hpp"
#include "model/files/gguf_file.hpp"
#include "model/files/hugging_face_folder.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_memory_bytes = 1 << 20;

std::string hashed(const fs::path& file) {
  const MappedFile mapping(file);
  return sha256_hex({reinterpret_cast<const char*>(mapping.bytes().data()), mapping.bytes().size()});
}

//! What changes when a file does, as far as one can see without reading it.
std::string identity(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  return fmt::format("{}:{}:{}.{:09}", status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

//! A memory that is lost or broken costs time, nothing else: nothing here complains.
class HashMemory {
 public:
  HashMemory() : file_(cache_directory() / "models" / ".sha256.json") {
    try {
      known_ = nlohmann::json::parse(read_file(file_, max_memory_bytes), nullptr, false);
    } catch (const Error&) {
    }
    if (!known_.is_object()) known_ = nlohmann::json::object();
  }

  std::string find(const std::string& path, const std::string& identity) const {
    const auto found = known_.find(path);
    if (found == known_.end() || text_in(*found, "identity") != identity) return {};
    return text_in(*found, "sha256");
  }

  void keep(const std::string& path, const std::string& identity, const std::string& sha256) {
    known_[path] = {{"identity", identity}, {"sha256", sha256}};
    std::error_code problem;
    fs::create_directories(file_.parent_path(), problem);
    try {
      write_file_atomically(file_, known_.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    } catch (const Error&) {
    }
  }

 private:
  static std::string text_in(const nlohmann::json& entry, const char* key) {
    const auto found = entry.find(key);  // the end where it is no object
    return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
  }

  fs::path file_;
  nlohmann::json known_;
};

std::string file_sha256(const fs::path& file) {
  const std::string path = fs::absolute(file).lexically_normal().string(), now = identity(file);
  HashMemory memory;
  if (std::string known = memory.find(path, now); !known.empty()) return known;
  const std::string sha256 = hashed(file);
  if (now == identity(file)) memory.keep(path, now, sha256);
  return sha256;
}

std::string folder_sha256(const fs::path& folder) {
  Sha256 hash;
  hash.add_field(hashed(folder / "config.json"));
  for (const fs::path& file : weight_files_in(folder))
    hash.add_field(file.filename().string()).add_field(file_sha256(file));
  return hash.hex();
}

}  // namespace

std::unique_ptr<ModelWeights> open_model(const fs::path& path) {
  std::error_code problem;
  const fs::file_status status = fs::status(path, problem);
  if (!fs::exists(status))
    throw Error(
        fmt::format("{}: there is no such model; `cudal1 models` lists those that are here, `cudal1 models fetch` "
                    "gets one",
                    path.string()));
  if (fs::is_directory(status)) {
    if (!fs::exists(path / "config.json", problem))
      throw Error(fmt::format("{}: the folder has no config.json; a model is a GGUF file or a Hugging Face folder",
                              path.string()));
    return std::make_unique<HuggingFaceFolder>(path);
  }
  if (path.extension() == ".safetensors")
    throw Error(fmt::format("{}: name the folder that has this file and config.json in it", path.string()));
  return std::make_unique<GgufFile>(path);
}

std::string model_sha256(const fs::path& path) {
  std::error_code problem;
  return fs::is_directory(path, problem) ? folder_sha256(path) : file_sha256(path);
}

}  // namespace cudal1

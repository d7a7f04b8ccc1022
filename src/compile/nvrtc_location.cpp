#include "compile/nvrtc_location.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::vector<fs::path> split_folders(const std::string& list) {
  std::vector<fs::path> folders;
  std::istringstream stream(list);
  for (std::string folder; std::getline(stream, folder, ':');)
    if (!folder.empty()) folders.emplace_back(folder);
  return folders;
}

std::vector<fs::path> toolkit_roots() {
  std::vector<fs::path> roots;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string root = environment(name); !root.empty()) roots.emplace_back(root);
  roots.emplace_back("/usr/local/cuda");
  std::vector<fs::path> versioned;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/local", error))
    if (entry.path().filename().string().starts_with("cuda-")) versioned.push_back(entry.path());
  std::sort(versioned.rbegin(), versioned.rend());  // the newest first
  roots.insert(roots.end(), versioned.begin(), versioned.end());
  return roots;
}

fs::path python_packages() { return fs::path(CUDAL1_TORCH_DIR).parent_path() / "nvidia"; }

std::vector<fs::path> library_folders() {
  std::vector<fs::path> folders = {python_packages() / "cu13" / "lib", python_packages() / "cuda_nvrtc" / "lib"};
  for (const auto& root : toolkit_roots())
    for (const char* below : {"lib64", "targets/x86_64-linux/lib", "lib"}) folders.push_back(root / below);
  for (const auto& folder : split_folders(environment("LD_LIBRARY_PATH"))) folders.push_back(folder);
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"}) folders.emplace_back(folder);
  return folders;
}

//! libnvrtc.so.13 rather than libnvrtc.so: packages from PyPI have only the former.
std::optional<fs::path> library_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with("libnvrtc.so.")) found.push_back(entry.path());
  if (found.empty()) return std::nullopt;
  return *std::max_element(found.begin(), found.end());
}

std::optional<fs::path> find_library() {
  std::error_code error;
  if (const fs::path given = environment("CUDAL1_NVRTC"); !given.empty()) {
    if (fs::is_directory(given, error)) return library_in(given);
    return fs::is_regular_file(given, error) ? std::optional(given) : std::nullopt;
  }
  for (const auto& folder : library_folders())
    if (auto library = library_in(folder)) return library;
  return std::nullopt;
}

bool has_cuda_headers(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "cuda_fp16.h", error);
}

// libcu++ has lain in a folder of its own since CUDA 13; in the packages for CUDA 12, crt/ and nv/ do.
std::vector<fs::path> with_companions(const fs::path& folder) {
  std::vector<fs::path> folders = {folder};
  const fs::path packages = folder.parent_path().parent_path();
  std::error_code error;
  for (const fs::path& companion :
       {folder / "cccl", packages / "cuda_nvcc" / "include", packages / "cuda_cccl" / "include"})
    if (fs::is_directory(companion, error)) folders.push_back(companion);
  return folders;
}

// The packages that PyTorch depends on lack what mma.h and cooperative_groups.h include; a toolkit has it.
bool is_complete(const std::vector<fs::path>& folders) {
  return std::ranges::all_of(std::array{"crt/mma.h", "nv/target"}, [&folders](const char* header) {
    return std::ranges::any_of(folders, [header](const fs::path& folder) {
      std::error_code error;
      return fs::exists(folder / header, error);
    });
  });
}

std::vector<fs::path> find_headers(const fs::path& library) {
  if (const std::string given = environment("CUDAL1_CUDA_INCLUDE"); !given.empty()) {
    std::vector<fs::path> folders = split_folders(given);
    if (folders.size() == 1) return with_companions(folders.front());
    return folders;
  }
  const fs::path lib_folder = library.parent_path();
  std::vector<fs::path> candidates = {lib_folder.parent_path() / "include",
                                      lib_folder.parent_path().parent_path() / "cuda_runtime" / "include",
                                      lib_folder.parent_path().parent_path().parent_path() / "include"};
  for (const auto& root : toolkit_roots()) candidates.push_back(root / "include");
  std::vector<fs::path> best;
  for (const auto& folder : candidates) {
    if (!has_cuda_headers(folder)) continue;
    const std::vector<fs::path> folders = with_companions(folder);
    if (is_complete(folders)) return folders;
    if (best.empty()) best = folders;
  }
  return best;
}

std::string version_beside(const fs::path& library) {
  const std::string prefix = "libnvrtc-builtins.so.";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(library.parent_path(), error))
    if (const std::string name = entry.path().filename().string(); name.starts_with(prefix))
      return name.substr(prefix.size());
  return {};
}

}  // namespace

std::optional<NvrtcLocation> find_nvrtc() {
  const auto found = find_library();
  if (!found) return std::nullopt;
  std::error_code error;
  fs::path library = fs::canonical(*found, error);
  if (error) library = *found;
  return NvrtcLocation{library, find_headers(*found), version_beside(library)};
}

std::string nvrtc_search_description() {
  if (const std::string given = environment("CUDAL1_NVRTC"); !given.empty())
    return "CUDAL1_NVRTC names " + given + ", where there is none";
  return "not in the Python packages beside PyTorch, a CUDA toolkit under /usr/local, or the system's library folders; "
         "install nvidia-cuda-nvrtc with pip or set CUDAL1_NVRTC";
}

}  // namespace cudal1

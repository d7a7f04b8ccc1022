// Where models are kept, and how the one that we start from gets there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

namespace cudal1 {

//! A file of a model in a package of the Python index.
struct PackagedModel {
  std::string_view package, version;
  std::string_view member;  //!< the file's path inside the package
  std::uint64_t bytes = 0;
  std::string_view sha256;
};

//! SmolLM2-135M-Instruct, Apache-2.0.
extern const PackagedModel starting_model;

std::filesystem::path models_directory();  //!< cache_directory()/models

//! GGUF files and Hugging Face folders there, and $CUDAL1_MODEL; sorted.
std::vector<std::filesystem::path> known_models();

//! $CUDAL1_MODEL, else the starting model. Throws Error that says how to get it where it is not there.
std::filesystem::path default_model();

//! Where the starting model lies once it is fetched.
std::filesystem::path starting_model_path();

//! Throws Error unless the file has exactly the bytes that were published.
void check_published_bytes(const std::filesystem::path& file, const PackagedModel& model);

struct FetchOptions {
  bool is_brief = false;  //!< nobody waits for it: where no index answers within seconds there is none
  std::function<bool()> stop = [] { return false; };
};

//! Downloads the package with $CUDAL1_PYTHON's pip, takes the file out, compares size and hash, and moves it to where
//! it belongs, whole or not at all. Throws Error.
std::filesystem::path fetch_starting_model(const FetchOptions& options = {});

}  // namespace cudal1

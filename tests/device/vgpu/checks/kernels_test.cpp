// Every kernel below tests/vgpu_checks, compiled and run: those called has-… must end with their folder's finding,
// those called has_not-… must not. A kernel's first line says how it is launched:
//   // grid 2 block 64 shared 128 in x 128 out y 128 scratch t 32
// Shared memory in bytes, buffers in words, in the order of the parameters: `in` may only be read and counts from 0 on,
// `out` may be written and holds zeros, `scratch` holds nothing yet.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <regex>
#include <sstream>

#include "base/files.hpp"
#include "compile/clang_compiler.hpp"
#include "device/vgpu/checks/launch_checks.hpp"
#include "device/vgpu/machine/decode.hpp"
#include "device/vgpu/machine/grid.hpp"
#include "device/vgpu/ptx/parser.hpp"

namespace cudal1::vgpu {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, FaultKind> expectations{
    {"out_of_bounds_global", FaultKind::out_of_bounds},
    {"out_of_bounds_shared", FaultKind::out_of_bounds},
    {"out_of_bounds_local", FaultKind::out_of_bounds},
    {"read_only", FaultKind::read_only},
    {"misaligned", FaultKind::misaligned},
    {"barrier_that_never_opens", FaultKind::deadlock},
    {"divergent_barrier", FaultKind::divergent_barrier},
    {"part_of_a_warp", FaultKind::inactive_lane},
    {"copy_in_flight", FaultKind::shared_race},
    {"inactive_lane", FaultKind::inactive_lane},
    {"endless_loop", FaultKind::too_many_instructions},
    {"polling_for_ever", FaultKind::deadlock},
    {"division_by_zero", FaultKind::division_by_zero},
    {"uninitialised_shared", FaultKind::uninitialised_read},
    {"uninitialised_local", FaultKind::uninitialised_read},
    {"uninitialised_scratch", FaultKind::uninitialised_read},
    {"shared_race", FaultKind::shared_race},
    {"warp_race", FaultKind::shared_race},
    {"global_race", FaultKind::global_race},
    {"block_global_race", FaultKind::global_race},
};

std::vector<fs::path> kernels() {
  std::vector<fs::path> found;
  for (const fs::path& file : files_below(fs::path(CUDAL1_SOURCE_DIR) / "tests" / "vgpu_checks"))
    if (file.extension() == ".cu") found.push_back(file);
  return found;
}

//! A launch as a kernel's first line describes it, with its memory.
class DescribedLaunch {
 public:
  explicit DescribedLaunch(const std::string& description) {
    std::istringstream words(description);
    std::string what, name;
    words >> what;
    while (words >> what) {
      std::uint32_t number = 0;
      if (what == "grid" || what == "block" || what == "shared") {
        words >> number;
        (what == "grid" ? grid_ : what == "block" ? block_ : shared_) = number;
      } else {
        words >> name >> number;
        add_buffer(what, name, number);
      }
      if (!words) throw Error("a launch cannot be read: " + description);
    }
  }

  void run(const Kernel& kernel) {
    Launch launch{&kernel, {grid_, 1, 1}, {block_, 1, 1}, shared_, parameters_, 100'000};
    launch.observers = make_observers({}, {kernel.name, launch.grid, launch.block, kernel.static_shared_bytes + shared_,
                                           kernel.local_bytes, &memory_, &scratch_, &kernel.shared_arrays});
    run_grid(launch, memory_);
  }

 private:
  void add_buffer(const std::string& kind, const std::string& name, std::uint32_t words) {
    const std::uint64_t begin = (buffers_.size() + 1) << 20;
    buffers_.emplace_back(words);
    if (kind == "in") std::iota(buffers_.back().begin(), buffers_.back().end(), 0u);
    if (kind == "scratch") scratch_.add_uninitialised(begin, 4 * words);
    memory_.add({begin, 4 * words, reinterpret_cast<std::byte*>(buffers_.back().data()), name, kind != "in"});
    const auto* bytes = reinterpret_cast<const std::byte*>(&begin);
    parameters_.insert(parameters_.end(), bytes, bytes + sizeof begin);
  }

  std::uint32_t grid_ = 1, block_ = 1, shared_ = 0;
  std::vector<std::vector<std::uint32_t>> buffers_;
  std::vector<std::byte> parameters_;
  GlobalMemory memory_;
  ScratchMarks scratch_;
};

class CheckedKernels : public ::testing::TestWithParam<fs::path> {
 protected:
  static void SetUpTestSuite() {
    if (!find_clang()) return;
    ClangCompilerOptions options;
    options.use_cache = false;
    compiler_ = std::make_unique<ClangCompiler>(options);
  }
  static void TearDownTestSuite() { compiler_.reset(); }

  //! What the kernel ends with.
  static std::optional<FaultKind> finding(const std::string& source, std::string& message) {
    const auto compiled = compiler_->compile({source, {"k"}, "sm_90"});
    if (!compiled.ok()) throw Error(compiled.failure().message);
    const ptx::Module module = ptx::parse(compiled.value().binary);
    const Kernel kernel = decode(module, *module.find("k"), {});
    DescribedLaunch launch(source.substr(0, source.find('\n')));
    try {
      launch.run(kernel);
      return std::nullopt;
    } catch (const KernelFault& fault) {
      message = fault.what();
      return fault.kind;
    }
  }

  static inline std::unique_ptr<ClangCompiler> compiler_;
};

//! Whoever names a byte of shared memory also names the array, as the program does.
void expect_array_of(const std::string& message, const std::string& source) {
  if (message.find("byte") == std::string::npos || message.find(" of shared memory") == std::string::npos) return;
  static const std::regex array(R"(\((byte \d+ of|\d+ bytes (after the end|before the beginning) of) '(\w+)')");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(message, found, array)) << message;
  EXPECT_TRUE(std::regex_search(source, std::regex("__shared__[^;]*\\b" + found[3].str() + "\\b"))) << message;
}

TEST_P(CheckedKernels, EndWithTheirFindingOrWithout) {
  if (!compiler_) GTEST_SKIP() << "no clang on this machine: " << clang_search_description();
  const FaultKind expected = expectations.at(GetParam().parent_path().filename().string());
  std::string message;
  const std::string source = read_file(GetParam());
  const auto found = finding(source, message);
  expect_array_of(message, source);
  if (GetParam().filename().string().starts_with("has-"))
    EXPECT_EQ(found, expected) << message;
  else
    EXPECT_EQ(found, std::nullopt) << message;
}

TEST(CheckedKernelFolders, EachHasThreeThatHaveItAndThreeThatDoNot) {
  std::map<std::string, int> with, without;
  for (const fs::path& kernel : kernels())
    ++(kernel.filename().string().starts_with("has-") ? with : without)[kernel.parent_path().filename().string()];
  for (const auto& [folder, expected] : expectations) {
    EXPECT_GE(with[folder], 3) << folder;
    EXPECT_GE(without[folder], 3) << folder;
  }
}

std::string test_name(const ::testing::TestParamInfo<fs::path>& info) {
  std::string name = info.param.parent_path().filename().string() + "_" + info.param.stem().string();
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(VgpuChecks, CheckedKernels, ::testing::ValuesIn(kernels()), test_name);

}  // namespace
}  // namespace cudal1::vgpu

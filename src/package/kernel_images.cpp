#include "package/kernel_images.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "compile/nvrtc_library.hpp"
#include "compile/nvrtc_location.hpp"
#include "compile/nvrtc_options.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

//! The headers that lay in memory when the program was judged, under the names it includes them by.
std::map<std::string, std::string> headers_in(const fs::path& folder) {
  std::map<std::string, std::string> headers;
  for (const fs::path& file : files_below(folder))
    headers[file.string().substr(folder.string().size() + 1)] = read_file(file);
  return headers;
}

}  // namespace

KernelImages::KernelImages(const fs::path& package, const fs::path& program,
                           const std::map<std::string, std::string>& symbols)
    : folder_(package / program), headers_(package / "headers"), symbols_(symbols) {}

CompiledModule KernelImages::image_for(const std::string& target) {
  const fs::path cubin = folder_ / "cubins" / (target + ".cubin");
  if (fs::exists(cubin)) return {read_file(cubin), symbols_, {}, 0.0, false};
  const std::lock_guard lock(*mutex_);
  const auto known = compiled_.find(target);
  return known != compiled_.end() ? known->second : compiled_[target] = compiled_for(target);
}

CompiledModule KernelImages::compiled_for(const std::string& target) const {
  const auto nvrtc = find_nvrtc();
  if (!nvrtc)
    throw Error(fmt::format("no cubin for {}, and NVRTC, which could make one, is missing: {}", target,
                            nvrtc_search_description()));
  CompileQuestion question;
  question.source = read_file(folder_ / "program.cu");
  for (const auto& [kernel, symbol] : symbols_) question.kernels.push_back(kernel);
  question.options = nvrtc_options(question.source, target, *nvrtc);
  question.headers = headers_in(headers_);
  CompileAnswer answer = NvrtcLibrary(nvrtc->library.string()).compile(question);
  if (answer.outcome != CompileAnswer::Outcome::compiled)
    throw Error(fmt::format("the program does not compile for {}: {}", target, answer.log));
  return {std::move(answer.cubin), std::move(answer.symbols), {}, 0.0, false};
}

}  // namespace cudal1

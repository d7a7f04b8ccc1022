// A light look at the kernels of a text: enough to catch a wrong name, count or type before the compiler runs. What
// it cannot read (macros, unknown types) it accepts; the compiler has the last word.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "program/directives.hpp"
#include "program/element_type.hpp"
#include "program/plan.hpp"
#include "program/source_scan.hpp"

namespace cudal1 {

struct KernelParameter {
  std::string text;  //!< "const float* x"
  enum class Form { pointer, value, unknown } form = Form::unknown;
  std::optional<ElementType> type;
  bool to_const = false;  //!< a pointer through which nothing can be written
};

struct KernelSignature {
  bool readable = true;  //!< false: macros or #if lines among the parameters
  std::vector<KernelParameter> parameters;
};

class KernelCatalog {
 public:
  //! `tokens` must outlive the catalog.
  explicit KernelCatalog(const std::vector<CodeToken>& tokens);

  //! Throws Rejection when the launch does not fit the kernel it names.
  void check(const LaunchDirective& launch) const;

  //! By argument of a launch: false where every kernel of that name takes a pointer to const. What the text does not
  //! show may write.
  std::vector<bool> may_write(const LaunchStep& launch) const;

 private:
  void collect_macros(const std::vector<CodeToken>& tokens);
  bool may_come_from_macro(std::string_view name) const;
  [[noreturn]] void reject_missing(const LaunchDirective& launch, std::string_view name) const;

  std::map<std::string, std::vector<KernelSignature>, std::less<>> kernels_;  //!< several: overloads, #if branches
  std::set<std::string_view> macros_;
  std::unordered_set<std::string_view> words_;
  bool has_device_headers_ = false;
  bool pastes_kernel_names_ = false;  //!< a macro with ## and __global__ can make any name
};

}  // namespace cudal1

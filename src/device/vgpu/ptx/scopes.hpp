// Names inside braces.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

namespace cudal1::ptx {

//! Names declared inside braces, from the outermost scope inward.
class Scopes {
 public:
  void open() { names_.emplace_back(); }
  void close() { names_.pop_back(); }
  std::size_t depth() const { return names_.size(); }

  //! Returns the name that is unique in the function.
  std::string declare(const std::string& name) {
    const std::string unique = names_.size() > 1 ? fmt::format("{}#{}", name, ++counter_) : name;
    names_.back()[name] = unique;
    return unique;
  }

  std::string resolve(const std::string& name) const {
    for (auto scope = names_.rbegin(); scope != names_.rend(); ++scope)
      if (const auto found = scope->find(name); found != scope->end()) return found->second;
    return name;
  }

 private:
  std::vector<std::map<std::string, std::string>> names_;
  int counter_ = 0;
};

}  // namespace cudal1::ptx

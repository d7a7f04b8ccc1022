#include "device/vgpu/ptx/parser.hpp"

#include <set>
#include <utility>

#include "device/vgpu/ptx/function_parser.hpp"
#include "device/vgpu/ptx/variable_parser.hpp"

namespace cudal1::ptx {
namespace {

const std::set<std::string, std::less<>> linkages{"visible", "extern", "weak", "common"};

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view ptx) : tokens_(ptx) {}

  Module run() {
    while (!tokens_.at_end()) top_level();
    return std::move(module_);
  }

 private:
  void top_level() {
    if (!tokens_.at_directive()) tokens_.fail("a directive expected, not " + tokens_.shown());
    if (tokens_.accept_directive("version")) {
      module_.version = tokens_.take().text;
    } else if (tokens_.accept_directive("target")) {
      module_.target = tokens_.expect_word("a target");
      while (tokens_.accept(',')) tokens_.expect_word("a target option");
    } else if (tokens_.accept_directive("address_size")) {
      if (tokens_.expect_integer() != 64) tokens_.fail("only 64-bit addresses are known");
    } else if (tokens_.accept_directive("file")) {
      file();
    } else if (tokens_.accept_directive("section")) {
      section();
    } else {
      declaration();
    }
  }

  void file() {
    const auto index = static_cast<int>(tokens_.expect_integer());
    if (tokens_.now().kind != Token::Kind::text) tokens_.fail("a file name expected, not " + tokens_.shown());
    module_.files[index] = tokens_.take().text;
    while (tokens_.accept(',')) tokens_.expect_integer();  // time and size
  }

  //! Debug information, which is for debuggers.
  void section() {
    tokens_.take();
    tokens_.expect('{');
    for (int depth = 1; depth > 0;) {
      if (tokens_.at_end()) tokens_.fail("a section has no end");
      const Token token = tokens_.take();
      depth += token.is('{') ? 1 : token.is('}') ? -1 : 0;
    }
  }

  void declaration() {
    bool external = false;
    while (tokens_.at_directive() && linkages.contains(tokens_.now().text)) external |= tokens_.take().text == "extern";
    if (tokens_.accept_directive("entry"))
      module_.functions.push_back(read_function(tokens_, true));
    else if (tokens_.accept_directive("func"))
      module_.functions.push_back(read_function(tokens_, false));
    else
      for (Variable& variable : read_variables(tokens_, external)) module_.variables.push_back(std::move(variable));
  }

  TokenReader tokens_;
  Module module_;
};

}  // namespace

Module parse(std::string_view ptx) { return ModuleParser(ptx).run(); }

}  // namespace cudal1::ptx

#include "device/vgpu/machine/shared_origins.hpp"

#include <algorithm>
#include <set>

namespace cudal1::vgpu {
namespace {

using ptx::Instruction;
using ptx::Operand;

//! What is known of a value. It only ever goes down this list while the function is gone through again and again.
struct Origin {
  enum class Kind { unknown_yet, number, array, anything };
  Kind kind = Kind::unknown_yet;
  std::string array = {};
  bool operator==(const Origin&) const = default;
};

//! What a compiler writes needs a few; text made to need thousands gets no origins.
constexpr int most_passes = 32;

const Origin number{Origin::Kind::number}, anything{Origin::Kind::anything};

//! Of a register that is either.
Origin either(const Origin& a, const Origin& b) {
  if (a.kind == Origin::Kind::unknown_yet) return b;
  return b.kind == Origin::Kind::unknown_yet || a == b ? a : anything;
}

//! Of a sum.
Origin sum(const Origin& a, const Origin& b) {
  if (a.kind == Origin::Kind::unknown_yet || b.kind == Origin::Kind::unknown_yet) return {};
  if (a == number) return b;
  return b == number ? a : anything;
}

class OriginSearch {
 public:
  OriginSearch(const ptx::Function& function, const std::function<bool(const std::string&)>& is_shared_array)
      : function_(function), is_shared_array_(is_shared_array) {
    for (const Instruction& instruction : function.instructions)
      for_each_result(instruction, [&](const std::string& result) { written_.insert(result); });
  }

  std::map<std::string, std::string> run() {
    std::map<std::string, std::string> arrays;
    int passes = 0;
    while (go_through())
      if (++passes == most_passes) return arrays;
    for (const auto& [name, origin] : origins_)
      if (origin.kind == Origin::Kind::array) arrays[name] = origin.array;
    return arrays;
  }

 private:
  template <class Use>
  static void for_each_result(const Instruction& instruction, Use use) {
    if (instruction.operands.empty()) return;
    const Operand& first = instruction.operands[0];
    if (first.kind == Operand::Kind::name) use(first.name);
    for (const Operand& element : first.elements)
      if (first.kind == Operand::Kind::list) use(element.name);
  }

  //! Whether it learnt anything.
  bool go_through() {
    bool changed = false;
    for (const Instruction& instruction : function_.instructions)
      for_each_result(instruction, [&](const std::string& result) {
        Origin& known = origins_[result];
        const Origin now = either(known, result_of(instruction));
        changed = changed || now != known;
        known = now;
      });
    return changed;
  }

  Origin origin_of(const Operand& operand) const {
    if (operand.kind == Operand::Kind::list) return elements_of(operand);
    if (operand.kind != Operand::Kind::name) return number;
    if (is_shared_array_(operand.name)) return {Origin::Kind::array, operand.name};
    if (!written_.contains(operand.name)) return number;
    const auto found = origins_.find(operand.name);
    return found == origins_.end() ? Origin() : found->second;
  }

  Origin elements_of(const Operand& list) const {
    Origin all = number;
    for (const Operand& element : list.elements) all = sum(all, origin_of(element));
    return all.kind == Origin::Kind::array ? anything : all;
  }

  Origin result_of(const Instruction& instruction) const {
    const std::string& op = instruction.opcode;
    if (op == "ld" || op == "atom") return number;
    const auto source = [&](std::size_t i) {
      return i < instruction.operands.size() ? origin_of(instruction.operands[i]) : number;
    };
    if (op == "mov" || op == "cvta" || op == "cvt") return source(1);
    if (op == "add") return sum(source(1), source(2));
    if (op == "sub") return sum(source(1), only_a_number(source(2)));
    if (op == "mad") return sum(only_a_number(sum(source(1), source(2))), source(3));
    Origin all = number;
    for (std::size_t i = 1; i < instruction.operands.size(); ++i) all = sum(all, source(i));
    return only_a_number(all);
  }

  static Origin only_a_number(const Origin& origin) { return origin.kind == Origin::Kind::array ? anything : origin; }

  const ptx::Function& function_;
  const std::function<bool(const std::string&)>& is_shared_array_;
  std::set<std::string> written_;
  std::map<std::string, Origin> origins_;
};

}  // namespace

std::map<std::string, std::string> shared_origins(const ptx::Function& function,
                                                  const std::function<bool(const std::string&)>& is_shared_array) {
  return OriginSearch(function, is_shared_array).run();
}

}  // namespace cudal1::vgpu

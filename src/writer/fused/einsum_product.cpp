#include "writer/fused/einsum_product.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "graph/operator_name.hpp"

namespace cudal1 {
namespace {

bool has(const std::string& letters, char letter) { return letters.find(letter) != std::string::npos; }

bool are_different_letters(const std::string& letters) {
  const bool all = std::ranges::all_of(letters, [](unsigned char letter) { return std::isalpha(letter) != 0; });
  return all && std::set<char>(letters.begin(), letters.end()).size() == letters.size();
}

//! "bij,bjk->bik", with the result spelled out.
std::optional<EinsumProduct> parsed(std::string text) {
  std::erase(text, ' ');
  const std::size_t comma = text.find(','), arrow = text.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || comma > arrow) return std::nullopt;
  EinsumProduct made;
  made.left = text.substr(0, comma);
  made.right = text.substr(comma + 1, arrow - comma - 1);
  made.result = text.substr(arrow + 2);
  for (const std::string* letters : {&made.left, &made.right, &made.result})
    if (!are_different_letters(*letters)) return std::nullopt;
  return made;
}

//! False: not one letter, or one that only one operand has.
bool find_depth(EinsumProduct& product) {
  for (const char letter : product.left + product.right) {
    if (has(product.result, letter) || letter == product.depth) continue;
    if (product.depth != 0 || !has(product.left, letter) || !has(product.right, letter)) return false;
    product.depth = letter;
  }
  return product.depth != 0;
}

//! False: batches, rows and columns do not follow each other.
bool find_groups(EinsumProduct& product) {
  for (const char letter : product.result) {
    const bool of_left = has(product.left, letter), of_right = has(product.right, letter);
    if (of_left && of_right) {
      if (product.rows + product.columns > 0) return false;
      ++product.batches;
    } else if (of_left) {
      if (product.columns > 0) return false;
      ++product.rows;
    } else if (of_right) {
      ++product.columns;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<EinsumProduct> einsum_product(const Node& node) {
  if (base_name(node.op) != "einsum") return std::nullopt;
  const auto* equation = argument_as<std::string>(node, 0, "equation");
  const auto* tensors = argument_as<ValueList>(node, 1, "tensors");
  if (equation == nullptr || tensors == nullptr || tensors->size() != 2) return std::nullopt;
  auto product = parsed(*equation);
  if (!product || !find_depth(*product)) return std::nullopt;
  EinsumProduct swapped = *product;
  if (find_groups(*product)) return product;
  std::swap(swapped.left, swapped.right);
  std::swap(swapped.left_operand, swapped.right_operand);
  return find_groups(swapped) ? std::optional(swapped) : std::nullopt;
}

}  // namespace cudal1

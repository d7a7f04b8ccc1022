// The tokens of a model as bytes, ordered so that those which begin alike are looked at together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudal1 {

class TokenVocabulary {
 public:
  //! `bytes`: by token, what it adds to a text; empty for special tokens, which no grammar allows. `end_tokens` are
  //! allowed where a text may end, and only there. Throws Error for an end token that is not in the vocabulary.
  TokenVocabulary(std::vector<std::string> bytes, std::vector<std::int32_t> end_tokens);

  std::int32_t size() const { return static_cast<std::int32_t>(bytes_.size()); }
  const std::string& bytes(std::int32_t token) const { return bytes_[static_cast<std::size_t>(token)]; }
  const std::vector<std::int32_t>& end_tokens() const { return end_tokens_; }
  bool is_end_token(std::int32_t token) const;

  //! One byte of a token; the tree of all of them in the order of a walk from its root.
  struct TreeNode {
    std::uint8_t byte = 0;
    std::uint32_t depth = 0;                        //!< 1: a token's first byte
    std::uint32_t behind_subtree = 0;               //!< the next node that does not begin like this one
    std::uint32_t first_token = 0, past_token = 0;  //!< tokens that end here, in tokens_in_order()
  };
  const std::vector<TreeNode>& tree() const { return tree_; }
  const std::vector<std::int32_t>& tokens_in_order() const { return tokens_in_order_; }
  std::size_t longest_token_bytes() const { return longest_; }

 private:
  void build_tree();
  void close_nodes(std::vector<std::size_t>& open, std::size_t depth);

  std::vector<std::string> bytes_;
  std::vector<std::int32_t> end_tokens_;
  std::vector<TreeNode> tree_;
  std::vector<std::int32_t> tokens_in_order_;
  std::size_t longest_ = 0;
};

}  // namespace cudal1

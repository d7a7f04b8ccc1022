// A language model in this process: files, tokenizer, decoder and sampling put together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "model/model_weights.hpp"
#include "model/sampling/slot_decoder.hpp"
#include "model/sampling/token_sampler.hpp"
#include "policy/text_generator.hpp"

namespace cudal1 {

//! The weights need not outlive what is made. Throws Error.
using MakeDecoder = std::function<std::unique_ptr<SlotDecoder>(const ModelWeights& weights, std::int64_t slots,
                                                               std::int64_t slot_capacity)>;

struct LocalGeneratorOptions {
  std::filesystem::path model;         //!< a GGUF file or a Hugging Face folder
  std::filesystem::path adapter = {};  //!< a LoRA adapter in PEFT's format; empty: none
  SamplingParameters sampling = {};
  std::uint64_t seed = 0;
  int threads = 0;                                         //!< of the CPU; 0: as many as the machine has cores
  std::int64_t slots = 8;                                  //!< texts that are written at once
  std::int64_t most_context = 8192;                        //!< tokens; fewer where the model has fewer
  std::function<bool()> cancelled = [] { return false; };  //!< asked every few tokens; what is under way ends then
  MakeDecoder make_decoder = {};                           //!< empty: on the CPU
  //! Asked for before texts are written and kept until they are: a turn on a GPU where others measure. Empty: none.
  std::function<std::shared_ptr<void>()> take_turn = {};
};

class LocalGenerator : public TextGenerator {
 public:
  //! Of the context, which chat forms put around a few messages.
  static constexpr std::size_t tokens_of_form = 64;

  //! Throws Error that says what is wrong with the model, its tokenizer or the adapter.
  explicit LocalGenerator(const LocalGeneratorOptions& options);
  ~LocalGenerator() override;

  std::vector<GeneratedText> generate(const GenerationRequest& request) override;
  std::size_t count_tokens(std::string_view text) const override;
  std::size_t context_tokens() const override;

  //! One line where the adapter was trained on another model; else empty.
  const std::string& warning() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cudal1

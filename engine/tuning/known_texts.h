// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Texts that vanilla decoding gave, cached as K/V rows and hidden states of their output tokens, so that wide
// passes can compute the predictions of any draft. Each output token is a separate row that attends to the
// K/V the target wrote for the tokens before it, like the first step of a draft from that token.

#include <draftscope/base/result.h>
#include <draftscope/engine/tuning/score_setting.h>
#include <draftscope/engine/tuning/teacher_forced.h>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace draftscope::engine {

struct KnownText {
  std::vector<std::int32_t> tokens;  ///< prompt and output
  std::int32_t prompt_size = 0;
  std::int32_t first_cache_row = 0;  ///< row of the first token's K/V; those of other tokens follow
  std::size_t first = 0;             ///< index of the first output token in the list of all texts' tokens
  std::size_t count = 0;             ///< output tokens with a following token, which may end the text
  [[nodiscard]] std::size_t end() const { return first + count; }
  /// Number of tokens that rounds emit: all but the prefill's.
  [[nodiscard]] std::int64_t emitted() const {
    const auto output = static_cast<std::int64_t>(tokens.size()) - prompt_size;
    return output > 0 ? output - 1 : 0;
  }
};

class KnownTexts {
 public:
  /// Decodes every prompt of the setup, which must outlive this object. None = cancelled. Fails as decode()
  /// does, and if the cache has no room for all texts. Memory: n_layers · d_model floats per output token.
  [[nodiscard]] static Result<std::optional<KnownTexts>> decode(const ScoringSetup& setup);

  /// The texts, in an order in which the first few are spread over the prompts.
  [[nodiscard]] std::span<const KnownText> texts() const { return texts_; }
  /// The token that follows each output token, in order of the texts; it may be one that ends a text.
  [[nodiscard]] std::span<const std::int32_t> next() const { return next_; }

  /// Width of the widest pass, in output tokens.
  [[nodiscard]] std::size_t width() const;

  /// Appends a draft's predictions after output tokens [begin, end) of all texts to `best`; at most width()
  /// of them. A pass starts at the first sublayer that the draft skips, from the target's states there,
  /// unless the draft has its own weights. Another decode on the backend invalidates the texts.
  [[nodiscard]] Result<void> predict(const DraftSubmodel& draft, std::size_t begin, std::size_t end,
                                     std::vector<TopToken>& best);

 private:
  explicit KnownTexts(const ScoringSetup& setup);
  [[nodiscard]] Result<bool> add(std::span<const std::int32_t> prompt);
  [[nodiscard]] Result<void> keep_states();
  void list_rows(std::size_t begin, std::size_t end);
  void list_ancestors(std::size_t begin, std::size_t end);

  struct TokenPlace {
    std::size_t text = 0;
    std::int32_t position = 0;
  };

  const ScoringSetup* setup_;
  std::int32_t scratch_ = 0;  ///< first cache row of a pass
  std::int32_t lowest_ = 0;   ///< cache rows from here on are in use
  std::vector<KnownText> texts_;
  std::vector<TokenPlace> places_;
  std::vector<std::int32_t> next_;  ///< token after each output token
  std::vector<float> states_;       ///< [layer boundary 1 … n_layers][output token][d_model]
  std::vector<Row> rows_;
  std::vector<std::uint64_t> ancestors_;
  Outputs outputs_;
};

}  // namespace draftscope::engine

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Texts that vanilla decoding gave, cached as K/V rows and hidden states of their output tokens, so that the
// predictions of any draft can be had in wide passes: each output token is a row of its own that attends to
// the K/V the target wrote for the tokens before it, as the first step of a draft does from that token.

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
  std::int32_t first_cache_row = 0;  ///< row of the first token's K/V; the others follow
  std::size_t first = 0;             ///< index of the first output token among those of all texts
  std::size_t count = 0;             ///< output tokens that another one follows, be it one that ends the text
  [[nodiscard]] std::size_t end() const { return first + count; }
  /// That rounds emit: all but the prefill's.
  [[nodiscard]] std::int64_t emitted() const {
    const auto output = static_cast<std::int64_t>(tokens.size()) - prompt_size;
    return output > 0 ? output - 1 : 0;
  }
};

class KnownTexts {
 public:
  /// Decodes every prompt of the setup, which must outlive this. None = cancelled. Fails as decode() does,
  /// and if the cache has no room for all texts. Memory: n_layers · d_model floats an output token.
  [[nodiscard]] static Result<std::optional<KnownTexts>> decode(const ScoringSetup& setup);

  /// In an order in which the first few are spread over the prompts.
  [[nodiscard]] std::span<const KnownText> texts() const { return texts_; }
  /// The token that follows each output token, in the order of the texts: also one that ends a text.
  [[nodiscard]] std::span<const std::int32_t> next() const { return next_; }

  /// Width of the widest pass, in output tokens.
  [[nodiscard]] std::size_t width() const;

  /// Predictions of a draft after output tokens [begin, end) of all texts, at most width() of them, appended
  /// to `best`. A pass starts at the first sublayer that the draft skips, from the states that the target had
  /// there, unless it has weights of its own. Another decode on the backend voids the texts.
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
  std::int32_t lowest_ = 0;   ///< cache rows from here on are taken
  std::vector<KnownText> texts_;
  std::vector<TokenPlace> places_;  ///< place of each output token
  std::vector<std::int32_t> next_;  ///< after each output token
  std::vector<float> states_;       ///< [layer boundary 1 … n_layers][output token][d_model]
  std::vector<Row> rows_;
  std::vector<std::uint64_t> ancestors_;
  Outputs outputs_;
};

}  // namespace draftscope::engine

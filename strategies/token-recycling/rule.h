// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Token recycling: after a token it guesses the tokens that the target ranked highest there when it last
// verified that token, as a tree of fixed form.
// Source: Luo et al., "Turning Trash into Treasure: Accelerating Inference of Large Language Models with
// Token Recycling" (ACL 2025, arXiv 2408.08696).
//
// The tree is computed here. Its nodes are the likeliest ones if the r-th kept token (from 1) after any token
// is correct with probability r^-1.75 / 2. For 8 kept tokens, 80 nodes and depth 6 its levels have 8, 21, 25,
// 19, 6 and 1 nodes, those of the published one 8, 21, 25, 15, 8 and 3.

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <cstdint>
#include <span>
#include <vector>

#include "strategies/rule_guess.h"

namespace draftscope::speculation {

struct RecyclingOptions {
  std::int32_t successors = 8;  ///< Tokens kept per token, k.
  std::int32_t nodes = 80;      ///< Maximum nodes of the tree.
  std::int32_t depth = 6;       ///< Depth of the tree.
  bool across_requests = true;  ///< Whether the kept tokens stay from request to request.
};

/// One place of the tree: the kept token of this rank after the parent's token.
struct RankedNode {
  std::int32_t parent = -1;  ///< Index of an earlier node; -1 = the text's end.
  std::int32_t rank = 0;
  std::int32_t depth = 1;
  double probability = 1.0;  ///< Probability of the path down to it.
};

/// The tree's places, in order of depth, parent and rank.
[[nodiscard]] std::vector<RankedNode> recycling_tree(const RecyclingOptions& options);

class TokenRecycling {
 public:
  /// Keeps options.successors numbers for each token of the vocabulary; initially no token has any.
  TokenRecycling(const RecyclingOptions& options, std::int32_t vocab);

  /// Begins a request; none of `end_tokens` is ever guessed.
  void begin_request(std::span<const std::int32_t> end_tokens);
  /// Keeps the likeliest tokens after `token`, the best first, up to options.successors of them.
  void keep(std::int32_t token, std::span<const std::int32_t> likeliest);
  /// The guesses after `text`; they follow its last token. Valid until the next call. Allocates nothing.
  [[nodiscard]] std::span<const TextGuess> guess(std::span<const std::int32_t> text);

 private:
  RecyclingOptions options_;
  std::vector<RankedNode> tree_;
  std::vector<std::int32_t> kept_;   // [vocab][successors]; -1 = none
  std::vector<std::int32_t> known_;  // tokens with kept successors since the start
  std::vector<std::int32_t> end_tokens_;
  std::vector<std::int32_t> place_;  // [node of the tree]: index of its guess; -1 = none
  std::vector<TextGuess> guesses_;
};

[[nodiscard]] RecyclingOptions recycling_options(const StrategySpecification& token_recycling);

}  // namespace draftscope::speculation

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The verdict on a draft: the draft tokens that the target accepts, and the bonus token after them. Drafts
// are token trees, of which a chain is a special case.
//
// With a temperature, siblings are tried in the order they were drawn. Rejecting a token that was drawn from
// q changes both distributions: the target becomes norm(max(p − q, 0)), and the draft becomes q without the
// token, normalised (SpecInfer, Miao et al. 2024, §4.3, for siblings without replacement; rule 4 of
// docs/methods.md, Exact acceptance). Rejecting a guess, which is a point mass, removes it from the target
// (rule 2). At a leaf the token is drawn from the remaining target distribution, warped as usual.
//
// A chain can be judged as a block instead (Sun et al., "Block Verification Accelerates Speculative
// Decoding", ICLR 2025, arXiv 2403.10444, algorithm 2).

#include <draftscope/engine/backend.h>
#include <draftscope/engine/random.h>
#include <draftscope/engine/sampling.h>
#include <draftscope/engine/strategy.h>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace draftscope::engine {

struct Verdict {
  std::vector<std::int32_t> path;    ///< accepted nodes from the root down
  std::vector<std::uint8_t> tested;  ///< by node: whether the target reached it
  std::int32_t bonus_token = -1;     ///< target's token after the path (correction or bonus)
  /// Row after the path whose logits form no distribution: there is no bonus token, and the text cannot
  /// continue. -1 = all rows that the verdict needed had one. Rows off the path do not matter.
  std::int32_t undefined_row = -1;
};

/// A draft with the distributions from which its tokens were drawn.
struct Drawn {
  std::span<const DraftNode> nodes;
  std::span<const Distribution> by_depth;  ///< [d − 1] for nodes at depth d; empty = all nodes are guesses
  /// Index in `by_depth`, per node, of the distribution it was drawn from, instead of its depth's; −1 = it is
  /// a guess. Empty = by depth.
  std::span<const std::int32_t> drawn_from = {};
};

/// The target's distribution after row r of the verification (0 = root, i + 1 = node i); empty if its logits
/// form none. Valid until the next call.
using TargetAt = std::function<const Distribution&(std::int32_t row)>;

/// Decides by the target's best tokens: `best` has one after the root, then one after each node.
void judge_greedily(std::span<const DraftNode> nodes, std::span<const TopToken> best, Verdict& verdict);

class SampledJudge {
 public:
  /// Decides with the random choices of `chooser`; the token after the root is at `root_position` + 1.
  void judge(const Drawn& drawn, const TargetAt& target_at, std::int32_t root_position, Chooser& chooser,
             Verdict& verdict);

  /// Decides on a chain with distributions as a block. Let p₀ = 1 and pᵢ = min(pᵢ₋₁·p(xᵢ)/q(xᵢ), 1). The
  /// first i tokens may stay with probability Sᵢ/(Sᵢ + 1 − pᵢ), where Sᵢ = Σ max(pᵢ·p − q, 0) after them; for
  /// all tokens the probability is pᵢ. The longest such beginning stays, and the bonus token is drawn from
  /// max(pᵢ·p − q, 0), or from p if all stay. The choices use random numbers of this round only
  /// (block_branch), since the number of tokens that stay also depends on the tokens after them.
  void judge_block(const Drawn& drawn, const TargetAt& target_at, std::int32_t root_position,
                   Chooser& chooser, Verdict& verdict);

 private:
  Distribution target_, draft_, rest_;  // members to reuse their memory
};

/// Draw::branch of everything that a round judged as a block draws and decides. It differs from that of any
/// other round, and of any sibling.
[[nodiscard]] constexpr std::int32_t block_branch(std::int32_t root_position) {
  return max_verification_rows + root_position;
}

/// Decides if draft and target share their noise (sampling.h), by the target's choice only.
void judge_coupled(std::span<const DraftNode> nodes, const TargetAt& target_at, std::int32_t root_position,
                   CounterKey key, Verdict& verdict);

/// AdaEDL's lower bound on the acceptance of a draft token: 1 − √(w·H(q)). H is the entropy of the draft's
/// distribution q in nats; w is the weight that the paper calls γ and sets to 0.2. Source: Agrawal et al.
/// 2024, "AdaEDL: Early Draft Stopping for Speculative Decoding of Large Language Models via an Entropy-based
/// Lower Bound on Token Acceptance Probability", arXiv 2410.18351.
///
/// Computes the bound for the softmax at temperature 1; the logits must form a distribution.
[[nodiscard]] double acceptance_bound(std::span<const float> logits, double weight);

/// Sets `to` = `from`, with room for the largest size that `from` has had, so that later copies of larger
/// ones allocate nothing.
inline void copy_distribution(const Distribution& from, Distribution& to) {
  to.tokens.reserve(from.tokens.capacity());
  to.probabilities.reserve(from.probabilities.capacity());
  to = from;
}

}  // namespace draftscope::engine

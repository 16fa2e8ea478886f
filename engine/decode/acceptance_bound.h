// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// AdaEDL's lower bound on the acceptance of a draft token (Agrawal et al. 2024, "AdaEDL: Early Draft Stopping
// for Speculative Decoding of Large Language Models via an Entropy-based Lower Bound on Token Acceptance
// Probability", arXiv 2410.18351): 1 − √(w·H(q)), with H the entropy of the draft's distribution q in nats
// and w the weight that the paper calls γ and sets to 0.2.

#include <span>

namespace draftscope::engine {

/// The bound for the softmax at temperature 1 of logits that make a distribution.
[[nodiscard]] double acceptance_bound(std::span<const float> logits, double weight);

}  // namespace draftscope::engine

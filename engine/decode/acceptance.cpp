// SPDX-License-Identifier: GPL-3.0-or-later
#include "decode/acceptance.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace draftscope::engine {

namespace {

/// Row of a node in the verification, where the root is row 0. The node's first child, if it has any, has at
/// least this number.
std::size_t row_of(std::int32_t node) {
  const std::int32_t row = node + 1;
  return static_cast<std::size_t>(row);
}

void begin(std::span<const DraftNode> nodes, Verdict& verdict) {
  verdict.path.clear();
  verdict.tested.assign(nodes.size(), 0);
  verdict.bonus_token = -1;
  verdict.undefined_row = -1;
}

/// Follows the target's choice (-1 = none) from node to node until no child has it.
template <typename Choose>
void follow(std::span<const DraftNode> nodes, Choose choose, Verdict& verdict) {
  begin(nodes, verdict);
  std::int32_t at = -1;
  for (bool goes_on = true; goes_on;) {
    verdict.bonus_token = choose(at);
    if (verdict.bonus_token < 0) {
      verdict.undefined_row = at + 1;
      return;
    }
    goes_on = false;
    // Children come after their parents.
    for (std::size_t child = row_of(at); child < nodes.size(); ++child) {
      if (nodes[child].parent != at) continue;
      verdict.tested[child] = 1;
      if (goes_on || nodes[child].token != verdict.bonus_token) continue;
      verdict.path.push_back(static_cast<std::int32_t>(child));
      goes_on = true;
    }
    if (goes_on) at = verdict.path.back();
  }
}

/// Index of the distribution that a node below `depth` others was drawn from; -1 = it is a guess.
std::int32_t drawn_from(const Drawn& drawn, std::size_t node, std::int32_t depth) {
  if (!drawn.drawn_from.empty()) return drawn.drawn_from[node];
  return drawn.by_depth.empty() ? -1 : depth;
}

bool accept_guess(const Distribution& target, std::int32_t token, Draw draw, Chooser& chooser) {
  const double p = target.probability(token);
  if (p >= 1.0) return true;
  if (p <= 0.0) return false;
  const std::array<double, 2> weights{p, 1.0 - p};
  return chooser.choose(draw, weights) == 0;
}

}  // namespace

void judge_greedily(std::span<const DraftNode> nodes, std::span<const TopToken> best, Verdict& verdict) {
  follow(
      nodes,
      [&](std::int32_t node) {
        const TopToken& top = best[row_of(node)];
        return has_distribution(top) ? top.token : -1;
      },
      verdict);
}

void judge_coupled(std::span<const DraftNode> nodes, const TargetAt& target_at, std::int32_t root_position,
                   CounterKey key, Verdict& verdict) {
  follow(
      nodes,
      [&](std::int32_t node) {
        const std::int32_t depth = node < 0 ? 0 : nodes[static_cast<std::size_t>(node)].depth;
        return coupled_token(target_at(node + 1), key, root_position + depth + 1);
      },
      verdict);
}

void SampledJudge::judge(const Drawn& drawn, const TargetAt& target_at, std::int32_t root_position,
                         Chooser& chooser, Verdict& verdict) {
  const std::span<const DraftNode> nodes = drawn.nodes;
  begin(nodes, verdict);
  std::int32_t at = -1;
  std::int32_t depth = 0;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    copy_distribution(target_at(at + 1), target_);
    if (target_.tokens.empty()) {
      verdict.undefined_row = at + 1;
      return;
    }
    std::int32_t copied = -1;  // index of the distribution in draft_
    std::int32_t siblings = 0;
    for (std::size_t child = row_of(at); child < nodes.size() && !goes_on; ++child) {
      if (nodes[child].parent != at) continue;
      verdict.tested[child] = 1;
      const std::int32_t token = nodes[child].token;
      const Draw draw{DrawPurpose::accept, root_position + depth + 1, siblings++};
      const std::int32_t from = drawn_from(drawn, child, depth);
      if (from < 0) {
        goes_on = accept_guess(target_, token, draw, chooser);
        if (!goes_on) remove_token(target_, token);
      } else {
        if (copied != from) copy_distribution(drawn.by_depth[static_cast<std::size_t>(from)], draft_);
        copied = from;
        goes_on = accept_token(target_, draft_, token, draw, chooser);
        if (!goes_on) {
          rest_.tokens.reserve(target_.tokens.capacity());
          rest_.probabilities.reserve(target_.probabilities.capacity());
          residual(target_, draft_, rest_);
          std::swap(target_, rest_);
          remove_token(draft_, token);
        }
      }
      if (goes_on) verdict.path.push_back(static_cast<std::int32_t>(child));
    }
    if (!goes_on) break;
    at = verdict.path.back();
    ++depth;
  }
  verdict.bonus_token = draw_token(target_, {DrawPurpose::target, root_position + depth + 1}, chooser);
}

namespace {

/// Computes max(share·target − draft, 0), not normalised; returns the sum.
double left_over(const Distribution& target, double share, const Distribution& draft, Distribution& out) {
  out.tokens.clear();
  out.probabilities.clear();
  double sum = 0.0;
  for (std::size_t i = 0; i < target.tokens.size(); ++i) {
    const double rest = share * target.probabilities[i] - draft.probability(target.tokens[i]);
    if (rest <= 0.0) continue;
    out.tokens.push_back(target.tokens[i]);
    out.probabilities.push_back(rest);
    sum += rest;
  }
  return sum;
}

}  // namespace

void SampledJudge::judge_block(const Drawn& drawn, const TargetAt& target_at, std::int32_t root_position,
                               Chooser& chooser, Verdict& verdict) {
  const std::span<const DraftNode> nodes = drawn.nodes;
  begin(nodes, verdict);
  const auto length = static_cast<std::int32_t>(nodes.size());
  const auto load = [&](std::int32_t row) {
    copy_distribution(target_at(row), target_);
    rest_.tokens.reserve(target_.tokens.capacity());
    rest_.probabilities.reserve(target_.probabilities.capacity());
    return !target_.tokens.empty();
  };
  const auto draft_behind = [&](std::int32_t row) -> const Distribution& {
    return drawn.by_depth[static_cast<std::size_t>(row)];
  };
  std::int32_t kept = 0;
  double share = 1.0;       // pᵢ
  double kept_share = 1.0;  // pᵢ for the tokens that stay
  std::int32_t end = length;
  bool is_defined = load(0);
  if (!is_defined) end = 0;
  for (std::int32_t i = 1; i <= end && share > 0.0; ++i) {
    const std::int32_t token = nodes[static_cast<std::size_t>(i - 1)].token;
    share = std::min(share * target_.probability(token) / draft_behind(i - 1).probability(token), 1.0);
    is_defined = load(i);
    // A text cannot continue after a row without a distribution: the tokens up to that row are the whole
    // block.
    if (!is_defined) end = i;
    double stays = share;
    if (i < end) {
      const double rest = left_over(target_, share, draft_behind(i), rest_);
      const double lost = 1.0 - share;
      stays = rest + lost > 0.0 ? rest / (rest + lost) : 1.0;
    }
    const std::array<double, 2> weights{stays, 1.0 - stays};
    if (stays < 1.0 &&
        (stays <= 0.0 ||
         chooser.choose({DrawPurpose::accept, root_position + i, block_branch(root_position)}, weights) != 0))
      continue;
    kept = i;
    kept_share = share;
  }
  for (std::int32_t i = 0; i < length; ++i) {
    if (i < kept) verdict.path.push_back(i);
    verdict.tested[static_cast<std::size_t>(i)] = i <= kept ? 1 : 0;
  }
  if (!load(kept)) {
    verdict.undefined_row = kept;
    return;
  }
  const Draw draw{DrawPurpose::target, root_position + kept + 1};
  const bool is_cut = kept < length && left_over(target_, kept_share, draft_behind(kept), rest_) > 0.0;
  verdict.bonus_token = draw_token(is_cut ? rest_ : target_, draw, chooser);
}

double acceptance_bound(std::span<const float> logits, double weight) {
  const double maximum = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  double total = 0.0;
  double weighted = 0.0;
  for (const float logit : logits) {
    const double below = static_cast<double>(logit) - maximum;
    const double share = std::exp(below);
    if (share == 0.0) continue;  // Masked tokens: 0 · −∞ is 0 here.
    total += share;
    weighted += share * below;
  }
  const double entropy = std::log(total) - weighted / total;
  return 1.0 - std::sqrt(weight * std::max(entropy, 0.0));
}

}  // namespace draftscope::engine

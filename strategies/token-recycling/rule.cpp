// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/token-recycling/rule.h"

#include <algorithm>
#include <cmath>

namespace draftscope::speculation {

namespace {

/// Returns −1000·ln of the probability that the kept token of this rank is correct. Costs are whole numbers,
/// so that equal paths are equal on every machine.
std::int64_t cost_of(std::int32_t rank) {
  return std::llround(1000.0 * (std::log(2.0) + 1.75 * std::log(static_cast<double>(rank) + 1.0)));
}

struct OpenNode {
  std::int64_t cost = 0;  // cost of the path
  std::int32_t parent = -1;
  std::int32_t rank = 0;
  std::int32_t depth = 1;
};

}  // namespace

std::vector<RankedNode> recycling_tree(const RecyclingOptions& options) {
  // Candidates are the best child of each path in the tree that is not in it, and the next sibling of each
  // node: no other node can be the likeliest one left.
  std::vector<OpenNode> open{{.cost = cost_of(0)}};
  std::vector<OpenNode> taken;
  while (static_cast<std::int32_t>(taken.size()) < options.nodes && !open.empty()) {
    const auto best = std::min_element(open.begin(), open.end(), [](const OpenNode& a, const OpenNode& b) {
      return a.cost != b.cost ? a.cost < b.cost : a.depth < b.depth;
    });
    const OpenNode node = *best;
    open.erase(best);
    const auto index = static_cast<std::int32_t>(taken.size());
    taken.push_back(node);
    if (node.depth < options.depth) open.push_back({node.cost + cost_of(0), index, 0, node.depth + 1});
    if (node.rank + 1 < options.successors)
      open.push_back(
          {node.cost - cost_of(node.rank) + cost_of(node.rank + 1), node.parent, node.rank + 1, node.depth});
  }
  // The order is by depth; within a level nodes keep the order in which they were added, best first.
  std::vector<std::int32_t> order;
  for (std::int32_t depth = 1; depth <= options.depth; ++depth)
    for (std::size_t i = 0; i < taken.size(); ++i)
      if (taken[i].depth == depth) order.push_back(static_cast<std::int32_t>(i));
  std::vector<std::int32_t> place(taken.size());
  std::vector<RankedNode> tree;
  for (const std::int32_t i : order) {
    const OpenNode& node = taken[static_cast<std::size_t>(i)];
    place[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(tree.size());
    const std::int32_t parent = node.parent < 0 ? -1 : place[static_cast<std::size_t>(node.parent)];
    tree.push_back({parent, node.rank, node.depth, std::exp(-static_cast<double>(node.cost) / 1000.0)});
  }
  return tree;
}

TokenRecycling::TokenRecycling(const RecyclingOptions& options, std::int32_t vocab)
    : options_(options),
      tree_(recycling_tree(options)),
      kept_(static_cast<std::size_t>(vocab) * static_cast<std::size_t>(options.successors), -1),
      place_(tree_.size(), -1) {
  known_.reserve(static_cast<std::size_t>(vocab));
  guesses_.reserve(tree_.size());
}

void TokenRecycling::begin_request(std::span<const std::int32_t> end_tokens) {
  end_tokens_.assign(end_tokens.begin(), end_tokens.end());
  if (options_.across_requests) return;
  const auto k = static_cast<std::size_t>(options_.successors);
  for (const std::int32_t token : known_)
    std::fill_n(kept_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(token) * k), k, -1);
  known_.clear();
}

void TokenRecycling::keep(std::int32_t token, std::span<const std::int32_t> likeliest) {
  const auto k = static_cast<std::size_t>(options_.successors);
  const auto kept = std::span(kept_).subspan(static_cast<std::size_t>(token) * k, k);
  if (kept.front() < 0) known_.push_back(token);
  const auto rest = std::copy_n(likeliest.begin(), std::min(k, likeliest.size()), kept.begin());
  std::fill(rest, kept.end(), -1);
}

std::span<const TextGuess> TokenRecycling::guess(std::span<const std::int32_t> text) {
  guesses_.clear();
  const auto k = static_cast<std::size_t>(options_.successors);
  for (std::size_t i = 0; i < tree_.size(); ++i) {
    const RankedNode& node = tree_[i];
    place_[i] = -1;
    const std::int32_t parent = node.parent < 0 ? -1 : place_[static_cast<std::size_t>(node.parent)];
    if (node.parent >= 0 && parent < 0) continue;
    const std::int32_t behind = parent < 0 ? text.back() : guesses_[static_cast<std::size_t>(parent)].token;
    const std::int32_t token =
        kept_[static_cast<std::size_t>(behind) * k + static_cast<std::size_t>(node.rank)];
    if (token < 0 || std::find(end_tokens_.begin(), end_tokens_.end(), token) != end_tokens_.end()) continue;
    place_[i] = static_cast<std::int32_t>(guesses_.size());
    guesses_.push_back({token, parent, node.probability});
  }
  return guesses_;
}

RecyclingOptions recycling_options(const StrategySpecification& token_recycling) {
  return {.successors = token_recycling.integer("successors"),
          .nodes = token_recycling.integer("nodes"),
          .depth = token_recycling.integer("depth"),
          .across_requests = token_recycling.text("across") == "requests"};
}

}  // namespace draftscope::speculation

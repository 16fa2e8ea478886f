// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/suffix-decoding/rule_automaton.h"

#include <algorithm>
#include <bit>

namespace draftscope::speculation {

void SuffixAutomaton::begin(std::size_t tokens, std::int32_t counted) {
  states_.clear();
  edges_.clear();
  // A text of n tokens has fewer than 2n states and 3n edges.
  states_.reserve(2 * tokens + 1);
  edges_.reserve(3 * tokens);
  slots_.assign(std::bit_ceil(6 * tokens + 2), -1);
  states_.push_back({});
  whole_ = 0;
  counted_ = counted;
  counted_end_ = 0;
}

void SuffixAutomaton::extend(std::span<const std::int32_t> text) {
  const auto known = static_cast<std::size_t>(states_[static_cast<std::size_t>(whole_)].length);
  for (const std::int32_t token : text.subspan(known)) append(token);
}

void SuffixAutomaton::append(std::int32_t token) {
  const auto added = static_cast<std::int32_t>(states_.size());
  const std::int32_t length = states_[static_cast<std::size_t>(whole_)].length + 1;
  states_.push_back({.length = length, .link = 0, .behind = length});
  std::int32_t from = whole_;
  std::int32_t edge = -1;
  while (from >= 0 && (edge = edge_of(from, token)) < 0) {
    add_edge(from, token, added);
    from = states_[static_cast<std::size_t>(from)].link;
  }
  if (from >= 0) {
    const std::int32_t target = edges_[static_cast<std::size_t>(edge)].target;
    const bool adjoins = states_[static_cast<std::size_t>(target)].length ==
                         states_[static_cast<std::size_t>(from)].length + 1;
    const std::int32_t link = adjoins ? target : split(from, target, token);
    states_[static_cast<std::size_t>(added)].link = link;
  }
  whole_ = added;
  if (counted_ > 0) count_end(token);
}

/// Counts one more occurrence of every counted end of the text; `token` is the text's last token.
void SuffixAutomaton::count_end(std::int32_t token) {
  // A state of the text before may just have lost its shorter substrings to a new one.
  const Place before = cut(counted_end_, counted_);
  counted_end_ = next(before, token, counted_);
  for (Place at = counted_end_; at > 0; at = shorter(at)) ++states_[static_cast<std::size_t>(at)].count;
  // Only ends of the text before can change their best edge, because every edge to the counted states starts
  // from one of them.
  for (Place at = before; at > 0; at = shorter(at)) {
    State& state = states_[static_cast<std::size_t>(at)];
    const std::int32_t taken = edge_of(at, token);
    const auto count_of = [&](std::int32_t edge) {
      return count(edges_[static_cast<std::size_t>(edge)].target);
    };
    if (state.best_edge < 0 || count_of(taken) >= count_of(state.best_edge)) state.best_edge = taken;
  }
}

/// Moves the substrings of `target` that come from `state` and its links to a state of their own, because
/// they end at one place more than the longer ones.
std::int32_t SuffixAutomaton::split(std::int32_t state, std::int32_t target, std::int32_t token) {
  const auto part = static_cast<std::int32_t>(states_.size());
  const State whole = states_[static_cast<std::size_t>(target)];
  states_.push_back({.length = states_[static_cast<std::size_t>(state)].length + 1,
                     .link = whole.link,
                     .behind = whole.behind,
                     .count = whole.count});
  for (std::int32_t edge = whole.last_edge; edge >= 0;) {
    const Edge same = edges_[static_cast<std::size_t>(edge)];
    add_edge(part, same.token, same.target);
    if (edge == whole.best_edge)
      states_[static_cast<std::size_t>(part)].best_edge = states_[static_cast<std::size_t>(part)].last_edge;
    edge = same.previous;
  }
  states_[static_cast<std::size_t>(target)].link = part;
  for (std::int32_t from = state; from >= 0; from = states_[static_cast<std::size_t>(from)].link) {
    const std::int32_t edge = edge_of(from, token);
    if (edges_[static_cast<std::size_t>(edge)].target != target) break;
    edges_[static_cast<std::size_t>(edge)].target = part;
  }
  return part;
}

void SuffixAutomaton::add_edge(std::int32_t state, std::int32_t token, std::int32_t target) {
  if (2 * (edges_.size() + 1) > slots_.size()) {
    slots_.assign(2 * slots_.size(), -1);
    for (std::size_t i = 0; i < edges_.size(); ++i)
      slots_[slot_of(edges_[i].state, edges_[i].token)] = static_cast<std::int32_t>(i);
  }
  const auto edge = static_cast<std::int32_t>(edges_.size());
  std::int32_t& last = states_[static_cast<std::size_t>(state)].last_edge;
  edges_.push_back({state, token, target, last});
  last = edge;
  slots_[slot_of(state, token)] = edge;
}

std::size_t SuffixAutomaton::slot_of(std::int32_t state, std::int32_t token) const {
  const std::uint64_t key = (static_cast<std::uint64_t>(state) << 32U) | static_cast<std::uint32_t>(token);
  std::uint64_t hash = key * 0x9E3779B97F4A7C15ULL;
  hash ^= hash >> 32U;
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] >= 0) {
    const Edge& edge = edges_[static_cast<std::size_t>(slots_[slot])];
    if (edge.state == state && edge.token == token) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

std::optional<SuffixAutomaton::Match> SuffixAutomaton::longest(std::int32_t last) const {
  std::int32_t at = states_[static_cast<std::size_t>(whole_)].link;
  while (at > 0 && states_[static_cast<std::size_t>(at)].behind > last)
    at = states_[static_cast<std::size_t>(at)].link;
  if (at <= 0) return std::nullopt;
  return Match{states_[static_cast<std::size_t>(at)].length, states_[static_cast<std::size_t>(at)].behind};
}

}  // namespace draftscope::speculation

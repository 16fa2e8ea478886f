// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The longest end of a growing text that occurred before, however long it is: Blumer et al., "The smallest
// automaton recognizing the subwords of a text" (1985), which grows by a token in amortised constant time. A
// state stands for the substrings that end at the same places; its link leads to the longest substring of its
// own that ends at more places.
//
// It can count how often short substrings occur and what follows them most often: a token then costs a step
// for each state of the text's last few tokens, at most as many as are counted.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace draftscope::speculation {

class SuffixAutomaton {
 public:
  /// Forgets the text; `tokens` is how long the next one is expected to get. Substrings of up to `counted`
  /// tokens are counted.
  void begin(std::size_t tokens, std::int32_t counted = 0);
  /// `text` is the text so far with tokens appended. It is not kept.
  void extend(std::span<const std::int32_t> text);

  struct Match {
    std::int32_t length = 0;
    std::int32_t behind = 0;  ///< the position behind its leftmost occurrence
  };
  /// The longest end of the text that occurred before with `behind` at most `last`.
  [[nodiscard]] std::optional<Match> longest(std::int32_t last) const;

  /// Substrings that end at the same places, each of them an end of the longest. 0 = the empty one alone.
  using Place = std::int32_t;
  /// Where a substring leads with a token more.
  struct Step {
    std::int32_t token = 0;
    Place place = 0;
  };
  /// That of the text's last `max` tokens, or of all if it is shorter.
  [[nodiscard]] Place end(std::int32_t max) const { return cut(counted_end_, max); }
  /// That of the longest substring with a token more, cut to its last `max` tokens; -1 = it occurs nowhere.
  [[nodiscard]] Place next(Place place, std::int32_t token, std::int32_t max) const {
    const std::int32_t edge = edge_of(place, token);
    return edge < 0 ? -1 : cut(edges_[static_cast<std::size_t>(edge)].target, max);
  }
  /// The same as of a substring of at least `max` tokens, or one that is no longer.
  [[nodiscard]] Place cut(Place place, std::int32_t max) const {
    while (place > 0 && length(shorter(place)) >= max) place = shorter(place);
    return place;
  }
  /// The place of the longest end of its substrings that occurs elsewhere, too.
  [[nodiscard]] Place shorter(Place place) const { return states_[static_cast<std::size_t>(place)].link; }
  /// Tokens of its longest substring.
  [[nodiscard]] std::int32_t length(Place place) const {
    return states_[static_cast<std::size_t>(place)].length;
  }
  /// How often it occurs, the end of the text included. Right where a substring of it is counted.
  [[nodiscard]] std::int32_t count(Place place) const {
    return states_[static_cast<std::size_t>(place)].count;
  }
  /// The token that follows it most often, the latest among equals; the token is counted with the substring.
  /// None where it only ends the text.
  [[nodiscard]] std::optional<Step> likeliest(Place place) const {
    const std::int32_t edge = states_[static_cast<std::size_t>(place)].best_edge;
    if (edge < 0) return std::nullopt;
    return Step{edges_[static_cast<std::size_t>(edge)].token, edges_[static_cast<std::size_t>(edge)].target};
  }
  /// Calls visit(Step) for everything that follows it.
  template <typename Visit>
  void each_next(Place place, Visit visit) const {
    for (std::int32_t edge = states_[static_cast<std::size_t>(place)].last_edge; edge >= 0;
         edge = edges_[static_cast<std::size_t>(edge)].previous)
      visit(
          Step{edges_[static_cast<std::size_t>(edge)].token, edges_[static_cast<std::size_t>(edge)].target});
  }

 private:
  struct State {
    std::int32_t length = 0;      // of the longest of its substrings
    std::int32_t link = -1;       // -1 for the root
    std::int32_t behind = 0;      // the position behind the first place where they end
    std::int32_t last_edge = -1;  // the latest of its edges
    std::int32_t best_edge = -1;  // the one that was taken most often, if counted
    std::int32_t count = 0;       // how often it occurs, if counted
  };
  struct Edge {
    std::int32_t state = 0;
    std::int32_t token = 0;
    std::int32_t target = 0;
    std::int32_t previous = -1;  // of the same state
  };

  void append(std::int32_t token);
  void count_end(std::int32_t token);
  std::int32_t split(std::int32_t state, std::int32_t target, std::int32_t token);
  void add_edge(std::int32_t state, std::int32_t token, std::int32_t target);
  [[nodiscard]] std::size_t slot_of(std::int32_t state, std::int32_t token) const;
  /// -1 if the state has none for the token.
  [[nodiscard]] std::int32_t edge_of(std::int32_t state, std::int32_t token) const {
    return slots_[slot_of(state, token)];
  }

  std::vector<State> states_;
  std::vector<Edge> edges_;
  // Open addressing over the edges, -1 = free. The size is a power of two.
  std::vector<std::int32_t> slots_;
  std::int32_t whole_ = 0;  // the state of the whole text
  std::int32_t counted_ = 0;
  std::int32_t counted_end_ = 0;  // the state of the text's last counted_ tokens
};

}  // namespace draftscope::speculation

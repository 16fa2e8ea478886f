// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The longest end of a growing text that occurred before, however long it is: Blumer et al., "The smallest
// automaton recognizing the subwords of a text" (1985), which grows by a token in amortised constant time. A
// state represents the substrings that end at the same places. Its link leads to the longest end of those
// substrings that ends at more places.
//
// The automaton can count how often short substrings occur and which token follows them most often. A token
// then costs one step for each state of the text's last few tokens, at most as many as are counted.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace draftscope::speculation {

class SuffixAutomaton {
 public:
  /// Forgets the text. `tokens`: expected length of the next one. Substrings of up to `counted` tokens are
  /// counted.
  void begin(std::size_t tokens, std::int32_t counted = 0);
  /// Extends the automaton to `text`, the text so far with tokens appended. It is not stored.
  void extend(std::span<const std::int32_t> text);

  struct Match {
    std::int32_t length = 0;
    std::int32_t behind = 0;  ///< Position after its leftmost occurrence.
  };
  /// The longest end of the text that occurred before, with the position after its leftmost occurrence at
  /// most `last`.
  [[nodiscard]] std::optional<Match> longest(std::int32_t last) const;

  /// A set of substrings that end at the same places, each of them an end of the longest. 0 = only the empty
  /// substring.
  using Place = std::int32_t;
  /// A token that extends a place's substrings, and the place that they then have.
  struct Step {
    std::int32_t token = 0;
    Place place = 0;
  };
  /// The place of the text's last `max` tokens, or of the whole text if it is shorter.
  [[nodiscard]] Place end(std::int32_t max) const { return cut(counted_end_, max); }
  /// The place of the longest substring extended by a token and cut to its last `max` tokens; -1 = it occurs
  /// nowhere.
  [[nodiscard]] Place next(Place place, std::int32_t token, std::int32_t max) const {
    const std::int32_t edge = edge_of(place, token);
    return edge < 0 ? -1 : cut(edges_[static_cast<std::size_t>(edge)].target, max);
  }
  /// The place of the last `max` tokens of a substring of `place`; `place` itself if the substring is no
  /// longer.
  [[nodiscard]] Place cut(Place place, std::int32_t max) const {
    while (place > 0 && length(shorter(place)) >= max) place = shorter(place);
    return place;
  }
  /// The place of the longest end of the place's substrings that also occurs elsewhere.
  [[nodiscard]] Place shorter(Place place) const { return states_[static_cast<std::size_t>(place)].link; }
  /// Tokens of the place's longest substring.
  [[nodiscard]] std::int32_t length(Place place) const {
    return states_[static_cast<std::size_t>(place)].length;
  }
  /// How often the place's substrings occur, including at the end of the text. Correct if one of its
  /// substrings is short enough to be counted.
  [[nodiscard]] std::int32_t count(Place place) const {
    return states_[static_cast<std::size_t>(place)].count;
  }
  /// The token that follows the place's substrings most often, the latest on ties; the token is counted with
  /// the substring. None where they only end the text.
  [[nodiscard]] std::optional<Step> likeliest(Place place) const {
    const std::int32_t edge = states_[static_cast<std::size_t>(place)].best_edge;
    if (edge < 0) return std::nullopt;
    return Step{edges_[static_cast<std::size_t>(edge)].token, edges_[static_cast<std::size_t>(edge)].target};
  }
  /// Calls visit(Step) for every token that follows the place's substrings.
  template <typename Visit>
  void each_next(Place place, Visit visit) const {
    for (std::int32_t edge = states_[static_cast<std::size_t>(place)].last_edge; edge >= 0;
         edge = edges_[static_cast<std::size_t>(edge)].previous)
      visit(
          Step{edges_[static_cast<std::size_t>(edge)].token, edges_[static_cast<std::size_t>(edge)].target});
  }

 private:
  struct State {
    std::int32_t length = 0;      // length of its longest substring
    std::int32_t link = -1;       // -1 for the root
    std::int32_t behind = 0;      // the position after the first place where its substrings end
    std::int32_t last_edge = -1;  // its latest edge
    std::int32_t best_edge = -1;  // its most frequent edge, if counted
    std::int32_t count = 0;       // number of occurrences, if counted
  };
  struct Edge {
    std::int32_t state = 0;
    std::int32_t token = 0;
    std::int32_t target = 0;
    std::int32_t previous = -1;  // previous edge of the same state
  };

  void append(std::int32_t token);
  void count_end(std::int32_t token);
  std::int32_t split(std::int32_t state, std::int32_t target, std::int32_t token);
  void add_edge(std::int32_t state, std::int32_t token, std::int32_t target);
  [[nodiscard]] std::size_t slot_of(std::int32_t state, std::int32_t token) const;
  /// The state's edge for the token; -1 = none.
  [[nodiscard]] std::int32_t edge_of(std::int32_t state, std::int32_t token) const {
    return slots_[slot_of(state, token)];
  }

  std::vector<State> states_;
  std::vector<Edge> edges_;
  // A hash table of the edges with open addressing; -1 = free. The size is a power of two.
  std::vector<std::int32_t> slots_;
  std::int32_t whole_ = 0;  // the state of the whole text
  std::int32_t counted_ = 0;
  std::int32_t counted_end_ = 0;  // the state of the text's last counted_ tokens
};

}  // namespace draftscope::speculation

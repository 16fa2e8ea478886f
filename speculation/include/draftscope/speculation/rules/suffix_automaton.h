// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The longest end of a growing text that occurred before, however long it is: Blumer et al., "The smallest
// automaton recognizing the subwords of a text" (1985), which grows by a token in amortised constant time. A
// state stands for the substrings that end at the same places; its link leads to the longest substring of its
// own that ends at more places.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace draftscope::speculation {

class SuffixAutomaton {
 public:
  /// Forgets the text; `tokens` is how long the next one is expected to get.
  void begin(std::size_t tokens);
  /// `text` is the text so far with tokens appended. It is not kept.
  void extend(std::span<const std::int32_t> text);

  struct Match {
    std::int32_t length = 0;
    std::int32_t behind = 0;  ///< the position behind its leftmost occurrence
  };
  /// The longest end of the text that occurred before with `behind` at most `last`.
  [[nodiscard]] std::optional<Match> longest(std::int32_t last) const;

 private:
  struct State {
    std::int32_t length = 0;      // of the longest of its substrings
    std::int32_t link = -1;       // -1 for the root
    std::int32_t behind = 0;      // the position behind the first place where they end
    std::int32_t last_edge = -1;  // the latest of its edges
  };
  struct Edge {
    std::int32_t state = 0;
    std::int32_t token = 0;
    std::int32_t target = 0;
    std::int32_t previous = -1;  // of the same state
  };

  void append(std::int32_t token);
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
};

}  // namespace draftscope::speculation

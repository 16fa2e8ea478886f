// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// SuffixDecoding guesses the tokens after earlier occurrences of the text's ends by their frequency, and
// guesses more tokens the longer the matching end is.
// Sources: Oliaro et al., "SuffixDecoding: Extreme Speculative Decoding for Emerging AI Applications" (arXiv
// 2411.04975), and its public code (ArcticInference), whose defaults these are. Related: Hu et al., "SAM
// Decoding" (arXiv 2411.10666), which matches by a suffix automaton as this does.
//
// It searches two texts, as published: that of the request, and the outputs of earlier ones. An end of p
// tokens allows α·p guesses. Each token's probability is its share of the occurrences of the string before
// it. The score of a guess is the sum of its tokens' path probabilities; the best over all ends of both texts
// is guessed.

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "strategies/rule_guess.h"
#include "strategies/suffix-decoding/rule_automaton.h"

namespace draftscope::speculation {

struct SuffixOptions {
  std::int32_t depth = 24;       ///< Tokens of the longest end that is looked up.
  double alpha = 1.0;            ///< Guesses per token of the matching end.
  std::int32_t length = 24;      ///< Maximum guesses per round.
  double min_probability = 0.1;  ///< Minimum probability of a guess's path.
  bool is_tree = false;  ///< Whether it guesses several continuations, by falling probability; otherwise only
                         ///< the most frequent one.
  bool across_requests = true;  ///< Whether it also searches earlier requests' outputs.
  /// Tokens of earlier outputs to keep; the oldest half is dropped when the memory is full.
  std::size_t memory = 65536;
};

/// The rule. A token costs amortised constant time: up to `depth` steps where counts change, plus the cost of
/// forgetting.
class SuffixDecoding {
 public:
  explicit SuffixDecoding(const SuffixOptions& options);

  /// Begins a request; the output of the last one joins the memory. `tokens`: expected length of prompt and
  /// output.
  void begin_request(std::span<const std::int32_t> prompt, std::size_t tokens,
                     std::span<const std::int32_t> end_tokens);
  /// Learns the tokens that `text` has more than before: prompt and output so far.
  void extend(std::span<const std::int32_t> text);
  /// Learns further tokens of the output.
  void append(std::span<const std::int32_t> tokens);
  /// The guesses after `text`, which is learnt first. No guess is an end-of-text token. Valid until the next
  /// call. Allocates nothing while the text is no longer than expected.
  [[nodiscard]] std::span<const TextGuess> guess(std::span<const std::int32_t> text);
  /// Tokens of the end of the text that the last guesses continue; 0 = there were none.
  [[nodiscard]] std::int32_t matched_tokens() const { return matched_tokens_; }

 private:
  using Place = SuffixAutomaton::Place;
  /// The end of the text as a substring of one of the two texts.
  struct End {
    Place place = 0;
    std::int32_t length = 0;
  };
  struct Candidate {
    double probability = 0.0;
    std::int32_t order = 0;  // order of insertion; the earlier one wins a tie
    TextGuess guess;
    Place place = 0;
  };

  void remember_output();
  void follow_memory(std::int32_t token);
  void look_through(const SuffixAutomaton& index, End end);
  double continue_chain(const SuffixAutomaton& index, Place place, std::int32_t budget);
  double continue_tree(const SuffixAutomaton& index, Place place, std::int32_t budget);
  void add_candidates(const SuffixAutomaton& index, Place place, std::int32_t parent, double probability);
  [[nodiscard]] bool ends_text(std::int32_t token) const;

  SuffixOptions options_;
  std::vector<std::int32_t> end_tokens_;
  std::size_t prompt_tokens_ = 0;
  std::vector<std::int32_t> text_;
  SuffixAutomaton own_;               // automaton over text_
  std::vector<std::int32_t> memory_;  // earlier outputs, each with a separator after it
  SuffixAutomaton remembered_;        // automaton over memory_
  End in_memory_;                     // the end of text_ in memory_
  std::vector<TextGuess> guesses_, tried_;
  std::vector<Candidate> candidates_;  // next tokens of a tree
  std::int32_t order_ = 0;
  double best_score_ = 0.0;
  std::int32_t matched_tokens_ = 0;
};

[[nodiscard]] SuffixOptions suffix_options(const StrategySpecification& suffix_decoding);

}  // namespace draftscope::speculation

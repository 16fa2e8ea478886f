// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Other speculation lengths without a shadow table: models of acceptance, fitted to what recorded rounds
// accepted. Every answer from here is *approximate*: a model's, with no bound that holds for certain. Where
// the draft stopped by confidence, what was not drafted would have been accepted less often than the model
// thinks.
//
// Each position of the text has a bit: would the draft's token have been accepted? A round shows a 1 for each
// accepted token and a 0 for the first rejected one; the bonus token behind a fully accepted draft shows
// nothing.
//
// Two hidden states, easy and hard, with an acceptance probability each, follow one another from position to
// position as a Markov chain. Both alike is the iid model of Leviathan et al. 2023, eq. 1.

#include <draftscope/simulator/analysis/run_rows.h>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace draftscope::simulator {

enum class AcceptanceBit : std::int8_t { rejected = 0, accepted = 1, unseen = 2 };

/// One request's, in the order of its positions.
using AcceptanceBits = std::vector<AcceptanceBit>;

struct AcceptanceModel {
  std::array<double, 2> acceptance{};  ///< of the easy and the hard state; the easy one's is not smaller
  std::array<double, 2> stay{};        ///< probability that the next position has the same state
  std::array<double, 2> start{};       ///< of the first position
  double log_likelihood = 0.0;         ///< natural logarithm, of the bits that it was fitted to
  std::int32_t iterations = 0;         ///< of the fit; 0 = closed form
};

/// α = accepted / (accepted + rejected). Absent if no bit was seen.
[[nodiscard]] std::optional<AcceptanceModel> fit_iid_acceptance(std::span<const AcceptanceBits> requests);

/// The iid model of drafts of `length` tokens of which the share `rate` was accepted, mean accepted length /
/// length (Leviathan et al. 2023, eq. 1). Absent if the rate is not within 0 to 1 or the length not positive.
[[nodiscard]] std::optional<AcceptanceModel> iid_acceptance_of_rate(double rate, std::int32_t length);

/// By expectation maximisation (Baum–Welch with unseen bits left out), the better of a few fixed starts; it
/// is deterministic. Absent if no bit was seen. O(iterations · bits).
[[nodiscard]] std::optional<AcceptanceModel> fit_markov_acceptance(std::span<const AcceptanceBits> requests,
                                                                   std::int32_t max_iterations = 300);

/// Probability at each position that the draft's token would be accepted, given all bits: 0 or 1 where one
/// was seen. O(bits).
[[nodiscard]] std::vector<double> acceptance_at(const AcceptanceModel& model, const AcceptanceBits& bits);

/// E[tokens per round] of drafts of `length` in the long run, bonus included. Of the iid model
/// (1 − α^(γ+1)) / (1 − α).
[[nodiscard]] double expected_tokens_per_round(const AcceptanceModel& model, std::int32_t length);

/// Setting that is decoded: an exit and a length, or length 0 for none; so many tokens behind a context of so
/// many rows.
struct ExpectedSetting {
  std::int32_t exit = 0;
  std::int32_t length = 0;
  std::int64_t tokens = 0;
  std::int64_t first_context = 0;  ///< root position of the first round
};

/// Expected counts, rounded to whole passes; contexts as if rounds were evenly spread over the text. Without
/// the shorter drafts at the end of the budget.
[[nodiscard]] RoundStatistics expected_statistics(const AcceptanceModel& model,
                                                  const ExpectedSetting& setting);

}  // namespace draftscope::simulator

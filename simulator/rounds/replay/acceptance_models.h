// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Models of acceptance, fitted to the accepted tokens of recorded rounds. They answer other speculation
// lengths without a shadow table. Every answer from here is *approximate*: it comes from a model, without a
// guaranteed bound. Where the draft stopped by confidence, tokens that were not drafted would have been
// accepted less often than the model predicts.
//
// Each position of the text has a bit: would the draft's token have been accepted? A round shows a 1 for each
// accepted token and a 0 for the first rejected one; the bonus token after a fully accepted draft shows
// nothing.
//
// Two hidden states, easy and hard, with an acceptance probability each, follow one another from position to
// position as a Markov chain. If both are equal, it is the iid model of Leviathan et al. 2023, eq. 1.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/traces/ids.h>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace draftscope::simulator {

enum class AcceptanceBit : std::int8_t { rejected = 0, accepted = 1, unseen = 2 };

/// [position] of one request
using AcceptanceBits = std::vector<AcceptanceBit>;

struct AcceptanceModel {
  std::array<double, 2> acceptance{};  ///< Acceptance of the easy and the hard state, in falling order.
  std::array<double, 2> stay{};        ///< Probability that the next position has the same state.
  std::array<double, 2> start{};       ///< Probability of each state at the first position.
  double log_likelihood = 0.0;         ///< Natural logarithm, for the fitted bits.
};

/// The model whose positions are independent, each accepted with probability `alpha`.
[[nodiscard]] AcceptanceModel iid_acceptance(double alpha);

/// Fits α = accepted / (accepted + rejected). Absent if no bit was seen.
[[nodiscard]] std::optional<AcceptanceModel> fit_iid_acceptance(std::span<const AcceptanceBits> requests);

/// The iid model of drafts of `length` tokens with the accepted share `rate` = mean accepted length / length
/// (Leviathan et al. 2023, eq. 1). Absent if the rate is not within 0 to 1 or the length is not positive.
[[nodiscard]] std::optional<AcceptanceModel> iid_acceptance_of_rate(double rate, std::int32_t length);

/// Fits by expectation maximisation (Baum–Welch, without unseen bits) and takes the best of a few fixed
/// starts; deterministic. Absent if no bit was seen. O(iterations · bits).
[[nodiscard]] std::optional<AcceptanceModel> fit_markov_acceptance(std::span<const AcceptanceBits> requests);

/// Probability at each position that the draft's token would be accepted, given all bits: 0 or 1 where one
/// was seen. O(bits).
[[nodiscard]] std::vector<double> acceptance_at(const AcceptanceModel& model, const AcceptanceBits& bits);

/// A setting to decode with: an exit and a length (0 = none), a number of tokens and the context before them.
struct ExpectedSetting {
  std::int32_t exit = 0;
  std::int32_t length = 0;
  std::int64_t tokens = 0;
  std::int64_t first_context = 0;  ///< Root position of the first round.
};

/// Expected counts, rounded to whole passes. For the iid model, a round emits (1 − α^(γ+1)) / (1 − α) tokens,
/// bonus included (Leviathan et al. 2023, eq. 1). Contexts are as if rounds were evenly spread over the text.
/// The shorter drafts at the end of the budget are ignored.
[[nodiscard]] RoundStatistics expected_statistics(const AcceptanceModel& model,
                                                  const ExpectedSetting& setting);

// Models of acceptance by run, each fitted when the first question needs it, since a fit takes longer than
// the rest of an answer. Thread-safe; a thread waits only for the model that it needs.

class FittedAcceptance {
 public:
  /// Result of `fit()` from the first question about the run; it must depend on the run only.
  template <typename Fit>
  [[nodiscard]] const std::optional<AcceptanceModel>& of(traces::RunId run_id, const Fit& fit) {
    Entry& entry = entry_of(run_id);
    std::call_once(entry.once, [&] { entry.model = fit(); });
    return entry.model;
  }

 private:
  struct Entry {
    std::once_flag once;
    std::optional<AcceptanceModel> model;
  };

  Entry& entry_of(traces::RunId run_id) {
    const std::scoped_lock lock(mutex_);
    return entries_[run_id];
  }

  std::mutex mutex_;
  std::map<traces::RunId, Entry> entries_;  ///< The map's nodes have stable addresses.
};

}  // namespace draftscope::simulator

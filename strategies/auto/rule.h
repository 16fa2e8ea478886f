// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rule of auto: round by round, it chooses the draft with the most expected tokens per time, or none.
//
// The value of a draft is its rate: the expected tokens of its round per expected time. Time is in vanilla
// rounds, so that vanilla decoding has rate 1. If rounds were independent of each other, E[tokens] -
// λ·E[time] with λ the rate over all rounds would be the measure (Dinkelbach, "On nonlinear fractional
// programming", 1967). They are not: a text that repeats itself keeps doing so. Where it does not, a λ from
// where it did prefers short rounds to good ones. Unknown drafters are tried with short drafts, ever more
// rarely where they lose. An account (rule_costs.h) bounds the total loss against vanilla decoding.
//
// A rule decides from the text, from confidences and from times alone, never from a drawn draft token before
// it is verified, so that sampling stays exact. The same rounds with the same times lead to the same choices.
// Values; one object decides for one request at a time, and learns from request to request.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "strategies/auto/rule_confidences.h"
#include "strategies/auto/rule_costs.h"
#include "strategies/auto/rule_guesses.h"

namespace draftscope::speculation {

struct AutoOptions {
  std::vector<ExpectedDrafter> drafters;
  std::int32_t max_length = 12;  ///< Draft tokens per round.
  TimeAccount::Options account{.share = 0.02, .opening = 3.0, .max_gain = 16.0};
};

struct AutoChoice {
  enum class Kind : std::uint8_t { vanilla, text, model };
  enum class Reason : std::uint8_t {
    best,     ///< The draft with the most tokens per time.
    measure,  ///< A vanilla round, to measure its cost.
    trial,    ///< A short draft, to measure its gain.
    account,  ///< A vanilla round, because the account allows no loss.
    no_room,  ///< A vanilla round, because the text ends with this token.
  };
  Kind kind = Kind::vanilla;
  Reason reason = Reason::best;
  TextSource source = TextSource::lookup;  ///< Source of a draft from the text.
  std::int32_t drafter = -1;               ///< Drafter of a model's draft; -1 = none.
  std::int32_t length = 0;                 ///< Maximum draft tokens.
  double threshold = -1.0;                 ///< Draft-exit threshold of a model's draft; -1 = none.
  double expected_tokens = 1.0;            ///< Expected tokens that the round emits.
  double expected_cost = 1.0;              ///< Expected cost in vanilla rounds.
  double next_rate = 1.0;                  ///< Rate of the best draft of another kind, or vanilla's.
  double balance = 0.0;                    ///< Vanilla rounds that may be lost.
  [[nodiscard]] double rate() const { return expected_tokens / expected_cost; }
};
[[nodiscard]] std::string_view auto_kind_name(AutoChoice::Kind kind);
[[nodiscard]] std::string_view auto_reason_name(AutoChoice::Reason reason);

class AutoRule {
 public:
  explicit AutoRule(AutoOptions options);

  /// Begins a request. `tokens`: expected length of the text.
  void begin_request(std::span<const std::int32_t> prompt, std::size_t tokens);
  /// Chooses the next round's draft. `text`: prompt and output; `room`: draft tokens that the round may have.
  [[nodiscard]] AutoChoice choose(std::span<const std::int32_t> text, std::int32_t room);
  /// The first `length` tokens of the guess that a choice from the text takes. Valid until the next choice,
  /// and as long as `text` is.
  [[nodiscard]] std::span<const std::int32_t> guess(std::span<const std::int32_t> text,
                                                    const AutoChoice& choice) const {
    return text_.guess(text, choice.source).first(static_cast<std::size_t>(choice.length));
  }
  /// Learns from the chosen round's draft after its verification.
  void judge(const AutoChoice& choice, std::span<const JudgedToken> tokens);
  /// Learns from a round that has ended: its times, and the tokens that it emitted.
  void end_round(const AutoChoice& choice, const RoundTimes& times, std::int32_t tokens);

 private:
  /// Tracks whether choices bring the gain expected of them, since the best of many estimates is too good on
  /// average.
  class Yield {
   public:
    void add(double expected, double tokens);
    /// Fades older counts after a round.
    void fade();
    /// Share of the gain expected beyond the target's own token that is realised.
    [[nodiscard]] double share() const;

   private:
    double expected_ = 0.0;
    double came_ = 0.0;
  };
  struct Drafter {
    DraftConfidences confidences;
    Yield yield;
    std::int64_t next_trial = 0;  // round number
    std::int64_t trial_interval = first_interval;
  };
  /// A round whose time is not in the account yet.
  struct Unbooked {
    std::int32_t tokens = 0;
    std::int64_t round_ns = 0;
    double expected_cost = 0.0;
  };
  static constexpr std::int64_t first_interval = 32;

  /// Vanilla rounds that may be lost.
  [[nodiscard]] double balance() const;
  [[nodiscard]] AutoChoice vanilla(AutoChoice::Reason reason) const;
  /// Keeps the better of `choice` and `best`. `max_cost`: cost of the round if its draft is verified in full.
  static void consider(AutoChoice choice, double max_cost, AutoChoice& best);
  /// Considers a guess from the text. `is_hoped`: assumes that rows cost no more than was expected of them.
  void consider_text(std::span<const std::int32_t> text, TextSource source, std::int32_t room, bool is_hoped,
                     AutoChoice& best) const;
  /// Visits every draft of the drafter, with its cost if it is verified in full.
  template <typename Visit>  // void(const AutoChoice&, double max_cost)
  void for_each_draft(std::int32_t drafter, std::int32_t room, double hope, Visit visit) const;
  [[nodiscard]] std::optional<AutoChoice> text_trial(std::span<const std::int32_t> text, std::int32_t room,
                                                     const AutoChoice& best) const;
  [[nodiscard]] std::optional<AutoChoice> trial(std::int32_t drafter, std::int32_t room,
                                                const AutoChoice& best) const;

  AutoOptions options_;
  RoundCosts costs_;
  TextGuesses text_;
  std::array<Yield, TextGuesses::sources.size()> text_yields_;  // by source
  std::vector<Drafter> drafters_;
  TimeAccount account_;
  std::vector<Unbooked> unbooked_;
  std::int64_t next_text_trial_ = 0;  // round number
  std::int64_t text_trial_interval_ = first_interval;
  std::int64_t round_ = 0;
  Sureness ended_behind_ = Sureness::unknown;  // sureness at the end of the last round
  Sureness began_behind_ = Sureness::unknown;  // sureness at the beginning of the current round
};

}  // namespace draftscope::speculation

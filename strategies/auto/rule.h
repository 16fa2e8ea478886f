// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Round by round, the draft that is expected to bring the most tokens for its time, or none.
//
// A draft is worth its rate: the expected tokens of its round per expected time, which is in vanilla rounds,
// so that vanilla decoding has rate 1. Were rounds independent of each other, E[tokens] - λ·E[time] with λ
// the rate over all rounds would be the measure (Dinkelbach, "On nonlinear fractional programming", 1967).
// They are not: a text that repeats itself goes on doing so, and where it does not, a λ from where it did
// prefers short rounds to good ones. What is not known of a drafter is tried out with short drafts, ever more
// rarely where they lose. An account (rule_costs.h) bounds what all of it may lose
// against vanilla decoding.
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
  std::int32_t max_length = 12;  ///< draft tokens of a round
  TimeAccount::Options account{.share = 0.02, .opening = 3.0, .max_gain = 16.0};
};

struct AutoChoice {
  enum class Kind : std::uint8_t { vanilla, text, model };
  enum class Reason : std::uint8_t {
    best,     ///< the most tokens for the time
    measure,  ///< a vanilla round, for what it costs
    trial,    ///< a short draft, for what it brings
    account,  ///< vanilla, because the account allows no loss
    no_room,  ///< vanilla, because the text ends with this token
  };
  Kind kind = Kind::vanilla;
  Reason reason = Reason::best;
  TextSource source = TextSource::lookup;  ///< of a draft of the text
  std::int32_t drafter = -1;               ///< of a draft by the model
  std::int32_t length = 0;                 ///< draft tokens, at most
  double threshold = -1.0;                 ///< of a draft by the model: the draft-exit threshold; -1 = none
  double expected_tokens = 1.0;            ///< that the round emits
  double expected_cost = 1.0;              ///< in vanilla rounds
  double next_rate = 1.0;                  ///< of the best draft of another kind, or vanilla's
  double balance = 0.0;                    ///< vanilla rounds that may be lost
  [[nodiscard]] double rate() const { return expected_tokens / expected_cost; }
};
[[nodiscard]] std::string_view auto_kind_name(AutoChoice::Kind kind);
[[nodiscard]] std::string_view auto_reason_name(AutoChoice::Reason reason);

class AutoRule {
 public:
  explicit AutoRule(AutoOptions options);

  /// `tokens`: how long the text is expected to get.
  void begin_request(std::span<const std::int32_t> prompt, std::size_t tokens);
  /// The next round's draft. `text`: prompt and output; `room`: draft tokens that the round may have.
  [[nodiscard]] AutoChoice choose(std::span<const std::int32_t> text, std::int32_t room);
  /// The guess that a choice of the text takes, its first `length` tokens: valid until the next choice, and
  /// as long as `text` is.
  [[nodiscard]] std::span<const std::int32_t> guess(std::span<const std::int32_t> text,
                                                    const AutoChoice& choice) const {
    return text_.guess(text, choice.source).first(static_cast<std::size_t>(choice.length));
  }
  /// Hears of the chosen round's draft, once it is verified.
  void judge(const AutoChoice& choice, std::span<const JudgedToken> tokens);
  /// Hears of a round that has ended: its times, and the tokens that it emitted.
  void end_round(const AutoChoice& choice, const RoundTimes& times, std::int32_t tokens);

 private:
  /// Whether choices bring what was expected of them: the best of many estimates is too good on average.
  class Yield {
   public:
    void add(double expected, double tokens);
    /// A round has passed.
    void fade();
    /// Share that comes of what is expected beyond the target's own token.
    [[nodiscard]] double share() const;

   private:
    double expected_ = 0.0;
    double came_ = 0.0;
  };
  struct Drafter {
    DraftConfidences confidences;
    Yield yield;
    std::int64_t next_trial = 0;  // round
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
  /// `max_cost`: of the round, if its draft is verified in full.
  static void consider(AutoChoice choice, double max_cost, AutoChoice& best);
  /// `is_hoped`: as if rows cost no more than was expected of them.
  void consider_text(std::span<const std::int32_t> text, TextSource source, std::int32_t room, bool is_hoped,
                     AutoChoice& best) const;
  /// Visits every draft of the drafter, and its cost if it is verified in full.
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
  std::int64_t next_text_trial_ = 0;  // round
  std::int64_t text_trial_interval_ = first_interval;
  std::int64_t round_ = 0;
  Sureness ended_behind_ = Sureness::unknown;  // the last round
  Sureness began_behind_ = Sureness::unknown;  // the round at hand
};

}  // namespace draftscope::speculation

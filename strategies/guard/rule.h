// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Whether a strategy may go on, by what its rounds brought: it stops when an account
// (strategies/auto/rule_costs.h) has nothing left to lose, and comes back, at doubling intervals, when
// vanilla rounds have earned another trial. Vanilla rounds, two after the other from time to time, tell what
// they take.

#include <cstdint>

#include "strategies/auto/rule_costs.h"

namespace draftscope::speculation {

class SpeedGuard {
 public:
  /// `min_speed`: in vanilla decoding's, above 0 to 1. Trials may cost 1/256 of vanilla's time even at 1: a
  /// strategy that could lose nothing would never come back.
  explicit SpeedGuard(double min_speed);

  enum class Round : std::uint8_t {
    strategy,  ///< the strategy's
    measure,   ///< a vanilla one, for what it takes
    vanilla,   ///< a vanilla one, because the strategy loses
  };
  /// A strategy that is stopped comes back within the request that it was stopped in, or for a whole one.
  void begin_request();
  [[nodiscard]] Round next();
  void end_round(Round kind, std::int64_t round_ns, std::int32_t tokens);

  [[nodiscard]] bool is_stopped() const { return is_stopped_; }
  /// Whether the strategy was stopped, or came back, since the last call.
  [[nodiscard]] bool has_turned();
  /// Vanilla rounds that may be lost.
  [[nodiscard]] double balance() const { return account_.balance(); }
  /// Rounds that the strategy is stopped for, at least.
  [[nodiscard]] std::int64_t interval() const { return interval_; }

 private:
  [[nodiscard]] bool may_come_back() const;
  void come_back();

  TimeAccount account_;
  RecentMedian vanilla_ns_;
  RecentMedian strategy_ns_;        // rounds
  std::int64_t since_vanilla_ = 0;  // rounds
  std::int32_t measured_ = 0;       // vanilla rounds in a row
  bool is_stopped_ = false;
  bool began_stopped_ = false;  // the request at hand
  bool has_turned_ = false;
  std::int64_t interval_ = 0;
  std::int64_t stopped_rounds_ = 0;
  double balance_back_ = 0.0;  // when it came back
};

}  // namespace draftscope::speculation

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Decides from the gains of its rounds whether a strategy may continue. It stops when an account
// (strategies/auto/rule_costs.h) has nothing left to lose. It comes back, at doubling intervals, when vanilla
// rounds have earned another trial. Pairs of vanilla rounds from time to time measure the time of one.

#include <cstdint>

#include "strategies/auto/rule_costs.h"

namespace draftscope::speculation {

class SpeedGuard {
 public:
  /// `min_speed`: relative to vanilla decoding, above 0, at most 1. Trials may cost 1/256 of vanilla's time
  /// even at 1, since a strategy that could lose nothing would never come back.
  explicit SpeedGuard(double min_speed);

  enum class Round : std::uint8_t {
    strategy,  ///< A round of the strategy.
    measure,   ///< A vanilla round, to measure its time.
    vanilla,   ///< A vanilla round, because the strategy loses.
  };
  /// Begins a request. A stopped strategy comes back within the request in which it was stopped, or for a
  /// whole one.
  void begin_request();
  [[nodiscard]] Round next();
  void end_round(Round kind, std::int64_t round_ns, std::int32_t tokens);

  [[nodiscard]] bool is_stopped() const { return is_stopped_; }
  /// Whether the strategy was stopped, or came back, since the last call.
  [[nodiscard]] bool has_turned();
  /// Vanilla rounds that may be lost.
  [[nodiscard]] double balance() const { return account_.balance(); }
  /// Minimum rounds that the strategy is stopped for.
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
  bool began_stopped_ = false;  // whether the current request began stopped
  bool has_turned_ = false;
  std::int64_t interval_ = 0;
  std::int64_t stopped_rounds_ = 0;
  double balance_back_ = 0.0;  // balance when the strategy came back
};

}  // namespace draftscope::speculation

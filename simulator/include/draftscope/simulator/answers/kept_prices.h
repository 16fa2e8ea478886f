// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Questions that follow one another, as a slider asks them: what one of them drew serves the next where that
// has the same prices (another threshold moves rounds, but no price), and random numbers serve all.

#include <draftscope/simulator/answers/answer.h>
#include <memory>

namespace draftscope::simulator {

/// Prices of the last question with their draws, some megabytes. For one question at a time.
class KeptPrices {
 public:
  KeptPrices();
  ~KeptPrices();
  KeptPrices(KeptPrices&&) noexcept;
  KeptPrices& operator=(KeptPrices&&) noexcept;

 private:
  struct Last;
  friend Result<Answer> ask(const std::shared_ptr<const CostModel>& trained, const StrategyRounds& rounds,
                            const Machine& machine, const SweepOptions& options, KeptPrices& kept);
  std::unique_ptr<Last> last_;
};

/// ask() of answer.h, to the bit, with what `kept` has of the question before. Holds `trained` and the
/// machine's costs, by whose addresses it knows whether they are the same.
[[nodiscard]] Result<Answer> ask(const std::shared_ptr<const CostModel>& trained,
                                 const StrategyRounds& rounds, const Machine& machine,
                                 const SweepOptions& options, KeptPrices& kept);

}  // namespace draftscope::simulator

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Questions that follow one another, as a slider asks them: what one of them drew serves the next where that
// has the same prices (another threshold moves rounds, but no price), and random numbers serve all.

#include <draftscope/simulator/answers/answer.h>
#include <memory>

namespace draftscope::simulator {

/// Prices of the last question with their draws, some megabytes. For one question at a time.
class CachedPrices {
 public:
  CachedPrices();
  ~CachedPrices();
  CachedPrices(CachedPrices&&) noexcept;
  CachedPrices& operator=(CachedPrices&&) noexcept;

 private:
  struct Last;
  friend Result<Answer> ask(const std::shared_ptr<const CostModel>& trained, const StrategyRounds& rounds,
                            const Machine& machine, const SweepOptions& options, CachedPrices& kept);
  std::unique_ptr<Last> last_;
};

/// ask() of answer.h, to the bit, with what `kept` has of the question before. Holds `trained` and the
/// machine's costs, by whose addresses it knows whether they are the same.
[[nodiscard]] Result<Answer> ask(const std::shared_ptr<const CostModel>& trained,
                                 const StrategyRounds& rounds, const Machine& machine,
                                 const SweepOptions& options, CachedPrices& kept);

}  // namespace draftscope::simulator

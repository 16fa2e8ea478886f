// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rules fitted on some prompts and judged on the others.

#include <draftscope/simulator/answers/waterfall.h>
#include <span>
#include <vector>

#include "answers/oracle/price_of_time.h"

namespace draftscope::simulator {

/// Times per request for rules that were fitted without the request's prompt.
struct CrossFitted {
  std::vector<double> modelled_ns;
  std::vector<double> min_ns;  ///< Time with the fewest drafts of the bounded rounds.
  std::vector<double> max_ns;
  AnswerStatus status = AnswerStatus::exact;
};

/// The dense number of each request's prompt, in order of appearance.
[[nodiscard]] std::vector<std::size_t> prompt_numbers(std::span<const WaterfallRequest> requests);

/// Number of folds; 1 if there are too few prompts for two.
[[nodiscard]] std::size_t fold_count(std::size_t prompts, std::int32_t wanted);

[[nodiscard]] Result<CrossFitted> cross_fit_prefix_rule(std::span<const WaterfallRequest> requests,
                                                        const Prices& prices, const RuleSearch& search,
                                                        std::size_t folds);
[[nodiscard]] Result<CrossFitted> cross_fit_single_threshold(std::span<const WaterfallRequest> requests,
                                                             const Prices& prices, const RuleSearch& search,
                                                             std::size_t folds);

}  // namespace draftscope::simulator

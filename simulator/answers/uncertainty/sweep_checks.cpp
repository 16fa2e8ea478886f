// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/uncertainty/sweep_checks.h"

#include <draftscope/base/quote.h>

#include <limits>
#include <string_view>

namespace draftscope::simulator {

namespace {

constexpr std::int32_t min_draws = 200;
constexpr std::int32_t max_draws = 100'000;

/// `place` is a setting's number.
Result<void> check_requests(std::span<const PassCount> vanilla, std::span<const RoundStatistics> statistics,
                            std::size_t place, std::string_view which, AnswerStatus status) {
  if (statistics.size() != vanilla.size())
    return fail("setting {}, {} draft tokens: found {} requests, expected {} as vanilla decoding has", place,
                which, statistics.size(), vanilla.size());
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    const RoundStatistics& request = statistics[i];
    // A model of acceptance need not end where the text does. Vanilla decoding takes a step more to find the
    // end of a text that ended at an end-of-sequence token, which is not emitted.
    const std::int64_t steps = vanilla[i].passes;
    if (status < AnswerStatus::approximate && request.tokens != steps && request.tokens + 1 != steps)
      return fail(
          "setting {}, request {}: found {} tokens, expected {} or one less, as vanilla decoding emits",
          place, i, request.tokens, steps);
    for (const DraftStatistics& draft : request.drafts)
      if (draft.exit < 1)
        return fail("setting {}, request {}: found exit layer {}, expected 1 or more", place, i, draft.exit);
  }
  return {};
}

Result<void> check_cover(const Prices& prices, std::string_view name, std::span<const PassKind> kinds) {
  for (const PassKind kind : kinds)
    if (!covers(prices, kind))
      return fail("prices of {}: found none of {} rows with exit layer {}, expected all that settings use",
                  quote(name), kind.rows, kind.exit);
  return {};
}

}  // namespace

Result<void> check_sweep(std::span<const PassCount> vanilla, std::span<const SweepSetting> settings,
                         const SweepOptions& options) {
  if (options.draws < min_draws || options.draws > max_draws)
    return fail("sweep draws: found {}, expected {} to {}", options.draws, min_draws, max_draws);
  if (requests_with_tokens(vanilla).empty())
    return fail("sweep: found no request with tokens, expected at least one");
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (settings[i].status == AnswerStatus::invalid) continue;
    DRAFTSCOPE_TRY(check_requests(vanilla, settings[i].min_drafted, i, "fewest", settings[i].status));
    if (!settings[i].max_drafted.empty())
      DRAFTSCOPE_TRY(check_requests(vanilla, settings[i].max_drafted, i, "most", settings[i].status));
  }
  return {};
}

Result<void> check_prices_cover(std::span<const SweepTarget> targets, std::span<const PassKind> kinds) {
  for (const SweepTarget& target : targets) DRAFTSCOPE_TRY(check_cover(target.prices, target.name, kinds));
  return {};
}

Result<void> check_draws_cover(const SweepTarget& target, std::span<const PassKind> kinds) {
  return check_cover(target.draws(0, {}), target.name, kinds);
}

std::vector<std::size_t> requests_with_tokens(std::span<const PassCount> vanilla) {
  std::vector<std::size_t> requests;
  for (std::size_t i = 0; i < vanilla.size(); ++i)
    if (vanilla[i].passes > 0) requests.push_back(i);
  return requests;
}

bool is_time(const Eigen::Ref<const Eigen::ArrayXd>& times) {
  return (times > 0.0 && times < std::numeric_limits<double>::max()).all();
}

}  // namespace draftscope::simulator

// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/tuning/teacher_forced.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "tuning/known_texts.h"
#include "tuning/replay_rounds.h"

namespace draftscope::engine {

namespace {

/// Max tokens per vanilla step that rounds with drafts at this cost can emit.
double best_rate(const PassCosts& costs, double draft_step) {
  double best = 0.0;
  for (std::int32_t drafted = 0; drafted < max_verification_rows; ++drafted)
    best = std::max(best, (drafted + 1) / (drafted * draft_step + costs.verification(drafted + 1)));
  return best;
}

}  // namespace

struct TeacherForced::State {
  const ScoringSetup& setup;
  PassCosts costs;
  KnownTexts texts;
  std::vector<TopToken> predictions;

  [[nodiscard]] bool cancelled() const {
    return setup.cancelled != nullptr && setup.cancelled->load(std::memory_order_relaxed);
  }
  /// Computes predictions up to `end`, in passes that continue up to `last` if they have room. False =
  /// cancelled.
  Result<bool> predict_up_to(std::size_t end, std::size_t last, const DraftSubmodel& draft) {
    while (predictions.size() < end) {
      if (cancelled()) return false;
      const std::size_t begin = predictions.size();
      DRAFTSCOPE_TRY(texts.predict(draft, begin, std::min(begin + texts.width(), last), predictions));
    }
    return true;
  }
  [[nodiscard]] double agreement(std::size_t count) const {
    std::size_t agreed = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (has_distribution(predictions[i]) && predictions[i].token == texts.next()[i]) ++agreed;
    return count > 0 ? static_cast<double>(agreed) / static_cast<double>(count) : 0.0;
  }
};

TeacherForced::TeacherForced(std::unique_ptr<State> state) : state_(std::move(state)) {}
TeacherForced::TeacherForced(TeacherForced&&) noexcept = default;
TeacherForced& TeacherForced::operator=(TeacherForced&&) noexcept = default;
TeacherForced::~TeacherForced() = default;

Result<DraftSubmodel> TeacherForced::submodel_of(const std::string& setting,
                                                 const speculation::ModelShape& shape) {
  DRAFTSCOPE_TRY_ASSIGN(const auto made, make_strategy(setting, shape));
  constexpr std::array<std::int32_t, 2> text{0, 0};
  made.strategy->begin_request({.prompt = std::span(text).first(1), .max_new_tokens = 2});
  const RoundPlan plan = made.strategy->plan({.root_position = 1, .remaining_tokens = 1, .text = text});
  DRAFTSCOPE_TRY(check_replayable(plan, setting));
  return DraftSubmodel{*plan.mask, plan.weights};
}

Result<std::optional<TeacherForced>> TeacherForced::create(const ScoringSetup& setup, PassCosts costs) {
  DRAFTSCOPE_TRY_ASSIGN(auto texts, KnownTexts::decode(setup));
  if (!texts) return std::nullopt;
  if (texts->next().empty())
    return fail("prompts: every text ends with its first token, expected one that goes on");
  return std::optional(
      TeacherForced(std::make_unique<State>(State{setup, std::move(costs), *std::move(texts), {}})));
}

Result<std::optional<TeacherForcedScore>> TeacherForced::score(const std::string& setting, double floor) {
  return score_on(state_->texts.texts().size(), setting, floor);
}

Result<std::optional<TeacherForcedScore>> TeacherForced::score_in_one_pass(const std::string& setting) {
  const std::span<const KnownText> texts = state_->texts.texts();
  const auto beyond = std::find_if(texts.begin(), texts.end(),
                                   [&](const KnownText& text) { return text.end() > state_->texts.width(); });
  // A text that ended with its first token tells nothing, so take texts until one does.
  const auto telling =
      std::find_if(texts.begin(), texts.end(), [](const KnownText& text) { return text.count > 0; });
  const auto count = std::max(beyond - texts.begin(), telling - texts.begin() + 1);
  return score_on(static_cast<std::size_t>(count), setting, -std::numeric_limits<double>::infinity());
}

Result<std::optional<TeacherForcedScore>> TeacherForced::score_on(std::size_t count,
                                                                  const std::string& setting, double floor) {
  State& state = *state_;
  const Checkpoint& checkpoint = state.setup.checkpoint;
  const std::span<const KnownText> texts = state.texts.texts().first(count);
  DRAFTSCOPE_TRY_ASSIGN(const DraftSubmodel draft, submodel_of(setting, checkpoint.shape));
  if (draft.weights) DRAFTSCOPE_TRY(state.setup.backend.prepare_draft_weights(*draft.weights));
  DRAFTSCOPE_TRY_ASSIGN(const auto made, make_strategy(setting, checkpoint.shape, {{}, checkpoint.hash}));
  const double rate = best_rate(state.costs, state.costs.draft_step(draft.mask, draft.weights));
  double to_come = 0.0;
  for (const KnownText& text : texts) to_come += static_cast<double>(text.emitted());
  state.predictions.clear();
  RoundSums sums;
  TeacherForcedScore found;
  std::size_t looked_at = 0;
  for (const KnownText& text : texts) {
    DRAFTSCOPE_TRY_ASSIGN(const bool went_on, state.predict_up_to(text.end(), texts.back().end(), draft));
    if (!went_on) return std::nullopt;
    DRAFTSCOPE_TRY(replay_rounds({.setup = state.setup,
                                  .text = text,
                                  .next = state.texts.next().subspan(text.first, text.count),
                                  .predictions = std::span(state.predictions).subspan(text.first, text.count),
                                  .draft = draft,
                                  .costs = state.costs},
                                 setting, *made.strategy, sums));
    ++found.prompts;
    looked_at = text.end();
    to_come -= static_cast<double>(text.emitted());
    // The tokens of every text are known; only their cost is still open.
    if (sums.rounds > 0.0 && (sums.emitted + to_come) / (sums.steps + to_come / rate) < floor) break;
  }
  found.agreement = state.agreement(looked_at);
  found.measured = {.score = sums.emitted / sums.steps,
                    .acceptance_rate = sums.drafted > 0.0 ? sums.accepted / sums.drafted : 0.0,
                    .tokens_per_round = sums.emitted / sums.rounds};
  return found;
}

}  // namespace draftscope::engine

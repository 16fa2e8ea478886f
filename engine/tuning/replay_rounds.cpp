// SPDX-License-Identifier: GPL-3.0-or-later
#include "tuning/replay_rounds.h"

#include <draftscope/base/quote.h>

#include <algorithm>

#include "decode/draft_limits.h"

namespace draftscope::engine {

namespace {

using traces::DraftStop;

/// Replays one text's rounds.
class Replay {
 public:
  Replay(const KnownRounds& known, const std::string& setting, Strategy& strategy, RoundSums& sums)
      : known_(known), setting_(setting), strategy_(strategy), sums_(sums) {}

  Result<void> run() {
    const std::span<const std::int32_t> tokens = known_.text.tokens;
    strategy_.begin_request({.prompt = tokens.first(static_cast<std::size_t>(known_.text.prompt_size)),
                             .max_new_tokens = known_.setup.max_tokens,
                             .eos_tokens = known_.setup.checkpoint.shape.eos_tokens,
                             .greedy = true});
    for (root_ = 0; root_ < known_.text.count; root_ += accepted_ + 1) DRAFTSCOPE_TRY(round());
    return {};
  }

 private:
  Result<void> round() {
    const auto root = static_cast<std::int32_t>(root_);
    const RoundRoom room = room_at(root);
    const RoundPlan plan = strategy_.plan(
        {.index = round_++,
         .root_position = room.root_position,
         .remaining_tokens = room.remaining_tokens,
         .text = std::span(known_.text.tokens).first(static_cast<std::size_t>(room.root_position) + 1)});
    DRAFTSCOPE_TRY(check_replayable(plan, setting_));
    if (!(*plan.mask == known_.draft.mask))
      return fail("strategy {}: drafts with more than one layer set, expected one to score it teacher-forced",
                  quote(setting_));
    const std::int32_t planned = planned_depth(plan);
    const DraftLimits limits = draft_limits(plan, planned, room);
    DraftStop stop = stop_at_limit(planned, limits);
    draft(plan, limits, stop);
    const std::int32_t emitted = emit();
    sums_.rounds += 1.0;
    sums_.drafted += static_cast<double>(nodes_.size());
    sums_.accepted += static_cast<double>(accepted_);
    sums_.emitted += emitted;
    sums_.steps += known_.costs.verification(static_cast<std::int32_t>(nodes_.size()) + 1);
    if (!nodes_.empty())
      sums_.steps += static_cast<double>(nodes_.size()) *
                     known_.costs.draft_step(known_.draft.mask, known_.draft.weights);
    strategy_.observe({.steps = steps_,
                       .nodes = nodes_,
                       .accepted_nodes = path_,
                       .emitted = known_.next.subspan(root_, static_cast<std::size_t>(emitted)),
                       .stop = stop,
                       .planned = planned,
                       .longest = limits.steps,
                       .verified = verified_},
                      nullptr);
    if (strategy_.wants_to_optimise())
      return fail(
          "strategy {}: optimises while it decodes, expected one of a fixed layer set to score it "
          "teacher-forced",
          quote(setting_));
    return {};
  }

  [[nodiscard]] RoundRoom room_at(std::int32_t root) const {
    const Backend& backend = known_.setup.backend;
    const std::int32_t position = known_.text.prompt_size + root;
    return {.remaining_tokens = known_.setup.max_tokens - root - 1,
            .root_position = position,
            .cache_rows = backend.cache_rows(),
            .verify_rows = std::min(backend.max_verified_rows(), backend.cache_rows() - position)};
  }

  void draft(const RoundPlan& plan, const DraftLimits& limits, DraftStop& stop) {
    steps_.clear();
    nodes_.clear();
    path_.clear();
    verified_.assign(1, {.token = known_.next[root_]});
    accepted_ = 0;
    for (std::int32_t k = 0; k < limits.steps; ++k) {
      const std::size_t at = root_ + static_cast<std::size_t>(k);
      if (at >= known_.text.count) return;  // after a wrong token, past the text's end
      const TopToken& best = known_.predictions[at];
      if (!has_distribution(best)) {
        stop = DraftStop::threshold;
        return;
      }
      add_step(k, best);
      if (accepted_ == static_cast<std::size_t>(k) && best.token == known_.next[at]) {
        ++accepted_;
        path_.push_back(k);
      }
      const auto& eos = known_.setup.checkpoint.shape.eos_tokens;
      if (std::find(eos.begin(), eos.end(), best.token) != eos.end()) {
        stop = DraftStop::eos;
        return;
      }
      if (best.probability < static_cast<float>(plan.threshold)) {
        if (k + 1 < limits.steps) stop = DraftStop::threshold;
        return;
      }
    }
  }

  void add_step(std::int32_t k, const TopToken& best) {
    const double confidence = best.probability;
    const std::size_t after = root_ + static_cast<std::size_t>(k) + 1;
    steps_.push_back({k, best.token, confidence});
    nodes_.push_back({.token = best.token, .parent = k - 1, .depth = k + 1, .confidence = confidence});
    verified_.push_back({.token = after < known_.text.count ? known_.next[after] : -1});
  }

  /// Number of the round's tokens that reach the output; a token that ends the text does not.
  [[nodiscard]] std::int32_t emit() const {
    const auto output = static_cast<std::int64_t>(known_.text.tokens.size()) - known_.text.prompt_size;
    const std::int64_t after_root = output - 1 - static_cast<std::int64_t>(root_);
    return static_cast<std::int32_t>(std::min(after_root, static_cast<std::int64_t>(accepted_) + 1));
  }

  const KnownRounds& known_;
  const std::string& setting_;
  Strategy& strategy_;
  RoundSums& sums_;
  std::size_t root_ = 0;  ///< output token at which the round starts
  std::int32_t round_ = 0;
  std::size_t accepted_ = 0;
  std::vector<DraftStep> steps_;
  std::vector<DraftNode> nodes_;
  std::vector<std::int32_t> path_;
  std::vector<TopToken> verified_;
};

}  // namespace

Result<void> check_replayable(const RoundPlan& plan, const std::string& setting) {
  if (plan.mask == nullptr || plan.draft_model != nullptr || !plan.proposals.empty() ||
      !plan.branches.empty() || !plan.extra_rows.empty() || !plan.states.empty() ||
      plan.entropy_weight > 0.0 || plan.verification != Verification::all_layers)
    return fail(
        "strategy {}: is more than a chain under a layer set, expected that to score it "
        "teacher-forced (--score decoded takes any)",
        quote(setting));
  return {};
}

Result<void> replay_rounds(const KnownRounds& known, const std::string& setting, Strategy& strategy,
                           RoundSums& sums) {
  return Replay(known, setting, strategy, sums).run();
}

}  // namespace draftscope::engine

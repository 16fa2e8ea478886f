// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/replay.h"

#include <draftscope/traces/text_share.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <vector>

namespace draftscope::simulator {

namespace {

std::string range(std::int32_t least, std::int32_t most) {
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

/// Compares one request with its table.
class RequestComparison {
 public:
  RequestComparison(const ShadowTable& table, traces::RequestStop stop, const ReplayConditions& conditions,
                    Policy& policy, ReplayCheck& check)
      : table_(table), stop_(stop), conditions_(conditions), policy_(policy), check_(check) {}

  /// First difference; "" if there is none.
  std::string compare(std::span<const traces::Round> rounds) {
    policy_.begin_request(table_);
    std::int32_t root = table_.first - 1;
    for (const traces::Round& round : rounds) {
      if (!has_round(table_, root)) return fmt::format("round {}: replay ends before it", round.index);
      if (round.root_position != root)
        return fmt::format("round {}: root position is {}, replay says {}", round.index, round.root_position,
                           root);
      if (std::string difference = compare(round, root); !difference.empty())
        return fmt::format("round {}: {}", round.index, difference);
      root += round.accepted + 1;
    }
    if (has_round(table_, root)) return fmt::format("round {}: replay has one more", rounds.size());
    return "";
  }

 private:
  std::string compare(const traces::Round& round, std::int32_t root) {
    const RoundState state = state_at(table_, conditions_, root);
    PlannedRound plan;
    const bool is_told = policy_.is_certain();
    policy_.plan(state, plan);
    if (is_told) {
      if (std::string difference = compare_plan(round, plan); !difference.empty()) return difference;
    } else {
      // A round has no widths; they are the strategy's.
      const auto widths = plan.widths;
      plan = recorded_plan(round);
      plan.widths = widths;
      if (plan.exit >= table_.n_layers)
        return fmt::format("exit {}, expected at most {}", plan.exit, table_.n_layers - 1);
    }
    DraftWalk walk = walk_draft(state, plan, conditions_);
    const DraftOutcome recorded{round.drafted, round.accepted, round.drafted - round.tree_depth};
    // A table does not have what was accepted after its text's end.
    const auto accepted = static_cast<std::int32_t>(traces::tokens_of(round).accepted_in_text(stop_));
    if (walk.is_near_threshold) widen(accepted, state, plan, walk);
    const bool ended_off_text = walk.may_end_early && round.draft_stop == traces::DraftStop::eos &&
                                round.drafted > accepted && round.drafted <= walk.most.drafted;
    if (!ended_off_text && (round.drafted < walk.least.drafted || round.drafted > walk.most.drafted))
      return fmt::format("drafted {}, replay says {}", round.drafted,
                         range(walk.least.drafted, walk.most.drafted));
    const auto [fewest, greatest] = std::minmax(walk.least.accepted, walk.most.accepted);
    if (accepted < fewest || accepted > greatest)
      return fmt::format("accepted {}, replay says {}", accepted, range(fewest, greatest));
    const std::int32_t emitted = emitted_tokens(table_, root, round.accepted);
    if (round.emitted != emitted) return fmt::format("emitted {}, replay says {}", round.emitted, emitted);
    count(walk, is_told, ended_off_text);
    policy_.observe({state, plan, recorded, recorded, recorded});
    return "";
  }

  /// A round's plan as far as it was recorded; without an exit if it drafted nothing.
  static PlannedRound recorded_plan(const traces::Round& round) {
    return {round.exit_layer, round.planned, round.threshold};
  }

  [[nodiscard]] static std::string compare_plan(const traces::Round& round, const PlannedRound& plan) {
    const std::int32_t planned = plan.exit > 0 ? plan.length : 0;
    if (round.planned != planned) return fmt::format("planned {}, replay says {}", round.planned, planned);
    if (round.drafted > 0 && round.exit_layer != plan.exit)
      return fmt::format("exit {}, replay says {}", round.exit_layer, plan.exit);
    if (!(std::abs(round.threshold - plan.threshold) <= confidence_rounding))
      return fmt::format("threshold {}, replay says {}", round.threshold, plan.threshold);
    return "";
  }

  /// Widens the walk if either rounding of the confidence explains the round.
  void widen(std::int32_t accepted, const RoundState& state, PlannedRound plan, DraftWalk& walk) const {
    for (const double change : {-confidence_rounding, confidence_rounding}) {
      PlannedRound other = plan;
      other.threshold += 2 * change;
      const DraftWalk rounded = walk_draft(state, other, conditions_);
      if (rounded.least.accepted == accepted || rounded.most.accepted == accepted) walk = rounded;
    }
    walk.is_near_threshold = true;
  }

  void count(const DraftWalk& walk, bool is_told, bool ended_off_text) {
    ++check_.rounds;
    const bool is_exact = walk.least == walk.most;
    check_.untold_plans += is_told ? 0 : 1;
    check_.exact_rounds += is_told && is_exact && !walk.is_near_threshold ? 1 : 0;
    check_.bounded_rounds += is_exact ? 0 : 1;
    const AnswerStatus status = !is_told || walk.is_near_threshold ? AnswerStatus::approximate
                                : is_exact && !ended_off_text      ? AnswerStatus::exact
                                                                   : AnswerStatus::bounded;
    check_.status = std::max(check_.status, status);
  }

  const ShadowTable& table_;
  traces::RequestStop stop_;
  const ReplayConditions& conditions_;
  Policy& policy_;
  ReplayCheck& check_;
};

}  // namespace

Result<ReplayCheck> replays_recorded(const RunRows& run, std::span<const ShadowTable> tables,
                                     const traces::Recording& recording) {
  ReplayCheck check;
  if (const PolicyChoice text = text_choice(recording); text.status != AnswerStatus::exact) {
    check.status = text.status;
    check.reason = text.reason;
    return check;
  }
  DRAFTSCOPE_TRY_ASSIGN(const ReplayModel model, replay_model(recording));
  DRAFTSCOPE_TRY_ASSIGN(const ReplayConditions conditions, replay_conditions(recording));
  std::unordered_map<traces::RequestId, const ShadowTable*> table_of;
  for (const ShadowTable& table : tables) table_of.emplace(table.request_id, &table);
  std::map<std::int32_t, std::unique_ptr<Policy>> policies;  // [repeat]
  for (const RequestRows& rows : run.requests) {
    std::unique_ptr<Policy>& policy = policies[rows.request->repeat];
    if (policy == nullptr) {
      DRAFTSCOPE_TRY_ASSIGN(PolicyChoice choice, policy_of_run(*run.run, model));
      if (choice.policy == nullptr) {
        check.status = choice.status;
        check.reason = choice.reason;
        return check;
      }
      policy = std::move(choice.policy);
    }
    const auto table = table_of.find(rows.request->id);
    if (table == table_of.end()) continue;
    ++check.requests;
    const std::string difference =
        RequestComparison(*table->second, rows.request->stop, conditions, *policy, check)
            .compare(rows.rounds);
    if (difference.empty()) continue;
    check.status = AnswerStatus::invalid;
    check.reason = fmt::format("request {} {}", rows.request->id, difference);
    return check;
  }
  return check;
}

}  // namespace draftscope::simulator

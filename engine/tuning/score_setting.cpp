// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/tuning/score_setting.h>

#include <draftscope/engine/decode.h>
#include <draftscope/engine/tuning/pass_costs.h>

namespace draftscope::engine {

namespace {

/// Sums over rounds.
class ScoredRounds final : public DecodeListener {
 public:
  ScoredRounds(const ScoringSetup& setup, std::optional<speculation::WeightFormat> weights)
      : costs_(byte_costs(setup.checkpoint, setup.backend)), weights_share_(costs_.weights_share(weights)) {}

  void on_round(const RoundReport& report) override {
    ++rounds;
    drafted += static_cast<double>(report.draft_tokens.size());
    accepted += report.round.accepted;
    emitted += static_cast<double>(report.emitted.size());
    passes += 1.0;  // Counts the verification.
    if (report.layer_set.n_layers > 0)
      passes += report.round.tree_depth * costs_.draft_step(report.layer_set.skipped) * weights_share_;
  }

  double rounds = 0.0;
  double drafted = 0.0;
  double accepted = 0.0;
  double emitted = 0.0;
  double passes = 0.0;  ///< in passes over all weights

 private:
  PassCosts costs_;
  double weights_share_;  // share of a weight's bytes that a draft reads
};

struct Timed {
  std::int64_t tokens = 0;
  std::int64_t ns = 0;
  [[nodiscard]] double tokens_per_second() const {
    return ns > 0 ? static_cast<double>(tokens) * 1e9 / static_cast<double>(ns) : 0.0;
  }
};

/// Decodes one prompt; none = cancelled.
Result<std::optional<std::vector<std::int32_t>>> decode_one(const ScoringSetup& setup, Strategy& strategy,
                                                            std::span<const std::int32_t> prompt,
                                                            DecodeListener& listener, Timed& timed) {
  SeededChooser chooser(0, 0);  // Greedy decoding draws nothing.
  DRAFTSCOPE_TRY_ASSIGN(DecodeResult result, decode(setup.backend, strategy,
                                                    {.prompt = prompt,
                                                     .max_new_tokens = setup.max_tokens,
                                                     .sampling = {},
                                                     .eos_tokens = setup.checkpoint.shape.eos_tokens,
                                                     .cancelled = setup.cancelled},
                                                    chooser, listener));
  if (result.stop == traces::RequestStop::cancelled) return std::nullopt;
  timed.tokens += static_cast<std::int64_t>(result.tokens.size());
  timed.ns += result.end_ns - result.start_ns;
  return std::move(result.tokens);
}

/// The setting being scored, its baseline, and their sums so far.
struct Comparison {
  const ScoringSetup& setup;
  ConfiguredStrategy setting;
  ConfiguredStrategy vanilla;
  ScoredRounds counts;
  Timed setting_time;
  Timed vanilla_time;

  /// Decodes one prompt by both. False = cancelled.
  Result<bool> add(std::span<const std::int32_t> prompt, bool vanilla_first) {
    DecodeListener nobody;
    std::optional<std::vector<std::int32_t>> expected;
    std::optional<std::vector<std::int32_t>> found;
    const bool timed = setup.objective == Objective::speedup;
    for (const bool baseline : {vanilla_first, !vanilla_first}) {
      if (baseline && !timed) continue;
      auto tokens = baseline ? decode_one(setup, *vanilla.strategy, prompt, nobody, vanilla_time)
                             : decode_one(setup, *setting.strategy, prompt, counts, setting_time);
      if (!tokens) return tl::unexpected(tokens.error());
      if (!*tokens) return false;
      (baseline ? expected : found) = std::move(*tokens);
    }
    if (timed && expected != found)
      return fail("strategy {}: its greedy text differs from vanilla's, expected the same",
                  setting.specification);
    return true;
  }

  [[nodiscard]] Result<Measurement> measurement() const {
    if (counts.rounds == 0.0)
      return fail("prompts: every text ends with its first token, expected one that goes on");
    Measurement measured{.acceptance_rate = counts.drafted > 0.0 ? counts.accepted / counts.drafted : 0.0,
                         .tokens_per_round = counts.emitted / counts.rounds};
    if (setup.objective == Objective::acceptance_model) {
      measured.score = counts.emitted / counts.passes;
      return measured;
    }
    measured.tokens_per_second = setting_time.tokens_per_second();
    measured.vanilla_tokens_per_second = vanilla_time.tokens_per_second();
    measured.score = measured.tokens_per_second / measured.vanilla_tokens_per_second;
    return measured;
  }
};

}  // namespace

Result<std::optional<Measurement>> score_setting(const ScoringSetup& setup, const std::string& setting,
                                                 std::int32_t prompts) {
  const Checkpoint& checkpoint = setup.checkpoint;
  DRAFTSCOPE_TRY_ASSIGN(auto strategy, make_strategy(setting, checkpoint.shape, {{}, checkpoint.hash}));
  DRAFTSCOPE_TRY_ASSIGN(auto vanilla, make_strategy("vanilla", checkpoint.shape));
  DRAFTSCOPE_TRY_ASSIGN(const auto specification,
                        speculation::parse_strategy(setting, checkpoint.shape.n_layers));
  const speculation::StrategyRow& row = speculation::strategy_row(specification.name());
  const bool has_counted_steps = row.has_parts() || row.is_baseline || row.draft.layers.has_value();
  if (setup.objective == Objective::acceptance_model && !has_counted_steps)
    return fail(
        "objective: found acceptance-model, whose draft steps run layers of the target, for strategy {}, "
        "expected speedup",
        setting);
  const ScoredRounds counts(setup, specification.draft_weights());
  Comparison comparison{setup, std::move(strategy), std::move(vanilla), counts, {}, {}};
  const std::size_t count = std::min(static_cast<std::size_t>(prompts), setup.prompts.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto& prompt = setup.prompts[i * setup.prompts.size() / count];
    DRAFTSCOPE_TRY_ASSIGN(const bool went_on, comparison.add(prompt, i % 2 == 0));
    if (!went_on) return std::nullopt;
  }
  DRAFTSCOPE_TRY_ASSIGN(Measurement measured, comparison.measurement());
  return measured;
}

}  // namespace draftscope::engine

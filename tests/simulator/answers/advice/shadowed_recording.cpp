// SPDX-License-Identifier: GPL-3.0-or-later
#include "shadowed_recording.h"

#include <draftscope/speculation/model_shape_json.h>
#include <draftscope/traces/text_share.h>
#include <draftscope/traces/writer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "../../prices/fit/planted_trace.h"
#include "prices/passes/cost_prices.h"
#include "rounds/drafts/auxiliary_work.h"
#include "rounds/drafts/recorded_statistics.h"
#include "rounds/replay/known_round.h"
#include "rounds/replay/policy_choice.h"
#include "rounds/replay/replay.h"

namespace draftscope::simulator {

namespace {

constexpr int vocabulary = 50;

ModelShape small_model() {
  ModelShape shape = planted_cpu().shape;
  shape.n_layers /= 2;
  return shape;
}

/// Returns a random text. Hard positions come in sequences; a layer predicts positions that are easier than
/// its depth, and its confidence is roughly right.
ShadowTable text_of(const ShadowedRecording& recording, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  ShadowTable table{.n_layers = shadowed_layers, .prompt_tokens = 6, .first = 7};
  for (int i = 0; i < table.prompt_tokens + recording.tokens; ++i)
    table.text.push_back(static_cast<std::int32_t>(random() % vocabulary));
  double hardness = 0.5;
  for (std::int32_t position = table.first; position < table.end(); ++position) {
    if (random() % 4 == 0) hardness = unit(random);
    const double need = 0.7 * hardness + 0.3 * unit(random);
    for (int layer = 1; layer <= shadowed_layers; ++layer) {
      const double reach = recording.skill * std::sqrt(static_cast<double>(layer) / shadowed_layers);
      const bool is_right = layer == shadowed_layers || need < reach;
      const std::int32_t truth = table.text[static_cast<std::size_t>(position)];
      const double confidence = std::clamp(0.5 + reach - need + 0.2 * (unit(random) - 0.5), 0.02, 0.99);
      table.cells.push_back({.token = is_right ? truth : truth + 1,
                             .true_rank = is_right ? 0 : 1 + (7 * position + 3 * layer) % 12,
                             .probability = static_cast<float>(confidence),
                             .margin = position % 10 == 0 ? 0.05F : 2.0F});
    }
  }
  return table;
}

/// Confidence at a position; there is none after the text.
double confidence_at(const ShadowTable& table, std::int32_t position, std::int32_t exit) {
  return position < table.end() ? static_cast<double>(table.cell(position, exit).probability) : 0.0;
}

class Recorder {
 public:
  Recorder(const ShadowedRecording& recording, traces::Writer& writer)
      : recording_(recording), writer_(writer) {
    Scenario scenario = fitted_scenario(planted_cpu());
    scenario.widths = 64;
    prices_ = prices(planted_cpu(), scenario).value();
    conditions_ = {.max_new_tokens = recording.tokens, .context_rows = 2048};
    std::mt19937 random(recording.seed);
    for (int i = 0; i < recording.prompts; ++i) {
      tables_.push_back(text_of(recording, random));
      const ShadowTable& table = tables_.back();
      prompt_ids_.push_back(writer.add(
          traces::Prompt{.question_id = i,
                         .category = i % 2 == 0 ? "even" : "odd",
                         .text = "prompt",
                         .tokens = {table.text.begin(), table.text.begin() + table.prompt_tokens}}));
    }
  }

  void run(const std::string& specification) {
    if (specification == two_models) return run_two_models();
    const auto parsed = speculation::parse_strategy(specification, shadowed_layers).value();
    work_ = AuxiliaryWork::of(parsed, planted_cpu().shape);
    draft_model_.reset();
    drafter_ = Drafter::exits;
    const std::string name = specification.substr(0, specification.find(':'));
    const traces::RunId run_id =
        writer_.add(traces::Run{.strategy = name,
                                .specification = specification,
                                .parameters = recording_.is_complete ? parsed.json() : "{}",
                                .is_baseline = name == "vanilla"});
    PolicyChoice choice = policy_of_specification(specification, {shadowed_layers, 1.0}).value();
    if (choice.policy == nullptr && parsed.has_parts()) {
      drafter_ = Drafter::set;
      choice.policy = chain_policy(parsed, layers_of_set).value();
    } else if (choice.policy == nullptr) {
      drafter_ = Drafter::guesses;
      choice = policy_of_specification("layerskip:exit=3,gamma=4", {shadowed_layers, 1.0}).value();
    }
    // Recorded runs are in another order than the shadow tokens.
    const bool is_baseline = name == "vanilla";
    for (std::size_t i = 0; i < tables_.size(); ++i)
      request(run_id, is_baseline ? i : tables_.size() - 1 - i, *choice.policy, is_baseline);
  }

 private:
  /// Adds the rounds of an early exit, but drafted by another model.
  void run_two_models() {
    const traces::RunId run_id = writer_.add(traces::Run{.strategy = "two-model",
                                                         .specification = two_models,
                                                         .parameters = R"({"model":"small","gamma":4})"});
    work_.reset();
    drafter_ = Drafter::exits;
    draft_model_ = small_model();
    PolicyChoice choice = policy_of_specification("layerskip:exit=3,gamma=4", {shadowed_layers, 1.0}).value();
    for (std::size_t i = 0; i < tables_.size(); ++i) request(run_id, i, *choice.policy, false);
  }

  void request(traces::RunId run_id, std::size_t prompt, Policy& policy, bool with_shadow) {
    const ShadowTable& table = tables_[prompt];
    traces::Request request{.id = writer_.next_request_id(),
                            .run_id = run_id,
                            .prompt_id = prompt_ids_[prompt],
                            .start_ns = now_};
    request.first_token_ns = now_ += 1'000'000;
    request.tokens.assign(table.text.begin() + table.prompt_tokens, table.text.end());
    writer_.begin(request);
    if (work_)
      now_ += auxiliary_ns([&](AuxiliaryPasses& passes, std::vector<PassCount>& counts) {
        work_->after_prefill(table.prompt_tokens, true, passes, counts);
      });
    std::int32_t index = 0;
    draft_rows_ = 0;
    is_odd_ = prompt % 2 == 1;
    const std::vector<ReplayedRound> rounds = replay_rounds(table, policy, conditions_);
    for (const ReplayedRound& round : rounds) {
      const bool is_last = index + 1 == static_cast<std::int32_t>(rounds.size());
      add(table, round, request.id, index++, is_last);
    }
    request.end_ns = now_;
    writer_.finish(request);
    if (with_shadow && recording_.with_shadow) add_shadow(table, request.id);
  }

  /// Time of the auxiliary passes that `count` counts.
  template <typename Count>
  std::int64_t auxiliary_ns(const Count& count) {
    AuxiliaryPasses passes;
    std::vector<PassCount> counts;
    count(passes, counts);
    Scenario scenario = fitted_scenario(planted_cpu());
    scenario.auxiliary_passes = passes.kinds();
    scenario.draft_model = draft_model_;
    const Prices own = prices(planted_cpu(), scenario).value();
    return std::llround(recording_.auxiliary_factor * auxiliary_time_ns({.auxiliary = counts}, own));
  }

  /// Time of the other model's draft, and of its reads before it.
  std::int64_t draft_model_ns(const traces::Round& round) {
    const std::int32_t layers = draft_model_->n_layers;
    const std::int32_t root = round.root_position;
    const std::int64_t ns = auxiliary_ns([&](AuxiliaryPasses& passes, std::vector<PassCount>& counts) {
      if (draft_rows_ < root)
        passes.count({AuxiliaryPassKind::draft_model, root - draft_rows_, layers, layers, false}, 1,
                     draft_rows_, counts);
      for (std::int32_t step = 0; step < round.drafted; ++step)
        passes.count({AuxiliaryPassKind::draft_model, 1, layers, layers, true}, 1, root + step, counts);
    });
    draft_rows_ = std::min(root + round.drafted, root + 1 + round.accepted);
    return ns;
  }

  void add(const ShadowTable& table, const ReplayedRound& replayed, traces::RequestId request_id,
           std::int32_t index, bool is_last) {
    const std::int32_t drafted = replayed.least.drafted;
    traces::Round round{
        .id = writer_.next_round_id(), .request_id = request_id, .index = index, .start_ns = now_};
    round.root_position = replayed.root_position;
    round.verify_rows = drafted + 1 + (drafter_ == Drafter::guesses ? recording_.window_rows : 0);
    round.drafted = drafted;
    round.tree_depth = replayed.least.steps();
    round.planned = replayed.plan.length;
    round.accepted = replayed.least.accepted;
    round.emitted = replayed.emitted;
    round.bonus_token = 0;
    double draft_ns = 0.0;
    AffineTime verify = prices_.target_step;
    if (round.verify_rows > 1) {
      const DraftPrices& draft = prices_.drafts[static_cast<std::size_t>(std::max(replayed.plan.exit, 1))];
      if (draft_model_) {
        draft_ns = static_cast<double>(draft_model_ns(round));
      } else if (drafter_ != Drafter::guesses) {
        round.exit_layer = drafter_ == Drafter::set ? shadowed_layers : replayed.plan.exit;
        round.layer_set_id = drafter_ == Drafter::set ? set_in_the_middle() : layer_set(replayed.plan.exit);
        for (std::int32_t step = 0; step < round.tree_depth; ++step)
          draft_ns += draft.step.at(round.root_position + step);
      }
      verify = draft.verify[static_cast<std::size_t>(round.verify_rows)];
    }
    const double factor = !is_odd_      ? 1.0
                          : drafted > 0 ? recording_.odd_draft_factor
                                        : recording_.odd_step_factor;
    round.draft_ns = std::llround(factor * draft_ns);
    round.verify_ns = std::llround(factor * verify.at(round.root_position));
    now_ += round.draft_ns + round.verify_ns +
            std::llround(drafted > 0 ? prices_.round_ns : prices_.step_round_ns);
    if (work_) {
      if (!is_last)
        round.optimise_ns = auxiliary_ns([&](AuxiliaryPasses& passes, std::vector<PassCount>& counts) {
          work_->after_round({index, table.prompt_tokens, round.root_position, round.accepted}, passes,
                             counts);
        });
      now_ += round.optimise_ns + std::llround(1e3 * recording_.host_us);
    }
    round.end_ns = now_;
    constexpr std::int32_t waits_after = 4;
    if (round.index % waits_after == waits_after - 1) now_ += std::llround(1e3 * recording_.wait_us);
    std::vector<traces::DraftToken> tokens = known_round(table, conditions_, replayed, index).draft_tokens;
    const std::vector<std::int32_t> depths = traces::token_depths(tokens);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      tokens[i].round_id = round.id;
      tokens[i].token = 0;
      tokens[i].probability = 0.0;
      tokens[i].confidence = confidence_at(table, round.root_position + 1 + depths[i], replayed.plan.exit);
    }
    writer_.add(round, tokens);
  }

  void add_shadow(const ShadowTable& table, traces::RequestId request_id) {
    std::vector<traces::ShadowToken> rows;
    for (std::int32_t position = recording_.is_complete ? 1 : table.first; position < table.first; ++position)
      for (std::int32_t layer = 1; layer <= table.n_layers; ++layer) {
        const bool is_right = layer == table.n_layers || (position + layer) % 3 == 0;
        rows.push_back({.request_id = request_id,
                        .position = position,
                        .layer = layer,
                        .token = table.text[static_cast<std::size_t>(position)] + (is_right ? 0 : 1),
                        .probability = is_right ? 0.9 : 0.4,
                        .margin = 2.0,
                        .true_rank = is_right ? 0 : 1});
      }
    for (std::int32_t position = table.first; position < table.end(); ++position)
      for (std::int32_t layer = 1; layer <= table.n_layers; ++layer) {
        const ShadowCell& cell = table.cell(position, layer);
        rows.push_back({.request_id = request_id,
                        .position = position,
                        .layer = layer,
                        .token = cell.token,
                        .probability = cell.probability,
                        .margin = cell.margin,
                        .true_rank = cell.true_rank});
      }
    writer_.add(rows);
  }

  traces::LayerSetId layer_set(std::int32_t exit) {
    return writer_.add(set_without(exit, shadowed_layers, shadowed_layers, exit, "fixed"));
  }

  /// All but two layers, which take as long as an exit of so many.
  traces::LayerSetId set_in_the_middle() {
    constexpr std::int32_t first = 2;
    return writer_.add(set_without(first, first + shadowed_layers - layers_of_set, shadowed_layers,
                                   shadowed_layers, "fixed"));
  }

  enum class Drafter : std::uint8_t { exits, set, guesses };
  static constexpr std::int32_t layers_of_set = 6;

  const ShadowedRecording& recording_;
  traces::Writer& writer_;
  Drafter drafter_ = Drafter::exits;  // Drafter of the current run.
  Prices prices_;
  ReplayConditions conditions_;
  std::vector<ShadowTable> tables_;
  std::vector<traces::PromptId> prompt_ids_;
  std::optional<AuxiliaryWork> work_;      // Auxiliary work of the current run.
  std::optional<ModelShape> draft_model_;  // Draft model of the current run.
  std::int32_t draft_rows_ = 0;            // Rows of the text that the draft model has seen.
  bool is_odd_ = false;                    // Category of the current request's prompt.
  std::int64_t now_ = 1'000'000'000;
};

}  // namespace

void write_shadowed_recording(const ShadowedRecording& recording, const std::filesystem::path& path) {
  const ModelShape shape = planted_cpu().shape;
  traces::Meta meta{{"device", "cpu"},
                    {"processor", "planted"},
                    {"kernels", "planted"},
                    {"threads", "1"},
                    {"hostname", "planted"},
                    {"level", "rounds"},
                    {"dtype", "bf16"},
                    {"temperature", "0"},
                    {"coupling", "none"},
                    {"max_tokens", std::to_string(recording.tokens)},
                    {"cache_rows", "2048"},
                    {"prompts_file", "planted.jsonl"},
                    {"checkpoint_hash", "planted"},
                    {"model", shape.name},
                    {"model_shape", speculation::recorded_shape_json(shape)}};
  if (recording.with_two_models && recording.with_draft_shape)
    meta["draft_model_shapes"] =
        fmt::format(R"({{"small":{}}})", speculation::recorded_shape_json(small_model()));
  auto writer = traces::Writer::create(path, meta, {.overwrite = true});
  ASSERT_TRUE(writer) << writer.error().message;
  Recorder recorder(recording, **writer);
  for (const std::string& strategy : recording.strategies) recorder.run(strategy);
  if (recording.with_two_models) recorder.run(two_models);
  const auto closed = (*writer)->close();
  ASSERT_TRUE(closed) << closed.error().message;
}

}  // namespace draftscope::simulator

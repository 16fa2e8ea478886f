// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/auto/predict_texts.h"

#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/prices/scenario.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analysis/run_specification.h"
#include "rounds/drafts/drafted_positions.h"
#include "rounds/drafts/drafted_table.h"
#include "rounds/drafts/same_draft.h"
#include "rounds/replay/policy_choice.h"

namespace draftscope::simulator {

namespace {

using speculation::AutoDrafter;
using speculation::StrategySpecification;

using RowsByRequest = std::unordered_map<traces::RequestId, const RequestRows*>;

RowsByRequest rows_by_request(const TrainedRecording& trained) {
  RowsByRequest rows;
  for (const RunRows& run : trained.runs)
    for (const RequestRows& request : run.requests) rows.emplace(request.request->id, &request);
  return rows;
}

/// A strategy that drafts with this drafter only.
std::string strategy_of(const AutoDrafter& drafter, const StrategySpecification& automatic) {
  if (drafter.is_next_token_layer()) return "mtp:gamma=4";
  if (drafter.weights) return "quantised:weights=" + drafter.name;
  if (drafter.mask.is_early_exit()) return fmt::format("mix:mask=exit,exit={}", drafter.mask.exit_layer());
  std::string text = "draft-verify:gamma=4";
  for (const char* const parameter : {"skip-attention", "skip-mlp"})
    if (!automatic.text(parameter).empty())
      text += fmt::format(",{}={}", parameter, automatic.text(parameter));
  return text;
}

/// The parameter that lists the drafter.
std::string_view parameter_of(const AutoDrafter& drafter) {
  if (drafter.weights) return "formats";
  return drafter.mask.is_early_exit() ? "exits" : "skip-attention";
}

/// One drafter's tokens on all texts.
struct Column {
  std::vector<std::vector<ShadowCell>> cells;  // [text][position − first]
  std::vector<std::vector<bool>> is_drawn;
  std::vector<float> behind_wrong;
  std::vector<std::string> sources;
};

Column shadowed_column(const TrainedRecording& trained, std::int32_t exit) {
  Column column{.sources = {"shadow tokens"}};
  for (const ShadowTable& table : trained.shadowed.tables) {
    std::vector<ShadowCell>& cells = column.cells.emplace_back();
    for (std::int32_t position = table.first; position < table.end(); ++position)
      cells.push_back(table.cell(position, exit));
    column.is_drawn.emplace_back(cells.size(), false);
    for (const ShadowCell& cell : cells)
      if (cell.true_rank != 0) column.behind_wrong.push_back(cell.probability);
  }
  return column;
}

/// A recorded run, and the rounds of it that one drafter drafted.
class RunOfDrafter {
 public:
  /// `origin`: origin of the layer sets of the drafter's rounds in a run of auto; empty = all rounds that
  /// draft.
  RunOfDrafter(const TrainedRecording& trained, const RunRows& run, std::string origin)
      : trained_(trained), run_(run), origin_(std::move(origin)) {}

  [[nodiscard]] const RunRows& run() const { return run_; }

  [[nodiscard]] bool drafts(const traces::Round& round) const {
    if (round.drafted < 1) return false;
    if (origin_.empty()) return true;
    if (origin_ == speculation::next_token_layer_name)
      return is_of_next_token_layer(trained_.staged_passes, round.id);
    const auto set = trained_.layer_sets.find(round.layer_set_id);
    return set != trained_.layer_sets.end() && set->second->origin == origin_;
  }

  /// Verdicts of the drafter's drafts on a request's positions; nothing for rounds by other drafters.
  [[nodiscard]] DraftedPositions positions(const RequestRows& rows) const {
    std::vector<traces::Round> rounds(rows.rounds.begin(), rows.rounds.end());
    RequestRows own = rows;
    for (traces::Round& round : rounds)
      if (!drafts(round)) round.drafted = round.accepted = round.tree_depth = 0;
    own.rounds = rounds;
    return drafted_positions(*trained_.recording, own);
  }

  void add_behind_wrong(const RequestRows& rows, std::vector<float>& confidences) const {
    for (const traces::Round& round : rows.rounds) {
      if (!drafts(round)) continue;
      for (const traces::DraftToken& token : draft_tokens_of(*trained_.recording, round.id))
        if (!token.tested && token.confidence > 0.0)
          confidences.push_back(static_cast<float>(token.confidence));
    }
  }

 private:
  const TrainedRecording& trained_;
  const RunRows& run_;
  std::string origin_;
};

std::vector<RunOfDrafter> runs_of(const TrainedRecording& trained, const AutoDrafter& drafter,
                                  const StrategySpecification& automatic) {
  std::vector<RunOfDrafter> found;
  const auto alone = speculation::parse_strategy(strategy_of(drafter, automatic), trained.n_layers());
  if (!alone) return found;
  for (const RunRows* const run : runs_of_draft(trained.runs, draft_key(*alone), trained.n_layers()))
    found.emplace_back(trained, *run, "");
  for (const RunRows& run : trained.runs)
    if (run.run->strategy == automatic.name()) found.emplace_back(trained, run, drafter.name);
  return found;
}

/// Whether the request has the table's text after the same prompt.
bool is_text_of(const RequestRows& rows, const ShadowTable& table, const RequestRows& own) {
  return rows.prompt == own.prompt && !rows.rounds.empty() &&
         std::ranges::equal(rows.request->tokens,
                            std::span(table.text).subspan(static_cast<std::size_t>(table.prompt_tokens)));
}

/// The drafter's tokens on all texts; nothing if no token of its drafts was judged.
std::optional<Column> drafted_column(const TrainedRecording& trained, const RowsByRequest& rows_of,
                                     const std::vector<RunOfDrafter>& runs) {
  Column column;
  std::vector<DraftedPositions> texts;
  for (const ShadowTable& table : trained.texts().tables) {
    const std::int32_t positions = std::max(table.end() - table.first, 0);
    DraftedPositions& text = texts.emplace_back(static_cast<std::size_t>(positions));
    const RequestRows& own = *rows_of.at(table.request_id);
    for (const RunOfDrafter& run : runs)
      for (const RequestRows& rows : run.run().requests)
        if (is_text_of(rows, table, own)) fill_unseen(run.positions(rows), text);
  }
  for (const RunOfDrafter& run : runs) {
    bool drafted = false;
    for (const RequestRows& rows : run.run().requests) {
      run.add_behind_wrong(rows, column.behind_wrong);
      drafted =
          drafted || std::ranges::any_of(rows.rounds, [&](const auto& round) { return run.drafts(round); });
    }
    if (drafted) column.sources.push_back("run " + run.run().run->specification);
  }
  std::vector<AcceptanceBits> bits(texts.size());
  std::ranges::transform(texts, bits.begin(), bits_at);
  const auto model = fit_markov_acceptance(bits);
  if (!model) return std::nullopt;
  const SeenSteps seen = seen_steps(texts);
  if (column.behind_wrong.empty()) {
    column.behind_wrong = seen.right;
    column.behind_wrong.insert(column.behind_wrong.end(), seen.wrong.begin(), seen.wrong.end());
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::vector<ShadowCell>& cells = column.cells.emplace_back();
    std::vector<bool>& is_drawn = column.is_drawn.emplace_back();
    const ShadowTable& text = trained.texts().tables[i];
    const RequestRows& own = *rows_of.at(text.request_id);
    if (own.rounds.empty() || own.rounds.front().root_position != text.prompt_tokens) {
      // Rounds outside this text have no correct draft.
      cells.resize(texts[i].size(), {.token = -1, .true_rank = 1});
      is_drawn.resize(texts[i].size(), true);
      continue;
    }
    DraftedTable drafted = drafted_table(own, texts[i], *model, seen);
    for (std::int32_t position = drafted.table.first; position < drafted.table.end(); ++position)
      cells.push_back(drafted.table.cell(position, drafted_layer));
    is_drawn = std::move(drafted.is_drawn);
  }
  return column;
}

std::optional<Column> column_of(const TrainedRecording& trained, const RowsByRequest& rows,
                                const AutoDrafter& drafter, const StrategySpecification& automatic) {
  // A next-token layer's mask is the whole target, whose last layer predicts the text itself.
  const bool is_exit = !drafter.is_next_token_layer() && !drafter.weights && drafter.mask.is_early_exit();
  if (is_exit && !trained.shadowed.tables.empty()) return shadowed_column(trained, drafter.mask.exit_layer());
  return drafted_column(trained, rows, runs_of(trained, drafter, automatic));
}

/// Copies the table's text without the layers' predictions.
ShadowTable text_alone(const ShadowTable& table, std::int32_t n_layers) {
  return {.request_id = table.request_id,
          .n_layers = n_layers,
          .prompt_tokens = table.prompt_tokens,
          .first = table.first,
          .text = table.text,
          .ended_at_eos = table.ended_at_eos,
          .ended_at_string = table.ended_at_string,
          .cells = {},
          .prompt_cells = {},
          .end_cells = {}};
}

std::vector<ShadowTable> joined(const std::vector<ShadowTable>& texts, const std::vector<Column>& columns) {
  std::vector<ShadowTable> tables;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ShadowTable& table =
        tables.emplace_back(text_alone(texts[i], static_cast<std::int32_t>(columns.size()) + 1));
    for (std::int32_t position = table.first; position < table.end(); ++position) {
      for (const Column& column : columns)
        table.cells.push_back(column.cells[i][static_cast<std::size_t>(position - table.first)]);
      table.cells.push_back(
          {.token = table.text[static_cast<std::size_t>(position)], .true_rank = 0, .probability = 1.0F});
    }
  }
  return tables;
}

}  // namespace

speculation::HeldTarget recorded_target(const traces::Meta& meta) {
  speculation::HeldTarget target = speculation::held_target(meta_value(meta, "device"), "");
  if (const auto bits = recorded_weight_bits(meta)) target.bits = *bits;
  target.has_next_token_layer = has_next_token_layer(meta);
  return target;
}

Result<AutoTexts> auto_texts(const TrainedRecording& trained, const StrategySpecification& automatic) {
  const std::string given = automatic.given();
  DRAFTSCOPE_TRY(check_texts(trained, given));
  DRAFTSCOPE_TRY_ASSIGN(auto drafters, speculation::auto_drafters(automatic, trained.n_layers(),
                                                                  recorded_target(trained.recording->meta)));
  const RowsByRequest rows = rows_by_request(trained);
  AutoTexts texts;
  std::vector<Column> columns;
  for (AutoDrafter& drafter : drafters) {
    std::optional<Column> column = column_of(trained, rows, drafter, automatic);
    if (!column) {
      const std::string alone = strategy_of(drafter, automatic);
      const bool is_given = !drafter.is_next_token_layer() &&
                            given.find(fmt::format("{}=", parameter_of(drafter))) != std::string::npos;
      if (is_given)
        return fail("strategy {}: found nothing drafted by {}, expected a recorded run of it ({})", given,
                    drafter.name, alone);
      texts.left_out.push_back(drafter.name);
      texts.notes.push_back(fmt::format("left out: {}, of which nothing is recorded (record {} to have it)",
                                        drafter.name, alone));
      continue;
    }
    texts.notes.push_back(fmt::format("{} drafts as in {}", drafter.name, fmt::join(column->sources, ", ")));
    texts.drafters.push_back(std::move(drafter));
    texts.is_drawn.push_back(std::move(column->is_drawn));
    texts.behind_wrong.push_back(std::move(column->behind_wrong));
    columns.push_back(*std::move(column));
  }
  texts.tables = joined(trained.texts().tables, columns);
  return texts;
}

std::optional<std::string> known_auto(const TrainedRecording& trained) {
  const auto automatic = speculation::parse_strategy("auto", trained.n_layers());
  if (!automatic) return std::nullopt;
  const auto texts = auto_texts(trained, *automatic);
  if (!texts) return std::nullopt;
  if (texts->left_out.empty()) return "auto";
  std::vector<std::string> names;
  for (const AutoDrafter& drafter : texts->drafters)
    if (drafter.weights) names.push_back(drafter.name);
  return fmt::format("auto:formats={}", names.empty() ? "none" : fmt::format("{}", fmt::join(names, "+")));
}

}  // namespace draftscope::simulator

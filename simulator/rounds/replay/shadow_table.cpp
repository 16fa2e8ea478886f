// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/shadow_table.h"

#include <draftscope/simulator/analysis/gpu.h>
#include <fmt/format.h>
#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace draftscope::simulator {

namespace {

bool is_finished(const traces::Request& request) {
  return request.end_ns > request.start_ns && request.stop != traces::RequestStop::cancelled &&
         request.stop != traces::RequestStop::error;
}

/// A table under construction: rows come layer by layer, each layer from the same first position to the same
/// last.
struct Draft {
  ShadowTable table;
  std::int32_t from = 0;  ///< The first recorded position.
  std::vector<std::vector<ShadowCell>> layers;
};

Result<void> add(Draft& draft, const traces::ShadowToken& row) {
  const traces::RequestId request_id = draft.table.request_id;
  if (draft.layers.empty()) draft.from = row.position;
  const auto layer = static_cast<std::int32_t>(draft.layers.size());
  if (draft.layers.empty() || row.layer != layer) {
    if (row.layer != layer + 1)
      return fail("shadow_tokens of request {}: found layer {}, expected {}", request_id, row.layer,
                  layer + 1);
    draft.layers.emplace_back();
  }
  std::vector<ShadowCell>& cells = draft.layers.back();
  const std::int64_t expected = std::int64_t{draft.from} + static_cast<std::int64_t>(cells.size());
  if (row.position != expected)
    return fail("shadow_tokens of request {}, layer {}: found position {}, expected {}", request_id,
                row.layer, row.position, expected);
  if (row.position > draft.table.end())
    return fail("shadow_tokens of request {}: found position {}, expected at most {} (the text's length)",
                request_id, row.position, draft.table.end());
  const bool is_text = row.position < draft.table.end() &&
                       row.token == draft.table.text[static_cast<std::size_t>(row.position)];
  if (row.position < draft.table.end() && is_text != (row.true_rank == 0))
    return fail(
        "shadow_tokens of request {}, layer {}, position {}: rank is {}, expected 0 where the token "
        "is the text's and only there",
        request_id, row.layer, row.position, row.true_rank);
  cells.push_back(
      {row.token, row.true_rank, static_cast<float>(row.probability), static_cast<float>(row.margin)});
  return {};
}

/// Reorders the rows from layer by layer to position by position.
Result<ShadowTable> finish(Draft draft) {
  ShadowTable& table = draft.table;
  table.n_layers = static_cast<std::int32_t>(draft.layers.size());
  const std::size_t positions = draft.layers.empty() ? 0 : draft.layers.front().size();
  for (std::size_t layer = 0; layer < draft.layers.size(); ++layer)
    if (draft.layers[layer].size() != positions)
      return fail("shadow_tokens of request {}: layer {} has {} positions, expected {} as layer 1",
                  table.request_id, layer + 1, draft.layers[layer].size(), positions);
  const std::int64_t end = std::int64_t{draft.from} + static_cast<std::int64_t>(positions);
  if (draft.from > table.first || end < table.end())
    return fail("shadow_tokens of request {}: positions are {} to {}, expected {} to {}", table.request_id,
                draft.from, end - 1, table.first, table.end() - 1);
  for (std::size_t i = 0; i < positions; ++i) {
    const std::int64_t position = std::int64_t{draft.from} + static_cast<std::int64_t>(i);
    std::vector<ShadowCell>& into = position < table.first   ? table.prompt_cells
                                    : position < table.end() ? table.cells
                                                             : table.end_cells;
    for (const std::vector<ShadowCell>& layer : draft.layers) into.push_back(layer[i]);
  }
  return std::move(draft.table);
}

constexpr std::uint64_t rows_between_questions = 4096;
constexpr std::size_t max_tokens = std::numeric_limits<std::int32_t>::max() / 2;

bool is_too_long(const traces::Request& request, const traces::Prompt& prompt) {
  return prompt.tokens.size() > max_tokens || request.tokens.size() > max_tokens;
}

ShadowTable text_of(const traces::Request& request, const traces::Prompt& prompt) {
  ShadowTable table{.request_id = request.id,
                    .prompt_tokens = static_cast<std::int32_t>(prompt.tokens.size()),
                    .first = static_cast<std::int32_t>(prompt.tokens.size()) + 1,
                    .text = prompt.tokens,
                    .ended_at_eos = request.stop == traces::RequestStop::eos,
                    .ended_at_string = request.stop == traces::RequestStop::stop_string,
                    .cells = {},
                    .prompt_cells = {},
                    .end_cells = {}};
  table.text.insert(table.text.end(), request.tokens.begin(), request.tokens.end());
  return table;
}

}  // namespace

Result<ShadowTables> shadow_tables(traces::Reader& reader, const traces::Recording& recording,
                                   const std::function<bool()>& go_on) {
  const auto none = [](std::string reason) { return ShadowTables{{}, std::move(reason)}; };
  std::unordered_map<traces::PromptId, const traces::Prompt*> prompts;
  for (const traces::Prompt& prompt : recording.prompts) prompts.emplace(prompt.id, &prompt);
  std::unordered_map<traces::RequestId, Draft> drafts;
  for (const traces::Request& request : recording.requests) {
    const auto prompt = prompts.find(request.prompt_id);
    if (prompt == prompts.end() || !is_finished(request) || request.tokens.empty()) continue;
    if (is_too_long(request, *prompt->second))
      return none(
          fmt::format("request {}: found a longer text, expected at most {} tokens", request.id, max_tokens));
    drafts.emplace(request.id, Draft{.table = text_of(request, *prompt->second), .layers = {}});
  }

  bool is_stopped = false;
  std::optional<Error> broken;
  std::int32_t layers = 0;
  std::uint64_t rows = 0;
  DRAFTSCOPE_TRY(reader.shadow_tokens([&](const traces::ShadowToken& row) {
    if (go_on && ++rows % rows_between_questions == 0 && !go_on()) {
      is_stopped = true;
      return false;
    }
    const auto found = drafts.find(row.request_id);
    if (found == drafts.end()) return true;
    layers = std::max(layers, row.layer);
    if (Result<void> added = add(found->second, row); !added) broken = std::move(added).error();
    return !broken;
  }));
  if (is_stopped) return fail("reading shadow tokens was stopped");
  if (broken) return none(std::move(broken->message));
  if (layers == 0) return none("found no shadow tokens of a finished request (record with --shadow)");

  // A policy may ask for any of the model's layers.
  if (const auto shape = recorded_shape(recording.meta)) layers = shape->n_layers;
  ShadowTables found_tables;
  std::vector<ShadowTable>& tables = found_tables.tables;
  for (const traces::Request& request : recording.requests) {
    const auto found = drafts.find(request.id);
    if (found == drafts.end()) continue;
    Draft& draft = found->second;
    if (draft.layers.empty()) {
      if (draft.table.end() > draft.table.first) continue;
      draft.table.n_layers = layers;
      tables.push_back(std::move(draft.table));
      continue;
    }
    if (std::ssize(draft.layers) != layers)
      return none(fmt::format("shadow_tokens of request {}: found {} of the model's {} layers", request.id,
                              draft.layers.size(), layers));
    auto table = finish(std::move(draft));
    if (!table) return none(std::move(table).error().message);
    tables.push_back(*std::move(table));
  }
  return found_tables;
}

std::vector<ShadowTable> text_tables(const traces::Recording& recording) {
  std::unordered_map<traces::PromptId, const traces::Prompt*> prompts;
  for (const traces::Prompt& prompt : recording.prompts) prompts.emplace(prompt.id, &prompt);
  const auto is_known = [](std::int32_t token) { return token >= 0; };
  std::vector<ShadowTable> tables;
  for (const traces::Request& request : recording.requests) {
    const auto prompt = prompts.find(request.prompt_id);
    if (prompt == prompts.end() || !is_finished(request) || request.tokens.empty() ||
        prompt->second->tokens.empty() || is_too_long(request, *prompt->second) ||
        !std::all_of(request.tokens.begin(), request.tokens.end(), is_known))
      continue;
    tables.push_back(text_of(request, *prompt->second));
  }
  return tables;
}

std::vector<std::int32_t> near_ties(const ShadowTable& table, float epsilon) {
  std::vector<std::int32_t> positions;
  for (std::int32_t position = table.first; position < table.end(); ++position) {
    const ShadowCell& target = table.cell(position, table.n_layers);
    if (target.margin < epsilon || target.true_rank != 0) positions.push_back(position);
  }
  return positions;
}

ShadowTable with_near_ties(const ShadowTable& table, float epsilon, TieOutcome outcome) {
  constexpr std::int32_t no_token = -1;
  ShadowTable flipped = table;
  const auto layers = static_cast<std::size_t>(table.n_layers);
  for (const std::int32_t position : near_ties(table, epsilon)) {
    const std::int32_t text = table.text[static_cast<std::size_t>(position)];
    const std::size_t row = static_cast<std::size_t>(position - table.first) * layers;
    for (std::size_t layer = 0; layer + 1 < layers; ++layer) {
      ShadowCell& cell = flipped.cells[row + layer];
      if (outcome == TieOutcome::accepted) {
        cell.token = text;
        cell.true_rank = 0;
      } else {
        if (cell.true_rank == 0) cell.token = no_token;
        cell.true_rank = -1;  // No sibling of a tree is the text's token either.
      }
    }
  }
  return flipped;
}

}  // namespace draftscope::simulator

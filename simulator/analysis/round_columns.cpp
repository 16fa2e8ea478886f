// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/round_columns.h>
#include <draftscope/traces/text_share.h>

#include <algorithm>
#include <array>
#include <bit>

namespace draftscope::simulator {

namespace {

using Format = FigureFormat;

bool drafts(const RoundRow& row) {
  return row.round->drafted > 0 || row.round->layer_set_id != 0;
}

RoundValue request_label(const RoundRow& row) {
  return RequestLabel{row.prompt == nullptr ? 0 : row.prompt->question_id, row.request->repeat};
}

RoundValue category(const RoundRow& row) {
  return row.prompt == nullptr ? std::string_view() : std::string_view(row.prompt->category);
}

/// Whether layers of the model drafted; a draft from the text has neither an exit nor skipped layers.
bool drafts_with_layers(const RoundRow& row) {
  return drafts(row) && (row.round->exit_layer > 0 || row.round->layer_set_id != 0);
}

RoundValue exit_layer(const RoundRow& row) {
  return drafts_with_layers(row) ? RoundValue(std::int64_t{row.round->exit_layer}) : RoundValue();
}

RoundValue skipped_sublayers(const RoundRow& row) {
  if (!drafts_with_layers(row)) return {};
  std::int64_t count = 0;
  if (row.layer_set != nullptr)
    for (const std::uint8_t byte : row.layer_set->skipped) count += std::popcount(byte);
  return count;
}

RoundValue threshold(const RoundRow& row) {
  return row.round->threshold < 0.0 ? RoundValue() : RoundValue(double{row.round->threshold});
}

constexpr std::array columns{
    RoundColumn{"round", "round", "Place in the run, from 0", Format::count,
                [](const RoundRow& row) -> RoundValue { return row.place; }},
    RoundColumn{"request", "request", "Question and repeat", Format::text, request_label},
    RoundColumn{"category", "category", "Category of the prompt", Format::text, category},
    RoundColumn{"exit_layer", "exit E", "The draft's first layer from which everything is skipped",
                Format::count, exit_layer},
    RoundColumn{"skipped_sublayers", "skipped",
                "Sublayers that the draft skipped, attention and MLP counted apart", Format::count,
                skipped_sublayers},
    RoundColumn{"planned_tokens", "planned γ", "Speculation length", Format::count,
                [](const RoundRow& row) -> RoundValue { return std::int64_t{row.round->planned}; }},
    RoundColumn{"drafted_tokens", "drafted", "Draft tokens", Format::count,
                [](const RoundRow& row) -> RoundValue { return std::int64_t{row.round->drafted}; }},
    RoundColumn{"accepted_tokens", "accepted",
                "Draft tokens that the target agreed with, up to the text's end", Format::count,
                [](const RoundRow& row) -> RoundValue {
                  return traces::tokens_of(*row.round).accepted_in_text(row.request->stop);
                }},
    RoundColumn{"emitted_tokens", "emitted", "Tokens that reached the output, the bonus token included",
                Format::count,
                [](const RoundRow& row) -> RoundValue { return std::int64_t{row.round->emitted}; }},
    RoundColumn{
        "draft_stop", "draft stop", "Why drafting ended", Format::text,
        [](const RoundRow& row) -> RoundValue { return traces::draft_stop_name(row.round->draft_stop); }},
    RoundColumn{"threshold", "threshold", "Draft-exit threshold in force", Format::number, threshold},
    RoundColumn{"draft_ns", "draft", "Time of the draft phase", Format::duration,
                [](const RoundRow& row) -> RoundValue { return row.round->draft_ns; }},
    RoundColumn{"verify_ns", "verify", "Time of the verify phase", Format::duration,
                [](const RoundRow& row) -> RoundValue { return row.round->verify_ns; }},
    RoundColumn{"other_ns", "other", "Accepting, optimising, control, and what no phase covers",
                Format::duration,
                [](const RoundRow& row) -> RoundValue {
                  const traces::Round& round = *row.round;
                  return round.end_ns - round.start_ns - round.draft_ns - round.verify_ns;
                }},
    RoundColumn{"round_ns", "round time", "Time from start to end", Format::duration,
                [](const RoundRow& row) -> RoundValue { return row.round->end_ns - row.round->start_ns; }},
};

}  // namespace

std::span<const RoundColumn> round_columns() {
  return columns;
}

std::size_t round_column_index(std::string_view key) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const RoundColumn& column) { return column.key == key; });
  return static_cast<std::size_t>(found - columns.begin());
}

}  // namespace draftscope::simulator

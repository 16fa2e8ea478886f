// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/measured_recording.h>
#include <fmt/format.h>

#include "analysis/figures/stated_figures.h"

namespace draftscope::simulator {

namespace {

using traces::MissingData;

void leave_out_drafts(Figures& figures) {
  Acceptance& acceptance = figures.acceptance;
  for (const char* const key : {"drafted_tokens", "draft_steps", "acceptance_by_position",
                                "rounds_by_draft_length", "rounds_by_draft_stop."})
    figures.unknown.insert(key);
  acceptance.acceptance_rate.reset();
  acceptance.step_acceptance.reset();
  acceptance.tested_rate.reset();
  acceptance.steps_per_round.reset();
  acceptance.drafted_tokens = acceptance.draft_steps = 0;
  acceptance.by_position.clear();
  acceptance.draft_lengths.clear();
  acceptance.draft_stops = {};
}

void leave_out(Figures& figures, MissingData missing) {
  switch (missing) {
    case MissingData::accepted_lengths:
      leave_out_drafts(figures);
      figures.unknown.insert({"accepted_tokens", "loaded_layers"});
      figures.acceptance.mean_accepted_length.reset();
      figures.acceptance.emitted_per_round.reset();
      figures.layers = {};
      break;
    case MissingData::draft_lengths:
      if (figures.run->is_baseline) break;  // It drafts nothing.
      leave_out_drafts(figures);
      figures.unknown.insert("loaded_layers");
      figures.cost.c.reset();
      figures.cost.draft_ns_per_step.reset();
      figures.cost.closed_form_speedup.reset();
      figures.layers = {};
      break;
    case MissingData::output_lengths:
      figures.unknown.insert("output_tokens");
      figures.throughput.tokens_per_second.reset();
      figures.throughput.decode_tokens_per_second.reset();
      break;
    case MissingData::wall_times:
      figures.unknown.insert({"wall_ns", "decode_ns"});
      figures.throughput.wall_ns = figures.throughput.decode_ns = 0;
      figures.throughput.tokens_per_second.reset();
      figures.throughput.decode_tokens_per_second.reset();
      figures.breakdown = {};
      break;
    case MissingData::first_token_times:
      if (!figures.throughput.time_to_first_token) figures.unknown.insert("decode_ns");
      figures.throughput.time_to_first_token.reset();
      figures.throughput.decode_tokens_per_second.reset();
      break;
    case MissingData::rounds:
    case MissingData::round_times:
    case MissingData::phase_times:
      if (figures.breakdown.source == BreakdownSource::rounds) figures.breakdown = {};
      figures.cost = {};
      break;
    case MissingData::prefill_times:
      figures.throughput.time_to_first_token.reset();
      figures.throughput.tokens_per_second.reset();
      break;
    case MissingData::layer_sets:
      figures.unknown.insert("loaded_layers");
      figures.layers = {};
      break;
    case MissingData::device:
      figures.unknown.insert("device.");
      break;
    case MissingData::draft_trees:
      if (figures.acceptance.draft_steps < figures.acceptance.drafted_tokens)
        figures.acceptance.tested_rate.reset();
      break;
    case MissingData::plain_steps:
      figures.acceptance.emitted_per_round.reset();
      figures.cost = {};
      break;
    default:
      break;  // No figure depends on it, or figures are absent without it anyway.
  }
}

/// A run that no row belongs to has no counts either.
void leave_out_counts(Figures& figures) {
  const Throughput& speed = figures.throughput;
  if (speed.requests == 0 && speed.unfinished_requests == 0)
    figures.unknown.insert({"requests", "unfinished_requests", "output_tokens", "wall_ns", "decode_ns"});
  if (figures.acceptance.rounds > 0) return;
  leave_out_drafts(figures);
  figures.unknown.insert({"rounds", "accepted_tokens", "loaded_layers"});
}

}  // namespace

bool is_unknown(const Figures& figures, std::string_view key) {
  if (figures.unknown.empty() || figures.stated.contains(key)) return false;
  return figures.unknown.contains(key) || figures.unknown.contains(key.substr(0, key.find('.') + 1));
}

void drop_unavailable(RecordingFigures& figures, const traces::Meta& meta) {
  for (const MissingData missing : traces::missing_data_of(meta))
    for (RunFigures& run : figures.runs) {
      leave_out(run.all, missing);
      for (Figures& category : run.by_category) leave_out(category, missing);
    }
  if (!traces::is_imported(meta)) return;
  for (RunFigures& run : figures.runs) {
    leave_out_counts(run.all);
    for (Figures& category : run.by_category) leave_out_counts(category);
  }
  put_stated(figures, meta);
}

std::string import_note(const traces::Meta& meta) {
  std::string source = meta_value(meta, "imported_from");
  if (source.empty()) return {};
  constexpr std::size_t max_characters = 80;  // Limits the text, since a sweep has dozens of files.
  if (source.size() > max_characters) source = source.substr(0, source.find(", ")) + " and others";
  std::string lacks;
  for (const MissingData missing : traces::missing_data_of(meta))
    lacks += (lacks.empty() ? "" : ", ") + std::string(traces::missing_data_name(missing));
  return fmt::format("imported from {}{}", source, lacks.empty() ? "" : ", which lacks " + lacks);
}

bool knows_acceptance(const traces::Meta& meta) {
  const bool has_rounds = !traces::is_missing(meta, MissingData::runs) &&
                          !traces::is_missing(meta, MissingData::rounds) &&
                          !traces::is_missing(meta, MissingData::accepted_lengths);
  return has_rounds || meta.contains("stated_figures");
}

}  // namespace draftscope::simulator

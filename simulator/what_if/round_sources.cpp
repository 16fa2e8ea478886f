// SPDX-License-Identifier: GPL-3.0-or-later
// The choice among the sources of rounds, and how a specification's text is read for it.
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/traces/missing_data.h>

#include <algorithm>
#include <set>

#include "what_if/trained_recording.h"

namespace draftscope::simulator {

namespace {

/// Name and parameters, in whatever order they were given.
std::multiset<std::string_view> pieces(std::string_view specification) {
  std::multiset<std::string_view> all;
  while (!specification.empty()) {
    const std::size_t end = std::min(specification.find_first_of(":,"), specification.size());
    all.insert(specification.substr(0, end));
    specification.remove_prefix(std::min(end + 1, specification.size()));
  }
  return all;
}

}  // namespace

bool is_same_specification(std::string_view a, std::string_view b) {
  return pieces(a) == pieces(b);
}

bool has_piece(std::string_view specification, std::string_view piece) {
  return pieces(specification).contains(piece);
}

VerifiedLayers specified_verified_layers(std::string_view specification) {
  return has_piece(specification, "verify=above-exit") ? VerifiedLayers::above_exit : VerifiedLayers::all;
}

PassCount vanilla_steps_of(const RequestRows& rows, std::int64_t emitted) {
  const bool finds_end = rows.request->stop == traces::RequestStop::eos;
  return vanilla_steps(emitted + (finds_end ? 1 : 0), rows.rounds.front().root_position);
}

std::int64_t emitted_tokens(const RequestRows& rows) {
  std::int64_t tokens = 0;
  for (const traces::Round& round : rows.rounds) tokens += round.emitted;
  return tokens;
}

Result<StrategyRounds> rounds_of(const TrainedRecording& trained, std::string_view strategy) {
  const bool is_import = traces::is_imported(trained.recording->meta);
  for (const RunRows& run : trained.runs)
    if (is_same_specification(run.run->specification, strategy))
      return is_import ? imported_rounds(trained, run) : recorded_rounds(trained, run);
  if (is_import) return modelled_import(trained, strategy);
  if (speculation::strategy_name(strategy) == "prompt-lookup") return lookup_rounds(trained, strategy);
  if (trained.shadowed.tables.empty()) return modelled_rounds(trained, strategy);
  return replayed_rounds(trained, strategy);
}

}  // namespace draftscope::simulator

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rows on their way from the recording thread to the writer's thread. A batch always ends at a round
// boundary: committing a whole batch keeps every reference inside the file.

#include <draftscope/traces/records.h>
#include <string>
#include <utility>
#include <vector>

#include "storage/columns.h"

namespace draftscope::traces {

struct Batch {
  std::vector<std::pair<std::string, std::string>> meta;
  std::vector<StringRow> strings;
  std::vector<Run> runs;
  std::vector<Prompt> prompts;
  std::vector<Track> tracks;
  std::vector<LayerSet> layer_sets;
  std::vector<Request> requests;  ///< begun or finished; the later row of an id replaces the earlier
  std::vector<Round> rounds;
  std::vector<DraftToken> draft_tokens;
  std::vector<Decision> decisions;
  std::vector<ShadowToken> shadow_tokens;
  std::vector<TokenText> token_texts;
  std::vector<Span> spans;
  std::vector<Kernel> kernels;
  std::vector<Counter> counters;

  [[nodiscard]] std::size_t droppable_rows() const { return spans.size() + kernels.size() + counters.size(); }
  [[nodiscard]] std::size_t rows() const {
    return droppable_rows() + meta.size() + strings.size() + runs.size() + prompts.size() + tracks.size() +
           layer_sets.size() + requests.size() + rounds.size() + draft_tokens.size() + decisions.size() +
           shadow_tokens.size() + token_texts.size();
  }
};

/// Calls action(list of a, the same list of b) for every table.
template <typename Action>
void for_each_list(Batch& a, Batch& b, Action action) {
  action(a.meta, b.meta);
  action(a.strings, b.strings);
  action(a.runs, b.runs);
  action(a.prompts, b.prompts);
  action(a.tracks, b.tracks);
  action(a.layer_sets, b.layer_sets);
  action(a.requests, b.requests);
  action(a.rounds, b.rounds);
  action(a.draft_tokens, b.draft_tokens);
  action(a.decisions, b.decisions);
  action(a.shadow_tokens, b.shadow_tokens);
  action(a.token_texts, b.token_texts);
  action(a.spans, b.spans);
  action(a.kernels, b.kernels);
  action(a.counters, b.counters);
}

/// Moves the rows of `from` behind those of `to`. Both keep their capacity, so that the steady state does not
/// allocate.
inline void append(Batch& to, Batch& from) {
  for_each_list(to, from, [](auto& target, auto& source) {
    if (target.empty()) {
      target.swap(source);
      return;
    }
    target.insert(target.end(), std::make_move_iterator(source.begin()),
                  std::make_move_iterator(source.end()));
    source.clear();
  });
}

inline void clear(Batch& batch) {
  for_each_list(batch, batch, [](auto& list, auto& /*same*/) { list.clear(); });
}

}  // namespace draftscope::traces

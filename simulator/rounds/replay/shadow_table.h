// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Predictions of every layer at every position of one request's text: the table that replays are
// read from. (Exactness: while drafts match, a prefix draft's input is the text itself, so that its j-th
// draft token at exit E from position p is layer E's prediction for position p + j; the round commits min(γ,
// run length) + 1 tokens under any history of policies.)
//
// Positions count prompt and output together. The round that starts with i tokens known (root position i − 1)
// drafts positions i, i + 1, …; the first round starts after the prefill's token, at i = prompt + 1.

#include <draftscope/base/result.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace draftscope::simulator {

struct ShadowCell {
  std::int32_t token = 0;
  std::int32_t true_rank = 0;  ///< 0 = the layer predicts the text's token; -1 = beyond the ranked
  float probability = 0.0F;    ///< of `token`, the confidence that a draft would have had
  float margin = 0.0F;         ///< best logit minus the second best
};

/// Positions [first, text.size()), layers 1 … n_layers (n_layers = the target itself), none missing.
struct ShadowTable {
  traces::RequestId request_id;
  std::int32_t n_layers = 0;
  std::int32_t prompt_tokens = 0;
  std::int32_t first = 0;          ///< the first position that rounds draft, prompt_tokens + 1
  std::vector<std::int32_t> text;  ///< prompt and output
  bool ended_at_eos = false;       ///< the last round's bonus token was an end token, which `text` lacks
  std::vector<ShadowCell> cells;   ///< [position − first][layer − 1]
  /// Positions right before `first` as far as recorded, ending there: [position][layer − 1]. What DEL's first
  /// statistics see; predictions of the prompt and of the prefill's token, which no round drafts.
  std::vector<ShadowCell> prompt_cells;
  /// Position end(), where the text ended, if recorded (the target's row is the end token): [layer − 1].
  std::vector<ShadowCell> end_cells;

  [[nodiscard]] const ShadowCell& cell(std::int32_t position, std::int32_t layer) const {
    return cells[static_cast<std::size_t>(position - first) * static_cast<std::size_t>(n_layers) +
                 static_cast<std::size_t>(layer - 1)];
  }
  [[nodiscard]] std::int32_t end() const { return static_cast<std::int32_t>(text.size()); }
  /// Number of positions of prompt_cells.
  [[nodiscard]] std::int32_t prompt_positions() const {
    return n_layers < 1 ? 0
                        : static_cast<std::int32_t>(prompt_cells.size() / static_cast<std::size_t>(n_layers));
  }
};

/// r_E(i) of every start: how many positions from i on layer `exit` predicts one after the other, element
/// i − first. O(positions).
[[nodiscard]] std::vector<std::int32_t> run_lengths(const ShadowTable& table, std::int32_t exit);

/// Tables of a recording. Without any, `no_tables_reason` is one line: there are no shadow tokens ("record
/// with --shadow"), or they make no table (holes, a token outside the text).
struct ShadowTables {
  std::vector<ShadowTable> tables;
  std::string no_tables_reason;
};

/// One table a finished request that has shadow tokens, in the recording's order; texts that several runs
/// share (greedy decoding) appear once a request, not once a text. A request with a single output token,
/// which no draft can have predicted, has an empty table. `go_on` is asked now and then. Errors: rows that
/// can't be read, which must not pass for a recording without them; `go_on` said no.
[[nodiscard]] Result<ShadowTables> shadow_tables(traces::Reader& reader, const traces::Recording& recording,
                                                 const std::function<bool()>& go_on = {});

/// The same without cells, of every finished request whose token ids are known: the texts alone.
[[nodiscard]] std::vector<ShadowTable> text_tables(const traces::Recording& recording);

}  // namespace draftscope::simulator

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Predictions of every layer at every position of one request's text: the table that replays read.
// (Exactness: while drafts match, a prefix draft's input is the text itself. So its j-th draft token at exit
// E from position p is layer E's prediction for position p + j. The round commits min(γ, run length) + 1
// tokens under any history of policies.)
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
  std::int32_t true_rank = 0;  ///< 0 = the layer predicts the text's token; -1 = not among the ranked tokens.
  float probability = 0.0F;    ///< Probability of `token`, which is the confidence of a draft.
  float margin = 0.0F;         ///< Best logit minus the second best.
};

/// Positions [first, text.size()), layers 1 … n_layers (n_layers = the target itself), without gaps.
struct ShadowTable {
  traces::RequestId request_id;
  std::int32_t n_layers = 0;
  std::int32_t prompt_tokens = 0;
  std::int32_t first = 0;          ///< The first position that rounds draft, prompt_tokens + 1.
  std::vector<std::int32_t> text;  ///< Prompt and output.
  bool ended_at_eos = false;       ///< The last round's bonus token was an end token, which `text` lacks.
  bool ended_at_string = false;    ///< `text` ends with a stop string; drafts went beyond it unseen.
  std::vector<ShadowCell> cells;   ///< [position − first][layer − 1]
  /// [position][layer − 1] for the recorded positions right before `first`, ending there. DEL's first
  /// statistics use them; they are predictions of the prompt and of the prefill's token, which no round
  /// drafts.
  std::vector<ShadowCell> prompt_cells;
  /// [layer − 1] for position end(), where the text ended, if recorded (the target's row is the end token).
  std::vector<ShadowCell> end_cells;
  /// Confidences of steps after a draft's first wrong token, in any order; a walk draws from them how far
  /// such a draft goes on. Empty = it keeps both bounds.
  std::vector<float> off_text;
  /// Whether a draft's tokens after its first are predicted by the layer that follows its exit.
  bool has_further_layer = false;

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

/// Tables of a recording. If there are none, `no_tables_reason` is one line: there are no shadow tokens
/// ("record with --shadow"), or they make no table (holes, a token outside the text).
struct ShadowTables {
  std::vector<ShadowTable> tables;
  std::string no_tables_reason;
};

/// One table per finished request that has shadow tokens, in order of the recording. Texts that several runs
/// share (greedy decoding) appear once per request, not once per text. A request with a single output token,
/// which no draft can have predicted, has an empty table. `go_on` is called from time to time. Errors:
/// unreadable rows, which must not count as a recording without them; `go_on` returned false.
[[nodiscard]] Result<ShadowTables> shadow_tables(traces::Reader& reader, const traces::Recording& recording,
                                                 const std::function<bool()>& go_on = {});

/// Texts only: tables without cells, for every finished request whose token ids are known.
[[nodiscard]] std::vector<ShadowTable> text_tables(const traces::Recording& recording);

// Near ties limit exactness: on another machine, kernel or number type the target's best two logits may swap
// where they are close. This finds the positions at risk and their effect on a replay.

/// Positions of the text where the target's margin is below `epsilon` (logits), ascending. A position where
/// the target does not predict the text's token is always at risk.
[[nodiscard]] std::vector<std::int32_t> near_ties(const ShadowTable& table, float epsilon);

/// Verdict on a draft token at a position at risk.
enum class TieOutcome : std::uint8_t {
  rejected,  ///< Pessimistic: no exit's token is accepted there.
  accepted,  ///< Optimistic: every exit's token is accepted there.
};

/// The table with every position at risk flipped. Replays of the two tables bound the effect on fixed (E, γ)
/// in tokens per round; the text itself stays the same.
[[nodiscard]] ShadowTable with_near_ties(const ShadowTable& table, float epsilon, TieOutcome outcome);

}  // namespace draftscope::simulator

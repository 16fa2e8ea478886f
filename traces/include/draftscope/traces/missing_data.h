// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Data that an imported or predicted trace lacks because its source did. The schema has no place for
// "unknown" in a count or a time. The rows therefore contain the substitutes below, and `meta` says under
// `lacks` that they are no measurements. Figures that depend on them are not possible. A request that
// was cancelled or failed may lack more, because no figure counts it.

#include <draftscope/traces/writer.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::traces {

enum class MissingData : std::uint8_t {
  runs,              ///< No run, request or round: a timeline without decoding.
  rounds,            ///< No rounds.
  accepted_lengths,  ///< Accepted, emitted and drafted are 0.
  draft_lengths,     ///< Drafted equals the accepted length: only the accepted draft tokens exist.
  token_ids,         ///< Tokens are -1, in their true number.
  output_lengths,  ///< Tokens that reached the output are unknown; their number is what the rounds accepted.
  prompts,         ///< A prompt's text is "[question 81]", without tokens.
  output_text,     ///< The output text is empty.
  wall_times,      ///< A request takes 1 ns.
  first_token_times,  ///< The time is 0.
  round_times,        ///< A round is at its request's start and takes 0 ns.
  phase_times,        ///< The times of a round's phases are 0.
  confidences,        ///< Confidences and probabilities are NULL.
  layer_sets,         ///< Rounds have no layer set and exit layer 0.
  turns,              ///< The turn of a round was derived from the turns' token counts.
  draft_trees,        ///< Drafts that branched are chains with further tokens at the root.
  device,             ///< No kernels.
  prefill_times,      ///< A prefill takes 1 ns, so that wall times are those of decoding.
  plain_steps,        ///< Steps without a draft have no rounds; `stated_figures` has their number.
};
inline constexpr int missing_data_count = 19;

/// Name in `meta`: "wall times".
[[nodiscard]] std::string_view missing_data_name(MissingData missing);

/// The value of the key `lacks`: a JSON list of names.
[[nodiscard]] std::string missing_data_text(const std::vector<MissingData>& lacks);

/// Data that the recording lacks; none if it was not imported, or if the value is not such a list. Unknown
/// names are ignored.
[[nodiscard]] std::vector<MissingData> missing_data_of(const Meta& meta);

[[nodiscard]] bool is_missing(const Meta& meta, MissingData missing);

/// Whether the recording was made by an import.
[[nodiscard]] bool is_imported(const Meta& meta);

}  // namespace draftscope::traces

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Data that an imported or predicted trace does not hold because its source did not. The schema has no place
// for "unknown" in a count or a time, so the rows carry the value that stands below, and `meta` says under
// `lacks` that it is no measurement. Figures that rest on it are not possible.

#include <draftscope/traces/writer.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::traces {

enum class MissingData : std::uint8_t {
  runs,               ///< no run, request or round: a timeline without decoding
  rounds,             ///< no rounds
  accepted_lengths,   ///< accepted, emitted and drafted are 0
  draft_lengths,      ///< drafted is the accepted length: only the accepted draft tokens are there
  token_ids,          ///< tokens are -1, as many as there were
  output_lengths,     ///< how many tokens reached the output; there are as many as the rounds accepted
  prompts,            ///< a prompt's text is "[question 81]", its tokens are none
  output_text,        ///< empty
  wall_times,         ///< a request takes 1 ns
  first_token_times,  ///< 0
  round_times,        ///< a round is at its request's start and takes 0 ns
  phase_times,        ///< the times of a round's phases are 0
  confidences,        ///< NULL, and NULL probabilities
  layer_sets,         ///< rounds have no layer set and exit layer 0
  turns,              ///< which turn a round belongs to was told from the turns' token counts
  draft_trees,        ///< drafts that branched are chains with further tokens at the root
  device,             ///< no kernels
  prefill_times,      ///< a prefill takes 1 ns, so that wall times are those of decoding
  plain_steps,        ///< steps without a draft have no rounds; `stated_figures` has their number
};
inline constexpr int missing_data_count = 19;

/// "wall times", as `meta` has it.
[[nodiscard]] std::string_view missing_data_name(MissingData missing);

/// The value of the key `lacks`: a JSON list of names.
[[nodiscard]] std::string missing_data_text(const std::vector<MissingData>& lacks);

/// Data that the recording lacks; none if it was not imported, or if the value is not such a list. Names that
/// are not known here are passed over.
[[nodiscard]] std::vector<MissingData> missing_data_of(const Meta& meta);

[[nodiscard]] bool is_missing(const Meta& meta, MissingData missing);

/// Whether the recording was made by an import.
[[nodiscard]] bool is_imported(const Meta& meta);

}  // namespace draftscope::traces

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sums over a run whose source has no requests and no rounds: server logs, scrapes of metrics, results of
// benchmarks. They go to `stated_figures`, under the names that answers of servers have there.

#include <draftscope/base/result.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "import/formats.h"

namespace draftscope::traces {

/// Sums of a run; an absent one is not in the source. Tokens without the bonus token, if nothing else is
/// said.
struct StatedSums {
  std::optional<double> requests;
  std::optional<double> verify_steps;
  std::optional<double> drafted_tokens;
  std::optional<double> accepted_tokens;
  std::optional<double> output_tokens;
  std::vector<double> acceptance_by_position;  ///< Accepted share of the verifications; empty = unknown.
  /// Further figures under their own names; they override derived ones: "mean_accepted_length".
  nlohmann::json others = nlohmann::json::object();
};

/// The sums as JSON, with the rates that follow from them. Errors begin with `where`: more tokens accepted
/// than drafted, a share outside of 0 to 1 or above that of the position before, none at all.
[[nodiscard]] Result<nlohmann::json> stated_figures_of(const StatedSums& sums, const std::string& where);

/// Creates the run with these figures, and notes that it has no requests. Errors as above, or the run is
/// there already.
[[nodiscard]] Result<void> state_run(const std::filesystem::path& file, const RunName& name,
                                     const StatedSums& sums, ImportContext& context);

/// Notes that the source has no requests: what rows would hold is missing.
void note_no_requests(ImportContext& context);

}  // namespace draftscope::traces

// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/answers/predicted_trace.h>
#include <draftscope/simulator/answers/usable_recording.h>
#include <draftscope/traces/missing_data.h>

#include <algorithm>

namespace draftscope::simulator {

Result<void> check_can_be_asked(const traces::Recording& recording, const std::string& name) {
  const traces::Meta& meta = recording.meta;
  if (is_predicted(meta))
    return fail("{}: is predicted itself, expected the recording that it was predicted from", name);
  if (traces::is_imported(meta) && !knows_acceptance(meta))
    return fail(
        "{}: is an imported {} timeline without accepted lengths, expected a recording (draftscope record, "
        "best "
        "with --shadow) or imported answers",
        name, meta_value(meta, "imported_format"));
  return {};
}

Result<void> check_has_vanilla(const traces::Recording& recording, const std::string& name) {
  if (std::ranges::none_of(recording.runs, &traces::Run::is_baseline))
    return fail("{}: found no vanilla run, expected one to gain over: record with --strategy vanilla", name);
  return {};
}

Result<void> check_can_be_advised_on(const traces::Recording& recording, const std::string& name) {
  if (traces::is_imported(recording.meta))
    return fail("{}: an imported trace, which says nothing of layers, expected draftscope record", name);
  return check_has_vanilla(recording, name);
}

}  // namespace draftscope::simulator

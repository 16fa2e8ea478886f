// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Time of attention, MLP and head in each phase of a run's rounds, as Draft & Verify adds it up (Table 5): by
// a device's operations, or by the processor's spans of `record --level ops`.

#include <draftscope/base/result.h>
#include <draftscope/traces/reader.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

/// Names of the kinds: a sublayer's norm and projections belong to it.
inline constexpr std::array<std::string_view, 3> operation_kinds{"attention", "MLP", "head"};

struct OperationTimes {
  traces::RunId run;
  traces::Phase phase = traces::Phase::control;
  std::array<std::int64_t, operation_kinds.size()> ns{};  ///< [kind], rounds only: without the prefill.
};

/// One element for each run and phase with such operations, ordered by both; empty if none was recorded.
/// Errors: unreadable tables.
[[nodiscard]] Result<std::vector<OperationTimes>> read_operation_times(traces::Reader& reader,
                                                                       const traces::Recording& recording);

}  // namespace draftscope::simulator

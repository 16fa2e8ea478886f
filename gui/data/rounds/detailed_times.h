// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The time of a run's rounds by layer and by operation, from the records inside their phases: kernels if the
// device has some, else host spans. Parts never overlap, so that they add up to the rounds' time exactly. An
// instant belongs to the innermost open span, or to what the law of a device's time gives it to
// (simulator/analysis/attribution.h).
// Time that no layer or operation covers:
//   no layer, no operation   inside a phase, or in a kernel, without one
//   idle                     no phase (host spans)
//   launch, between kernels   no kernel, between the round's first and last, by GapKind
//   host                     no kernel: before the round's first and after its last
//   not recorded             rounds without spans or kernels
//
// Operations have the names of the engine's spans. A kernel whose name has one before a colon counts there,
// others count by their function. Operations beyond the 14 that took longest are one part.

#include <functional>

#include "data/opened_recording.h"
#include "data/rounds/round_times.h"

namespace draftscope::gui {

enum class TimeSource : std::uint8_t { none, spans, kernels };

struct DetailedTimes {
  struct Side {
    TimeSource source = TimeSource::none;  ///< none = nothing was recorded that fine
    std::size_t named = 0;                 ///< Number of leading parts that are layers or operations.
    PartedTimes times;
  };
  Side by_layer;  ///< Part ℓ is layer ℓ.
  Side by_operation;
};

/// Layers from here on count as none.
inline constexpr std::int32_t max_layers = 1024;

/// A recording, and the index of a run of it.
using RecordedRun = std::pair<RecordingPointer, std::size_t>;

/// `should_continue` is polled; false cancels. Errors: unreadable tables; "cancelled".
[[nodiscard]] Result<DetailedTimes> read_detailed_times(const RecordedRun& run,
                                                        const std::function<bool()>& should_continue);

}  // namespace draftscope::gui

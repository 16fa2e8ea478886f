// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What there is to say of one slice of the timeline, beside the others of its kind.

#include <functional>
#include <optional>

#include "data/lanes/slice_place.h"
#include "data/opened_recording.h"

namespace draftscope::gui {

struct SliceDetails {
  SlicePlace place;
  std::string name;
  LaneKind lane_kind = LaneKind::track;
  TimeRange time;
  traces::Phase phase = traces::Phase::control;
  std::int16_t layer = -1;
  /// Rows of the pass that it is part of: of the verification, 1 of a draft step, the prompt's tokens of the
  /// prefill; absent where the recording does not tell.
  std::optional<std::int32_t> rows;
  std::uint32_t round_index = no_index;
  std::uint32_t run_index = no_index;        ///< OpenedRecording::runs()
  std::optional<std::size_t> request_index;  ///< Recording::requests
  std::vector<std::size_t> tokens;           ///< that a draft step proposed, as tokens_of_step() has them
  std::optional<SlicePlace> parent;          ///< the slice that it lies in, or that launched it
  std::int64_t inside_ns = 0;                ///< of it covered by slices of the lane below

  // Its kind: slices of the same name and phase in such lanes, of the same run.
  std::size_t kind_size = 0;
  std::size_t rank = 0;  ///< by length, 1 = longest; of equal ones the best
  /// The middle of the kind, of an even number the shorter of both in the middle.
  std::int64_t kind_median_ns = 0;
  std::int64_t kind_longest_ns = 0;
};

/// The slice that another lies in: of the next lane above in its group that has one there; of a track's
/// uppermost the round, of a round the request. The span that launched a kernel.
[[nodiscard]] std::optional<SlicePlace> parent_of(const OpenedRecording& opened, const Timeline& timeline,
                                                  const SlicePlace& place);

/// Goes through all slices of lanes of the kind. `should_continue` is asked now and then: nothing comes back
/// once it is false.
[[nodiscard]] std::optional<SliceDetails> slice_details(const OpenedRecording& opened,
                                                        const Timeline& timeline, const SlicePlace& place,
                                                        const std::function<bool()>& should_continue);

}  // namespace draftscope::gui

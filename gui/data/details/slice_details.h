// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The details of one slice of the timeline, compared with the others of its kind.

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
  /// Rows of the pass that the slice is part of: the rows of a verification, 1 for a draft step, the prompt's
  /// tokens for the prefill. Absent where the recording does not tell.
  std::optional<std::int32_t> rows;
  std::uint32_t round_index = no_index;
  std::uint32_t run_index = no_index;        ///< Index into OpenedRecording::runs().
  std::optional<std::size_t> request_index;  ///< Index into Recording::requests.
  std::vector<std::size_t> tokens;           ///< Tokens that a draft step proposed, as in tokens_of_step().
  std::optional<SlicePlace> parent;          ///< The slice that it lies in, or that launched it.
  std::int64_t inside_ns = 0;                ///< Part of it that slices of the lane below cover.
  std::int64_t shared_ns = 0;                ///< Part of it in which what began earlier on its stream ran.
  std::optional<traces::Kernel> kernel;      ///< Its row, if a device timed it.
  std::optional<SlicePlace> call;            ///< The call that launched it, or that waited.

  // The slice's kind: slices of its name, phase, kind of lane, and run.
  std::size_t kind_size = 0;
  std::size_t rank = 0;  ///< Rank by length, 1 = longest; ties share the best rank.
  /// Median of the kind; of an even number, the lower middle.
  std::int64_t kind_median_ns = 0;
  std::int64_t kind_longest_ns = 0;
};

/// Finds the slice that another lies in, in the nearest lane above it in its group. The top lane of a track
/// lies in the round, a round in the request. A kernel's parent is the span that launched it.
[[nodiscard]] std::optional<SlicePlace> parent_of(const OpenedRecording& opened, const Timeline& timeline,
                                                  const SlicePlace& place);

/// The call of the host that launched what a device did, or that waited for it, by its correlation id; none
/// in recordings without calls. Reads the rows of the calls of its phase from the file.
[[nodiscard]] std::optional<SlicePlace> call_of(const OpenedRecording& opened, const Timeline& timeline,
                                                const SlicePlace& place);

/// Walks all slices of lanes of the kind. `should_continue` is polled; once it is false, the result is empty.
[[nodiscard]] std::optional<SliceDetails> slice_details(const OpenedRecording& opened,
                                                        const Timeline& timeline, const SlicePlace& place,
                                                        const std::function<bool()>& should_continue);

}  // namespace draftscope::gui

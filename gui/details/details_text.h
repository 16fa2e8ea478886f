// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The details of a slice and of a round as text in HTML. Links are "round:INDEX" (Recording::rounds),
// "run:INDEX" (OpenedRecording::runs()) and "slice:LANE:INDEX" (Timeline::lanes).

#include <QString>

#include "data/details/round_details.h"
#include "data/details/slice_details.h"

namespace draftscope::gui {

[[nodiscard]] QString slice_text(const SliceDetails& details, const OpenedRecording& opened,
                                 const Timeline& timeline);
[[nodiscard]] QString round_text(const RoundDetails& details, const OpenedRecording& opened);

}  // namespace draftscope::gui

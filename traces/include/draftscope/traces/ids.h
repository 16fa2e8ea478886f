// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Ids of the rows of a trace's tables.

#include <draftscope/base/id.h>

namespace draftscope::traces {

using RunId = Id<struct RunTag>;
using PromptId = Id<struct PromptTag>;
using RequestId = Id<struct RequestTag>;
using LayerSetId = Id<struct LayerSetTag>;
using RoundId = Id<struct RoundTag>;
using DecisionId = Id<struct DecisionTag>;
using TrackId = Id<struct TrackTag>;
using SpanId = Id<struct SpanTag>;
using KernelId = Id<struct KernelTag>;
using StringId = Id<struct StringTag>;  ///< Id of an interned name.

}  // namespace draftscope::traces

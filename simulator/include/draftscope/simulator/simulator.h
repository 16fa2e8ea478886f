// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Map of the simulator: which question each header answers. This header includes the first ones, which most
// programs need; include the others where needed.
//
//   analysis/measured_recording.h  What was measured? Reads a trace and computes figures.
//   analysis/comparison.h          How do two recordings differ, and is the difference real?
//   answers/what_if.h              What would another strategy, machine or model have given?
//   answers/answer.h               How is such an answer priced?
//   answers/advice.h               What should be set on a machine, and how sure is that?
//   answers/recording_waterfall.h  How much could any policy have gained? Where is the rest?
//   answers/checked_answer.h       How far off are answers that a recording itself settles?
//   answers/predicted_trace.h      How does an answer look as a trace, round by round?
//   prices/calibration.h           How fast is a machine, from a minute of measurements?
//   prices/closed_forms.h          What do the papers' formulas say, without a recording?
//
// Times are in nanoseconds, layers and positions start at 0. Functions return Result<T>, whose error is one
// line; nothing throws. Unless a header says otherwise its types are values and its functions are safe from
// any thread.

#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/answers/what_if.h>

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The map of the simulator: which question each header answers. It includes the first ones, which most
// programs need; the others are included where they are asked.
//
//   figures/measured_recording.h       What was measured? Reads a trace and computes the figures of its runs.
//   figures/comparison.h               How do two recordings differ, and is the difference real?
//   what_if/what_if.h                  What would another strategy, machine or model have given?
//   what_if/answer.h                   How is such an answer priced, and why is it not the speedup of layers?
//   what_if/kept_prices.h              How do many answers, asked one after another, share what they draw?
//   advice/advice.h                    What should be set on a machine, and how sure is that?
//   advice/recording_waterfall.h       How much could any policy have gained, and where does the rest go?
//   calibration/calibration.h          What does a machine take, from a minute of measurements on it?
//   validation/checked_answer.h        How far off are answers to questions that a recording itself settles?
//   predicted_trace/predicted_trace.h  How does an answer look as a trace, round by round?
//   closed_forms/closed_forms.h        What do the papers' formulas say, without a recording?
//
// Times are in nanoseconds, layers and positions start at 0. Functions return Result<T>, whose error is one
// line; nothing throws. Unless a header says otherwise its types are values and its functions are safe from
// any thread.

#include <draftscope/simulator/figures/measured_recording.h>
#include <draftscope/simulator/what_if/what_if.h>

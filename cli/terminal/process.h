// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a process was started with, made such that failures show as errors of the calls that meet them, and
// how it ends without memory.

namespace draftscope::cli {

/// To be called before anything is opened. Standard streams that are closed are taken by a device on which
/// their use fails: a file opened later would otherwise get their number, and messages for its content. A
/// pipe that nobody reads and a file that reaches its size limit are errors of the write, and no death.
void prepare_process();

/// Undoes what a program started in this one's place would inherit.
void restore_signals();

/// From now on a program that runs out of memory where nothing can be thrown (JSON values of the library
/// allocate in their destructors) ends with one line on stderr and exit_failure, in place of an abort.
void end_quietly_without_memory();

}  // namespace draftscope::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The end of a program that lacks memory where nothing can be thrown: JSON values of the library allocate in
// their destructors.

namespace draftscope::cli {

/// From now on such an end is one line on stderr and exit_failure, in place of an abort.
void end_quietly_without_memory();

}  // namespace draftscope::cli

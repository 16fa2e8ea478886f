// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Three small kernels with the parts of a verification's first three: one sets the number of rows, one has
// nothing to do with it, one computes as many rows. Some of the last break the rule of
// wait_for_previous_kernel(), each in its own way. Their file is compiled as the engine's kernels are for the
// emulated device.

#include <cstdint>

namespace draftscope::engine::test {

/// In device memory.
struct RowsMemory {
  std::int32_t rows = 1;
  std::int32_t copied = 0;  ///< no kernel writes it
  std::int32_t unrelated = 0;
  std::int32_t written[8] = {};
};

void set_rows_to_four(RowsMemory& memory);
void do_something_else(RowsMemory& memory);
/// The same without a wait: its launch must not start early.
void do_something_plainly(RowsMemory& memory);
/// Reads `rows` behind its wait.
void write_rows(RowsMemory& memory);
/// Reads `rows` before it.
void write_rows_counted_early(RowsMemory& memory);
/// Reads before its wait what a copy brought.
void read_copied_early(RowsMemory& memory);
void write_before_the_wait(RowsMemory& memory);

}  // namespace draftscope::engine::test

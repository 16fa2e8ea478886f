// SPDX-License-Identifier: GPL-3.0-or-later
#include "rows_kernels.h"

#include "cuda/kernels/device.h"

namespace draftscope::engine::test {

using cuda::thread_index;
using cuda::wait_for_previous_kernel;

void set_rows_to_four(RowsMemory& memory) {
  wait_for_previous_kernel();
  if (thread_index() == 0) memory.rows = 4;
}

void do_something_else(RowsMemory& memory) {
  wait_for_previous_kernel();
  if (thread_index() == 0) memory.unrelated += 1;
}

void do_something_plainly(RowsMemory& memory) {
  if (thread_index() == 0) memory.unrelated += 1;
}

void write_rows(RowsMemory& memory) {
  wait_for_previous_kernel();
  if (thread_index() < memory.rows) memory.written[thread_index()] = 1;
}

void write_rows_counted_early(RowsMemory& memory) {
  const std::int32_t rows = memory.rows;
  wait_for_previous_kernel();
  if (thread_index() < rows) memory.written[thread_index()] = 1;
}

void read_copied_early(RowsMemory& memory) {
  const std::int32_t copied = memory.copied;
  wait_for_previous_kernel();
  if (thread_index() == 0) memory.unrelated += copied;
}

void write_before_the_wait(RowsMemory& memory) {
  if (thread_index() == 0) memory.unrelated += 1;
  wait_for_previous_kernel();
}

}  // namespace draftscope::engine::test

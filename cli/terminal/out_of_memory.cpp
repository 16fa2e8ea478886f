// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminal/out_of_memory.h"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>

#include "terminal/messages.h"
#include "terminal/outcome.h"

namespace draftscope::cli {

namespace {

std::terminate_handler other_ends = nullptr;

/// Needs no memory.
[[noreturn]] void on_terminate() {
  if (const std::exception_ptr exception = std::current_exception()) {
    try {
      std::rethrow_exception(exception);
    } catch (const std::bad_alloc&) {
      print_error("out of memory amid cleaning up: files named *.partial may be left");
      ::_exit(exit_failure);
    } catch (...) {  // NOLINT(bugprone-empty-catch): a defect, which the other handler shows
    }
  }
  other_ends();
  std::abort();
}

}  // namespace

void end_quietly_without_memory() {
  other_ends = std::set_terminate(on_terminate);
}

}  // namespace draftscope::cli

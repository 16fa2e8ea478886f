// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminal/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>

#include "terminal/messages.h"
#include "terminal/outcome.h"

namespace draftscope::cli {

namespace {

constexpr std::array failing_writes{SIGPIPE, SIGXFSZ};

}  // namespace

void prepare_process() {
  // In order: each open takes the lowest number that is free. Reading from 0 and writing to 1 and 2 fail.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0)  // NOLINT(cppcoreguidelines-pro-type-vararg)
      static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  for (const int signal : failing_writes) std::signal(signal, SIG_IGN);
}

void restore_signals() {
  for (const int signal : failing_writes) std::signal(signal, SIG_DFL);
}

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

// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminal/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>

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

}  // namespace draftscope::cli

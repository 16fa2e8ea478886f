// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminal/process.h"

#include <fcntl.h>
#include <unistd.h>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <new>

#include "terminal/messages.h"

namespace draftscope::cli {

namespace {

constexpr std::array failing_writes{SIGPIPE, SIGXFSZ};

}  // namespace

void prepare_process() {
  // The order matters, since each open takes the lowest free number. Reading from 0 and writing to 1 and 2
  // fail.
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

/// Handles std::terminate() without allocating.
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

namespace {

constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};
constexpr int signal_exit_base = 128;

std::atomic<bool> interrupted{false};
std::atomic<int> last_signal{SIGINT};
std::array<struct sigaction, signals.size()> before{};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

void on_signal(int signal) {
  last_signal.store(signal, std::memory_order_relaxed);
  interrupted.store(true, std::memory_order_relaxed);
}

}  // namespace

InterruptScope::InterruptScope() {
  interrupted = false;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // A second signal kills the program.
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals.at(i), nullptr, &before.at(i));
    if (before.at(i).sa_handler != SIG_IGN) sigaction(signals.at(i), &action, nullptr);
  }
}

InterruptScope::~InterruptScope() {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals.at(i), &before.at(i), nullptr);
}

const std::atomic<bool>& InterruptScope::flag() {
  return interrupted;
}

int InterruptScope::exit_code() {
  return signal_exit_base + last_signal;
}

void InterruptScope::ask_to_end() {
  interrupted = true;
}

}  // namespace draftscope::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminal/interrupt.h"

#include <array>
#include <csignal>
#include <cstddef>

namespace draftscope::cli {

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
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // the second one kills
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

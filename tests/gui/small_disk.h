// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace draftscope::gui {

/// Limits every file that the process writes to 64 bytes, as a full disk would.
class SmallDisk {
 public:
  SmallDisk() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{64, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

}  // namespace draftscope::gui

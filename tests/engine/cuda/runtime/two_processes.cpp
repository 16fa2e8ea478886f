// SPDX-License-Identifier: GPL-3.0-or-later
#include "two_processes.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace draftscope::cuda_stand_in {

int on_two_processes(const std::function<void(engine::Collective&)>& first,
                     const std::function<int(engine::Collective&)>& second) {
  constexpr int did_not_meet = 99;
  constexpr unsigned max_seconds = 120;
  auto meeting = open_meeting();
  EXPECT_TRUE(meeting) << meeting.error().message;
  if (!meeting) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(max_seconds);  // one that hangs is no process that is left
    meeting->listening = Socket();
    int code = did_not_meet;
    {
      auto sockets = RankSockets::join(meeting->name, 1, 2);
      if (sockets) {
        SocketRank rank(1, 2, *std::move(sockets));
        code = second(rank);
      }
    }
    ::_exit(code);
  }
  {
    auto sockets = RankSockets::receive(std::move(meeting->listening), 2);
    EXPECT_TRUE(sockets) << sockets.error().message;
    if (sockets) {
      SocketRank rank(0, 2, *std::move(sockets));
      first(rank);
    }
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

}  // namespace draftscope::cuda_stand_in

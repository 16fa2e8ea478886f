// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/ranks/thread_ranks.h>

#include <memory>
#include <thread>
#include <vector>

namespace draftscope::engine::test {

/// Calls work(collective) on a thread for each of `size` ranks; a rank ends with its call.
template <typename Work>
void on_every_rank(std::int32_t size, Work work) {
  std::vector<std::unique_ptr<Collective>> ranks = make_thread_ranks(size);
  std::vector<std::thread> threads;
  for (std::unique_ptr<Collective>& rank : ranks)
    threads.emplace_back([&work, own = std::move(rank)]() mutable {
      work(*own);
      own.reset();
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace draftscope::engine::test

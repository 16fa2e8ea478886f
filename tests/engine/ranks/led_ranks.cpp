// SPDX-License-Identifier: GPL-3.0-or-later
#include "led_ranks.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace draftscope::engine::test {
namespace {

/// A rank's part of the model, made as every rank makes it.
Result<std::unique_ptr<Backend>> join(const Checkpoint& checkpoint, const MakeRank& make, Collective& ranks) {
  auto made = make(checkpoint, ranks);
  const Result<void> own = made ? Result<void>{} : Result<void>(tl::unexpected(made.error()));
  DRAFTSCOPE_TRY(agree_to_begin(ranks, own, checkpoint.hash));
  return made;
}

}  // namespace

LedRanks::LedRanks(std::vector<const Checkpoint*> checkpoints, std::int32_t size, const MakeRank& make)
    : ranks_(make_thread_ranks(size)), ends_(ranks_.size() - 1) {
  const auto of_rank = [&](std::size_t rank) -> const Checkpoint& {
    return *checkpoints[std::min(rank, checkpoints.size() - 1)];
  };
  for (std::size_t rank = 1; rank < ranks_.size(); ++rank)
    followers_.emplace_back([this, rank, make, &checkpoint = of_rank(rank), own = std::move(ranks_[rank])] {
      auto backend = join(checkpoint, make, *own);
      if (!backend) {
        ends_[rank - 1] = backend.error().message;
        return;
      }
      if (const auto done = follow(**backend, *own); !done) ends_[rank - 1] = done.error().message;
    });
  auto backend = join(of_rank(0), make, *ranks_.front());
  if (backend) {
    lead_ = lead(std::move(*backend), *ranks_.front());
    return;
  }
  for (std::thread& follower : followers_) follower.join();
  throw std::runtime_error(backend.error().message);
}

LedRanks::~LedRanks() {
  static_cast<void>(ends());
}

std::vector<std::string> LedRanks::ends() {
  lead_.reset();
  ranks_.front().reset();  // whoever waits for rank 0 in vain learns of it
  for (std::thread& follower : followers_)
    if (follower.joinable()) follower.join();
  return ends_;
}

}  // namespace draftscope::engine::test

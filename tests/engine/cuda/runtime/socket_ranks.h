// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Ranks that are processes of a test, in place of an MPI job's.

#include <draftscope/engine/ranks/collective.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "rank_sockets.h"

namespace draftscope::cuda_stand_in {

class SocketRank final : public engine::Collective {
 public:
  SocketRank(std::int32_t rank, std::int32_t size, RankSockets sockets)
      : rank_(rank), size_(size), sockets_(std::move(sockets)) {}
  std::int32_t rank() const override { return rank_; }
  std::int32_t size() const override { return size_; }
  std::int32_t local_rank() const override { return 0; }  // each process has a device of its own
  Result<void> all_reduce(std::span<float> /*values*/) override {
    return fail("socket ranks: found a sum, expected none from devices");
  }
  Result<void> broadcast(std::span<std::byte> bytes) override {
    DRAFTSCOPE_TRY_ASSIGN(const std::vector<std::byte> all, exchange(bytes));
    std::copy_n(all.begin(), bytes.size(), bytes.begin());
    return {};
  }
  Result<void> gather(std::span<const std::byte> own, std::span<std::byte> all) override {
    DRAFTSCOPE_TRY_ASSIGN(const std::vector<std::byte> found, exchange(own));
    if (rank_ == 0) std::copy(found.begin(), found.end(), all.begin());
    return {};
  }
  void conclude() override { has_concluded_ = !reason_; }
  bool has_concluded() const override { return has_concluded_; }
  void give_up(Error reason) override { reason_ = std::move(reason); }

 private:
  Result<std::vector<std::byte>> exchange(std::span<const std::byte> own) {
    if (reason_) return tl::unexpected(*reason_);
    return sockets_.exchange(own);
  }

  std::int32_t rank_;
  std::int32_t size_;
  RankSockets sockets_;
  bool has_concluded_ = false;
  std::optional<Error> reason_;
};

}  // namespace draftscope::cuda_stand_in

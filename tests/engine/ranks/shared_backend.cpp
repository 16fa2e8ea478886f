// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared_backend.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <draftscope/engine/ranks/thread_ranks.h>

namespace draftscope::engine::test {
namespace {

/// Runs work(rank) on a thread each; rank 0's failure if there are any.
Result<void> on_each(std::size_t size, const std::function<Result<void>(std::size_t)>& work) {
  std::vector<Result<void>> done(size);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] { done[rank] = work(rank); });
  for (std::thread& thread : threads) thread.join();
  for (const Result<void>& result : done) EXPECT_EQ(result.has_value(), done.front().has_value());
  return done.front();
}

class SharedBackend final : public Backend {
 public:
  SharedBackend(const Checkpoint& checkpoint, std::int32_t size, const MakeRank& make)
      : ranks_(make_thread_ranks(size)), backends_(ranks_.size()), outputs_(ranks_.size()) {
    const auto made = on_each(ranks_.size(), [&](std::size_t rank) -> Result<void> {
      DRAFTSCOPE_TRY_ASSIGN(backends_[rank], make(checkpoint, *ranks_[rank]));
      return {};
    });
    if (!made) throw std::runtime_error(made.error().message);
  }

  void set_recorder(profiler::SpanRecorder* recorder) override { first().set_recorder(recorder); }
  const speculation::ModelShape& shape() const override { return first().shape(); }
  BackendDescription describe() const override { return first().describe(); }
  std::int32_t cache_rows() const override { return first().cache_rows(); }
  std::int32_t max_rows() const override { return first().max_rows(); }
  std::int32_t max_invariant_rows() const override { return first().max_invariant_rows(); }
  std::int32_t max_verified_rows() const override { return first().max_verified_rows(); }
  Result<void> hold_weights(speculation::WeightFormat format) override {
    return on_each(ranks_.size(), [&](std::size_t rank) { return backends_[rank]->hold_weights(format); });
  }
  Result<void> forward(const Batch& batch, Outputs& outputs) override {
    const auto done = on_each(ranks_.size(), [&](std::size_t rank) {
      return backends_[rank]->forward(batch, rank == 0 ? outputs : outputs_[rank]);
    });
    for (std::size_t rank = 1; done && rank < ranks_.size(); ++rank) {
      const std::vector<float>& hidden = outputs_[rank].hidden;
      EXPECT_EQ(hidden.size(), outputs.hidden.size());
      EXPECT_TRUE(hidden.empty() ||
                  std::memcmp(hidden.data(), outputs.hidden.data(), hidden.size() * sizeof(float)) == 0)
          << "rank " << rank << " has other states than rank 0";
    }
    return done;
  }
  Result<void> move_cache_rows(std::span<const CacheMove> moves) override {
    return on_each(ranks_.size(), [&](std::size_t rank) { return backends_[rank]->move_cache_rows(moves); });
  }
  std::optional<std::string> non_finite_weight(std::int32_t layer) const override {
    return first().non_finite_weight(layer);
  }

 private:
  [[nodiscard]] Backend& first() const { return *backends_.front(); }

  std::vector<std::unique_ptr<Collective>> ranks_;
  std::vector<std::unique_ptr<Backend>> backends_;
  std::vector<Outputs> outputs_;  // of the others
};

}  // namespace

std::unique_ptr<Backend> make_shared_backend(const Checkpoint& checkpoint, std::int32_t size,
                                             const MakeRank& make) {
  return std::make_unique<SharedBackend>(checkpoint, size, make);
}

std::unique_ptr<Backend> make_shared_backend(const Checkpoint& checkpoint, std::int32_t size,
                                             const CpuOptions& options) {
  return make_shared_backend(checkpoint, size, make_cpu_rank(options));
}

MakeRank make_cpu_rank(const CpuOptions& options) {
  return [options](const Checkpoint& checkpoint, Collective& ranks) {
    CpuOptions own = options;
    own.ranks = &ranks;
    return make_cpu_backend(checkpoint, own);
  };
}

}  // namespace draftscope::engine::test

// SPDX-License-Identifier: GPL-3.0-or-later
// Operations that programs time by themselves: each of them once, in order, with the bytes that it reads; and
// the difference of two clocks.

#include <draftscope/base/clock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cuda/backend.h"
#include "cuda/passes/program_timeline.h"
#include "cuda_shapes.h"
#include "emulated_gpu.h"
#include "random_model.h"

namespace draftscope::engine::test {
namespace {

/// Stores the operations that it receives.
class KeptOperations final : public profiler::DeviceTrace {
 public:
  [[nodiscard]] profiler::DeviceTraceMode mode() const override {
    return profiler::DeviceTraceMode::operations;
  }
  void record_into(traces::Writer& /*writer*/) override {}
  void push_span(const traces::Span& /*span*/) override {}
  void pop_span() override {}
  void enter_operation(std::string_view op, std::int32_t layer,
                       std::optional<traces::Phase> /*phase*/) override {
    if (layer >= 0) entered.push_back(std::to_string(layer) + ":" + std::string(op));
  }
  void leave_operation() override {}
  void add_operations(std::span<const profiler::TimedOperation> operations, std::int64_t error) override {
    rows.insert(rows.end(), operations.begin(), operations.end());
    error_ns = error;
  }
  void flush() override {}
  void collect() override {}
  void stop() override {}
  [[nodiscard]] profiler::DeviceTraceCounts counts() const override { return {}; }

  std::vector<profiler::TimedOperation> rows;
  std::vector<std::string> entered;  ///< Operations of layers, as "layer:name".
  std::int64_t error_ns = 0;
};

constexpr int multiprocessors = 3;

class Timeline : public testing::TestWithParam<DecodingPasses> {
 protected:
  Timeline() : checkpoint_(random_checkpoint(tiny_cuda_shape(), DType::bf16, 3)) {
    auto made = cuda::make_backend(cuda::emulation::make_emulated_gpu(multiprocessors), checkpoint_,
                                   {.cache_rows = 120, .device_trace = &trace_, .passes = GetParam()});
    EXPECT_TRUE(made);
    if (made) backend_ = std::move(*made);
  }
  /// The operation of each row, as "layer:name" if it has a layer.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const profiler::TimedOperation& row : trace_.rows)
      all.push_back(row.layer < 0 ? std::string(row.name)
                                  : std::to_string(row.layer) + ":" + std::string(row.name));
    return all;
  }
  void expect_order(std::int64_t before_ns, std::int64_t after_ns) const {
    std::int64_t begin = before_ns;
    for (const profiler::TimedOperation& row : trace_.rows) {
      EXPECT_GE(row.start_ns + trace_.error_ns, begin) << row.name;
      EXPECT_GE(row.first_end_ns, row.start_ns);
      EXPECT_GE(row.end_ns, row.first_end_ns);
      EXPECT_GE(row.wait_ns, 0);
      EXPECT_LE(row.wait_ns, row.end_ns - row.first_end_ns);
      EXPECT_LT(std::max(row.first_block, row.last_block), row.blocks);
      EXPECT_LE(row.blocks, multiprocessors);
      begin = row.start_ns;
    }
    EXPECT_LE(begin - trace_.error_ns, after_ns);
  }

  Checkpoint checkpoint_;
  KeptOperations trace_;
  std::unique_ptr<Backend> backend_;
};

TEST_P(Timeline, HasEachOperationOfAPassOnceInOrder) {
  Random random(4);
  const OwnedBatch batch = chain(checkpoint_.shape, random, 3, 0);
  Outputs outputs;
  const std::int64_t before_ns = now_ns();
  ASSERT_TRUE(backend_->forward(batch.view(), outputs));
  std::vector<std::string> expected{"embedding"};
  for (std::int32_t layer = 0; layer < checkpoint_.shape.n_layers; ++layer)
    for (const char* const name : {"qkv", "attention", "attention", "output projection", "gate up", "down"})
      expected.push_back(std::to_string(layer) + ":" + name);
  expected.insert(expected.end(), {"head", "head"});
  EXPECT_EQ(names(), expected);
  expect_order(before_ns, now_ns());
}

TEST_P(Timeline, NamesTheProductsOfAWidePassInEachLayer) {
  Random random(9);
  OwnedBatch prompt = chain(checkpoint_.shape, random, 70, 0);  // More rows than decoding kernels take.
  prompt.wanted.head_from = 69;
  Outputs outputs;
  const Result<void> done = backend_->forward(prompt.view(), outputs);
  ASSERT_TRUE(done) << done.error().message;
  for (std::int32_t layer = 0; layer < checkpoint_.shape.n_layers; ++layer)
    for (const char* const name : {"qkv", "attention", "output projection", "gate up", "down"})
      EXPECT_GE(std::ranges::count(trace_.entered, std::to_string(layer) + ":" + name), 1) << layer << name;
}

TEST_P(Timeline, HasAsManyDraftStepsAsTheDeviceTook) {
  Random random(5);
  const OwnedBatch prompt = chain(checkpoint_.shape, random, 20, 0);
  Outputs outputs;
  ASSERT_TRUE(backend_->forward(prompt.view(), outputs));
  trace_.rows.clear();
  const ChainRound round{.root = 3, .root_position = 20, .draft_length = 5, .layers = {0, 1}};
  ChainRoundOutputs found;
  const std::int64_t before_ns = now_ns();
  ASSERT_TRUE(backend_->chain_round(round, found));
  const auto in_phase = [&](traces::Phase phase, std::string_view name) {
    return std::count_if(trace_.rows.begin(), trace_.rows.end(),
                         [&](const auto& row) { return row.phase == phase && row.name == name; });
  };
  EXPECT_EQ(in_phase(traces::Phase::draft, "embedding"), 5);
  EXPECT_EQ(in_phase(traces::Phase::draft, "down"), 5);
  EXPECT_EQ(in_phase(traces::Phase::verify, "down"), checkpoint_.shape.n_layers);
  expect_order(before_ns, now_ns());
}

INSTANTIATE_TEST_SUITE_P(Passes, Timeline, testing::Values(DecodingPasses::programs, DecodingPasses::plain));

// Events of both clocks bound their difference, and the midpoint is within those bounds.
TEST(ClockDifference, IsWithinWhatWasSeen) {
  Random random(6);
  for (int trial = 0; trial < 200; ++trial) {
    const std::int64_t difference = pick(random, -1'000'000, 1'000'000);
    cuda::ClockDifference clock;
    std::int64_t here = 5'000'000;
    for (int i = 0; i < 20; ++i) {
      const std::int64_t before = here + pick(random, 0, 30'000);
      const std::int64_t begin = before + pick(random, 1, 20'000);
      const std::int64_t end = begin + pick(random, 1, 90'000);
      const std::int64_t after = end + pick(random, 1, 20'000);
      clock.add(before, after, begin - difference, end - difference);
      EXPECT_LE(std::abs(clock.here(begin - difference) - begin), clock.error_ns() + 1);
      here = after;
    }
    EXPECT_LT(clock.error_ns(), 20'000);
  }
}

}  // namespace
}  // namespace draftscope::engine::test

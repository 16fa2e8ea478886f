// SPDX-License-Identifier: GPL-3.0-or-later
// What a device trace hears of the backend's graphs: every kernel's operation and layer while it is captured,
// and at each launch which layers stand at the graph's places.

#include <draftscope/engine/cuda_backend.h>
#include <draftscope/profiler/device_trace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cuda_device.h"
#include "cuda_shapes.h"

namespace draftscope::engine::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Keeps what it is told, in words.
class HeardParts final : public profiler::DeviceTrace {
 public:
  profiler::DeviceTraceMode mode() const override { return profiler::DeviceTraceMode::launches; }
  void record_into(traces::Writer& /*writer*/) override {}
  void push_span(const traces::Span& /*span*/) override {}
  void pop_span() override {}
  void enter_operation(std::string_view op, std::int32_t layer, std::optional<traces::Phase> phase) override {
    std::string part(op);
    if (layer >= 0) part += " " + std::to_string(layer);
    if (phase) part += " of " + std::string(traces::phase_name(*phase));
    parts.push_back(std::string(static_cast<std::size_t>(depth++), '.') + part);
  }
  void leave_operation() override { --depth; }
  void flush() override {}
  void collect() override {}
  void stop() override {}
  profiler::DeviceTraceCounts counts() const override { return {}; }

  std::vector<std::string> parts;
  int depth = 0;
};

class GraphPartsOfTheBackend : public ::testing::Test {
 protected:
  GraphPartsOfTheBackend() {
    Random random(5);
    speculation::ModelShape shape = random_cuda_shape(random);
    shape.n_layers = 3;
    shape.sliding_window = 0;
    checkpoint_ = random_checkpoint(shape, DType::bf16, 1);
    backend_ = backend_on_device(checkpoint_, {.cache_rows = 32, .device_trace = &heard_});
  }

  Checkpoint checkpoint_;
  HeardParts heard_;
  std::unique_ptr<Backend> backend_;
};

TEST_F(GraphPartsOfTheBackend, NameEveryKernelOfARoundOnce) {
  speculation::SublayerMask mask = speculation::SublayerMask::early_exit(3, 3);
  mask.skip_attention(0);
  mask.skip_mlp(0);
  ChainRoundOutputs outputs;
  const auto run = [&](const speculation::SublayerMask& draft) {
    const auto done = backend_->chain_round(
        {.root = 1, .root_position = 0, .draft_length = 2, .mask = &draft, .layers = {0, 3}}, outputs);
    ASSERT_TRUE(done) << done.error().message;
  };
  run(mask);
  EXPECT_EQ(heard_.depth, 0);
  const auto layer = [](int place) {
    std::vector<std::string> parts;
    for (const char* op : {"qkv", "attention", "output projection", "gate up", "down"})
      parts.push_back("." + std::string(op) + " " + std::to_string(place));
    return parts;
  };
  std::vector<std::string> expected{"draft step of draft", ".embedding"};
  for (const int place : {0, 1})
    for (const std::string& part : layer(place)) expected.push_back(part);
  for (const char* part :
       {".head", ".round control", "verification of verify", ".round control", ".embedding"})
    expected.emplace_back(part);
  for (const int place : {0, 1, 2})
    for (const std::string& part : layer(place)) expected.push_back(part);
  for (const char* part : {".head", ".head"}) expected.emplace_back(part);
  EXPECT_EQ(heard_.parts, expected);

  // Another mask of as many layers: the same graphs, other layers at their places.
  heard_.parts.clear();
  speculation::SublayerMask other = speculation::SublayerMask::early_exit(3, 3);
  other.skip_attention(1);
  other.skip_mlp(1);
  run(other);
  EXPECT_THAT(heard_.parts, IsEmpty());
}

TEST_F(GraphPartsOfTheBackend, NameNormsThatAreKernelsOfTheirOwn) {
  Random random(6);
  speculation::ModelShape shape = tiny_cuda_shape();
  shape.n_layers = 1;
  shape.d_model = 5760;  // no GPU's blocks hold sixteen rows of it
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 1);
  backend_ = backend_on_device(checkpoint, {.cache_rows = 32, .device_trace = &heard_});
  const OwnedBatch batch = chain(shape, random, 9, 0);
  Outputs outputs;
  const auto done = backend_->forward(batch.view(), outputs);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_THAT(heard_.parts, ElementsAre("forward", ".embedding", ".attention norm 0", ".qkv 0",
                                        ".attention 0", ".output projection 0", ".mlp norm 0", ".gate up 0",
                                        ".down 0", ".head", ".head", ".head"));
}

}  // namespace
}  // namespace draftscope::engine::test

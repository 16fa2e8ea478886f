// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "decoded.h"

namespace draftscope::engine {

namespace {

class CountDrafts final : public DecodeListener {
 public:
  void on_round(const RoundReport& report) override {
    drafted += report.round.drafted;
    accepted += report.round.accepted;
  }
  std::int64_t drafted = 0;
  std::int64_t accepted = 0;
};

}  // namespace

Checkpoint random_checkpoint(std::mt19937& random) {
  const auto up_to = [&random](std::uint32_t n) { return static_cast<std::int32_t>(1 + random() % n); };
  speculation::ModelShape shape;
  shape.name = "random";
  shape.architecture = "LlamaForCausalLM";
  shape.n_layers = 1 + up_to(6);
  shape.n_kv_heads = up_to(3);
  shape.n_heads = shape.n_kv_heads * up_to(3);
  shape.head_dim = 8 * up_to(4);
  shape.d_model = 8 * up_to(12);
  shape.d_ff = 8 * up_to(20);
  shape.vocab = 10 + up_to(300);
  shape.max_positions = 512;
  shape.tied_embeddings = random() % 2 == 0;
  // Redundant layers make drafts that are often right, so that long acceptances are met too.
  auto checkpoint = make_synthetic(shape, 0.1 * static_cast<double>(random() % 10), random());
  EXPECT_TRUE(checkpoint) << checkpoint.error().message;
  return std::move(checkpoint).value();
}

std::unique_ptr<Backend> cpu_backend(const Checkpoint& checkpoint, std::int32_t threads,
                                     std::int32_t cache_rows) {
  auto backend = make_cpu_backend(checkpoint, {.threads = threads, .cache_rows = cache_rows});
  EXPECT_TRUE(backend) << backend.error().message;
  return std::move(backend).value();
}

std::vector<std::int32_t> random_tokens(std::mt19937& random, std::size_t count, std::int32_t vocab) {
  std::vector<std::int32_t> tokens(count);
  for (std::int32_t& token : tokens)
    token = static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(vocab));
  return tokens;
}

Decoded decode_with(Backend& backend, const std::string& specification, const DecodeRequest& request,
                    std::uint64_t seed, std::uint64_t stream) {
  auto strategy = make_strategy(specification, backend.shape());
  EXPECT_TRUE(strategy) << strategy.error().message;
  SeededChooser chooser(seed, stream);
  CountDrafts counts;
  auto result = decode(backend, *strategy->strategy, request, chooser, counts);
  EXPECT_TRUE(result) << result.error().message;
  return {result->tokens, counts.drafted, counts.accepted};
}

}  // namespace draftscope::engine

// SPDX-License-Identifier: GPL-3.0-or-later
// Calls of the host to the device per round of each strategy: programs, other launches, copies and their
// bytes, waits. Each costs microseconds, which matters in a small model's step.

#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

#include "cuda/backend.h"
#include "cuda_shapes.h"
#include "emulated_gpu.h"
#include "noted_gpu.h"
#include "random_model.h"

namespace draftscope::engine::test {
namespace {

struct PerRound {
  double rounds = 0.0;
  double programs = 0.0;
  double launches = 0.0;  ///< Launches of other kernels.
  double uploads = 0.0;
  double downloads = 0.0;
  double waits = 0.0;
  double uploaded_bytes = 0.0;
  double downloaded_bytes = 0.0;
};

/// Records the calls up to the end of a round.
struct RoundCalls : DecodeListener {
  explicit RoundCalls(const NotedCalls& calls) : calls_(calls) {}
  void on_first_token(std::int32_t /*token*/) override { begin_ = calls_; }
  void on_round(const RoundReport& /*report*/) override {
    ++rounds;
    end_ = calls_;
  }
  [[nodiscard]] PerRound per_round() const {
    const auto mean = [&](auto end, auto begin) { return static_cast<double>(end - begin) / rounds; };
    return {rounds,
            mean(programs(end_), programs(begin_)),
            mean(end_.launches.size() - programs(end_), begin_.launches.size() - programs(begin_)),
            mean(end_.uploads, begin_.uploads),
            mean(end_.downloads, begin_.downloads),
            mean(end_.waits, begin_.waits),
            mean(end_.uploaded_bytes, begin_.uploaded_bytes),
            mean(end_.downloaded_bytes, begin_.downloaded_bytes)};
  }
  double rounds = 0.0;

 private:
  static std::size_t programs(const NotedCalls& calls) {
    return static_cast<std::size_t>(
        std::count_if(calls.launches.begin(), calls.launches.end(),
                      [](const cuda::Launch& launch) { return launch.kernel == cuda::Kernel::program; }));
  }

  const NotedCalls& calls_;
  NotedCalls begin_;
  NotedCalls end_;
};

/// A model with minimum sizes, except for its number of layers.
class CallsPerRound : public testing::Test {
 protected:
  CallsPerRound() { use(6); }

  /// Decodes with a model of so many layers from now on.
  void use(std::int32_t n_layers) {
    speculation::ModelShape shape = tiny_cuda_shape();
    shape.n_layers = n_layers;
    shape.d_model = 32;
    shape.d_ff = 32;
    shape.n_heads = 1;
    checkpoint_ = random_checkpoint(shape, DType::bf16, 5);
    backend_ = noted_backend(cuda::emulation::make_emulated_gpu(1, cuda::emulation::usual_memory_bytes, 1),
                             calls_, checkpoint_, {.cache_rows = 160});
  }

  PerRound of(const std::string& specification, std::int32_t max_new_tokens = 20) {
    std::vector<std::int32_t> prompt;
    for (std::int32_t i = 0; i < 24; ++i) prompt.push_back(i * i % 7);
    const auto strategy = make_strategy(specification, checkpoint_.shape);
    EXPECT_TRUE(strategy) << strategy.error().message;
    SeededChooser chooser(1, 1);
    RoundCalls heard(calls_);
    const auto decoded = decode(*backend_, *strategy->strategy,
                                {.prompt = prompt, .max_new_tokens = max_new_tokens}, chooser, heard);
    EXPECT_TRUE(decoded) << decoded.error().message;
    const PerRound calls = heard.per_round();
    std::printf(
        "%-42s %4.0f rounds: %5.2f programs, %5.2f launches, %5.2f uploads of %7.0f bytes, "
        "%5.2f downloads of %7.0f, %5.2f waits\n",
        specification.c_str(), calls.rounds, calls.programs, calls.launches, calls.uploads,
        calls.uploaded_bytes, calls.downloads, calls.downloaded_bytes, calls.waits);
    return calls;
  }

  NotedCalls calls_;
  Checkpoint checkpoint_;
  std::unique_ptr<Backend> backend_;
};

/// Vanilla decoding runs several rounds at once.
TEST_F(CallsPerRound, OfVanillaAreFewerThanRounds) {
  const PerRound calls = of("vanilla", 48);
  EXPECT_LE(calls.programs, 0.2);
  EXPECT_LE(calls.waits, 0.2);
}

/// A chain's round launches one program. It uploads the initial state and, if they are new, the program's
/// entries. It downloads the final state, the results and whether the program completed.
TEST_F(CallsPerRound, OfChainsAreThoseOfOneProgram) {
  for (const char* specification :
       {"vanilla", "layerskip:exit=2,gamma=3", "fs:exit=2", "dv:exit=2",
        "draft-verify:gamma=4,skip-attention=3+4", "quantised:weights=fp8,gamma=3",
        "layerskip:exit=2,gamma=3,verify=above-exit"}) {
    const PerRound calls = of(specification);
    EXPECT_LE(calls.programs, 1.0) << specification;
    EXPECT_EQ(calls.launches, 0.0) << specification;
    EXPECT_LE(calls.uploads, 2.0) << specification;
    EXPECT_LE(calls.downloads, 3.0) << specification;
    EXPECT_LE(calls.waits, 1.0) << specification;
  }
}

/// Every pass of a strategy that the host drives is one program, too. In addition there are keys of rows that
/// are listed explicitly, moves of accepted rows, and the best tokens of a row.
TEST_F(CallsPerRound, OfGuessesAreThoseOfTheirPasses) {
  for (const char* specification :
       {"prompt-lookup", "suffix-decoding", "jacobi", "lookahead", "token-recycling", "swift:ratio=0.4"}) {
    const PerRound calls = of(specification);
    EXPECT_LE(calls.launches, calls.programs + 1.0) << specification;
    EXPECT_LE(calls.waits, calls.programs) << specification;
    EXPECT_LE(calls.uploads, 4.0 * calls.programs + 1.0) << specification;
  }
}

/// States of layers never leave the device, and nobody waits for a pass that only leaves states there.
TEST_F(CallsPerRound, OfSearchesOverLayersBringNoStates) {
  use(12);
  const double state_bytes = checkpoint_.shape.d_model * sizeof(float);
  const PerRound del = of("del", 48);
  // A row of the head returns one best token, and a whole round returns less than the states of its root.
  EXPECT_LT(del.downloaded_bytes, 12.0 * state_bytes + 64.0 * sizeof(float) * 8.0);
  EXPECT_LE(del.waits, del.programs);
  EXPECT_EQ(del.launches, 0.0);
  const std::int32_t n_layers = 6;
  use(n_layers);
  const PerRound clasp = of("clasp:skip=2,interval=1,unit=verifications");
  EXPECT_LE(clasp.waits, 1.0 + n_layers + 2.0);
  EXPECT_LT(clasp.downloaded_bytes, 4096.0 / 12.0 * n_layers);
  const PerRound knapspec = of("knapspec:interval=1,window=8");
  EXPECT_LE(knapspec.waits, 4.5 * n_layers);
  // States are compared and moved once for each sublayer that is searched.
  EXPECT_LE(clasp.launches, 2.0 * (n_layers + 1.0));
  EXPECT_LE(knapspec.launches, 2.0 * (2.0 * n_layers - 2.0));
}

}  // namespace
}  // namespace draftscope::engine::test

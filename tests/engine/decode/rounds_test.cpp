// SPDX-License-Identifier: GPL-3.0-or-later
// Tests what decode() reports about its rounds: counts add up, times tile, and draft tokens tell what
// happened.

#include <draftscope/engine/decode.h>
#include <gtest/gtest.h>

#include "toy_backend.h"

namespace draftscope::engine {
namespace {

struct Kept {
  traces::Round round;
  traces::LayerSet layer_set;
  std::vector<traces::DraftToken> draft_tokens;
  std::vector<std::int32_t> emitted;
};

class KeepRounds final : public DecodeListener {
 public:
  traces::RoundId next_round_id() override { return traces::RoundId::from(++last_); }
  void on_first_token(std::int32_t token) override { first = token; }
  void on_round(const RoundReport& report) override {
    kept.push_back({report.round,
                    report.layer_set,
                    {report.draft_tokens.begin(), report.draft_tokens.end()},
                    {report.emitted.begin(), report.emitted.end()}});
  }
  std::int32_t first = -1;
  std::vector<Kept> kept;

 private:
  std::int64_t last_ = 0;
};

struct Decoded {
  DecodeResult result;
  KeepRounds rounds;
  std::vector<traces::Span> spans;
};

Decoded decode_recorded(const std::string& specification, const SamplingOptions& sampling,
                        std::span<const std::int32_t> eos = {}) {
  ToyBackend backend({.vocab = 12, .n_layers = 6, .cache_rows = 200, .seed = 5, .agreement = 0.7});
  auto strategy = make_strategy(specification, backend.shape());
  EXPECT_TRUE(strategy) << strategy.error().message;
  SeededChooser chooser(9, 4);
  Decoded decoded;
  profiler::SpanRecorder recorder(profiler::Level::layers, nullptr);
  const std::vector<std::int32_t> prompt{3, 1, 4, 1, 5};
  auto result = decode(backend, *strategy->strategy,
                       {.prompt = prompt, .max_new_tokens = 80, .sampling = sampling, .eos_tokens = eos},
                       chooser, decoded.rounds, &recorder);
  EXPECT_TRUE(result) << result.error().message;
  decoded.result = std::move(result).value();
  decoded.spans = recorder.take();
  return decoded;
}

TEST(RoundReports, AddUpToTheText) {
  for (const char* specification :
       {"vanilla", "layerskip:exit=2,gamma=5", "layerskip:exit=5,gamma=1", "layerskip:gamma=0"}) {
    for (const double temperature : {0.0, 0.9}) {
      const Decoded decoded = decode_recorded(specification, {.temperature = temperature});
      std::vector<std::int32_t> text{decoded.rounds.first};
      std::int32_t position = 5;
      for (const Kept& kept : decoded.rounds.kept) {
        const traces::Round& round = kept.round;
        EXPECT_EQ(round.root_position, position);
        EXPECT_LE(round.accepted, round.drafted);
        EXPECT_LE(round.drafted, round.planned);
        EXPECT_EQ(round.tree_depth, round.drafted);
        EXPECT_EQ(round.verify_rows, round.drafted + 1);
        EXPECT_EQ(round.emitted, static_cast<std::int32_t>(kept.emitted.size()));
        EXPECT_EQ(round.emitted, round.accepted + 1);
        EXPECT_EQ(kept.emitted.back(), round.bonus_token);
        ASSERT_EQ(kept.draft_tokens.size(), static_cast<std::size_t>(round.drafted));
        for (const traces::DraftToken& token : kept.draft_tokens) {
          EXPECT_EQ(token.accepted, token.index < round.accepted);
          EXPECT_EQ(token.tested, token.index <= round.accepted);
          EXPECT_EQ(token.parent, token.index - 1);
          EXPECT_GT(token.confidence, 0.0);
          EXPECT_LE(token.probability, 1.0);
          if (token.accepted) {
            EXPECT_EQ(token.token, kept.emitted[static_cast<std::size_t>(token.index)]);
          }
        }
        EXPECT_EQ(kept.layer_set.n_layers, round.drafted > 0 ? 6 : 0);
        EXPECT_EQ(kept.layer_set.exit_layer, round.exit_layer);
        text.insert(text.end(), kept.emitted.begin(), kept.emitted.end());
        position += round.emitted;
      }
      EXPECT_EQ(text, decoded.result.tokens);
      EXPECT_EQ(text.size(), 80U);
    }
  }
}

TEST(RoundReports, TheTimesOfARoundTileItAndRoundsFollowOneAnother) {
  const Decoded decoded = decode_recorded("layerskip:exit=2,gamma=5", {});
  std::int64_t end_ns = decoded.result.first_token_ns;
  for (const Kept& kept : decoded.rounds.kept) {
    const traces::Round& round = kept.round;
    EXPECT_EQ(round.start_ns, end_ns);
    EXPECT_EQ(round.control_ns + round.optimise_ns + round.draft_ns + round.verify_ns + round.accept_ns,
              round.end_ns - round.start_ns);
    end_ns = round.end_ns;
  }
  EXPECT_EQ(end_ns, decoded.result.end_ns);
}

TEST(RoundReports, PhaseSpansTileTheRequestWithoutAGap) {
  const Decoded decoded = decode_recorded("layerskip:exit=2,gamma=5", {});
  std::int64_t end_ns = decoded.result.start_ns;
  int draft_steps = 0;
  for (const traces::Span& span : decoded.spans) {
    if (span.depth > 0) {
      EXPECT_EQ(span.phase, traces::Phase::draft);
      ++draft_steps;
      continue;
    }
    EXPECT_EQ(span.start_ns, end_ns);
    EXPECT_EQ(span.round_id == 0, span.phase == traces::Phase::prefill);
    end_ns = span.end_ns;
  }
  EXPECT_EQ(end_ns, decoded.result.end_ns);
  int drafted = 0;
  for (const Kept& kept : decoded.rounds.kept) drafted += kept.round.drafted;
  EXPECT_EQ(draft_steps, drafted);
}

TEST(RoundReports, AnEosInsideADraftEndsDraftAndText) {
  bool met = false;
  for (std::int32_t eos = 0; eos < 12; ++eos) {
    const std::vector<std::int32_t> ends{eos};
    const Decoded decoded = decode_recorded("layerskip:exit=5,gamma=8", {}, ends);
    for (const std::int32_t token : decoded.result.tokens) EXPECT_NE(token, eos);
    if (decoded.result.stop != traces::RequestStop::eos || decoded.rounds.kept.empty()) continue;
    const Kept& last = decoded.rounds.kept.back();
    EXPECT_LE(last.round.emitted, last.round.accepted);
    for (const Kept& kept : decoded.rounds.kept) {
      if (kept.round.draft_stop != traces::DraftStop::eos) continue;
      met = true;
      EXPECT_EQ(kept.draft_tokens.back().token, eos);
    }
  }
  EXPECT_TRUE(met);
}

TEST(RoundReports, ACancelledRequestKeepsWhatItHas) {
  ToyBackend backend({.vocab = 12, .n_layers = 6, .cache_rows = 200});
  auto strategy = make_strategy("layerskip:exit=2,gamma=2", backend.shape());
  SeededChooser chooser(1, 1);
  KeepRounds listener;
  const std::atomic<bool> cancelled{true};
  const std::vector<std::int32_t> prompt{1};
  auto result = decode(backend, *strategy->strategy,
                       {.prompt = prompt, .max_new_tokens = 50, .cancelled = &cancelled}, chooser, listener);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stop, traces::RequestStop::cancelled);
  EXPECT_EQ(result->tokens.size(), 1U);
}

}  // namespace
}  // namespace draftscope::engine

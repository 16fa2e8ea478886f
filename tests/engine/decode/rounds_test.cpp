// SPDX-License-Identifier: GPL-3.0-or-later
// Tests what decode() reports about its rounds: counts add up, times tile, and draft tokens tell what
// happened.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "../strategies/kept_decode.h"
#include "toy_backend.h"

namespace draftscope::engine {
namespace {

constexpr std::array<std::int32_t, 5> prompt{3, 1, 4, 1, 5};

struct Decoded {
  DecodeResult result;
  KeptDecode kept{prompt};
  std::vector<traces::Span> spans;
};

Decoded decode_recorded(const std::string& specification, const SamplingOptions& sampling,
                        std::span<const std::int32_t> eos = {}) {
  ToyBackend backend({.vocab = 12, .n_layers = 6, .cache_rows = 200, .seed = 5, .agreement = 0.7});
  const auto strategy = expect_strategy(specification, backend.shape());
  SeededChooser chooser(9, 4);
  Decoded decoded;
  profiler::SpanRecorder recorder(profiler::Level::layers, nullptr);
  auto result = decode(backend, *strategy,
                       {.prompt = prompt, .max_new_tokens = 80, .sampling = sampling, .eos_tokens = eos},
                       chooser, decoded.kept, &recorder);
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
      std::int32_t position = 5;
      for (const KeptRound& kept : decoded.kept.rounds) {
        const traces::Round& round = kept.round;
        const auto emitted =
            std::span(decoded.kept.text)
                .subspan(static_cast<std::size_t>(position) + 1, static_cast<std::size_t>(kept.emitted));
        EXPECT_EQ(round.root_position, position);
        EXPECT_LE(round.accepted, round.drafted);
        EXPECT_LE(round.drafted, round.planned);
        EXPECT_EQ(round.tree_depth, round.drafted);
        EXPECT_EQ(round.verify_rows, round.drafted + 1);
        EXPECT_EQ(round.emitted, kept.emitted);
        EXPECT_EQ(round.emitted, round.accepted + 1);
        EXPECT_EQ(emitted.back(), round.bonus_token);
        ASSERT_EQ(kept.draft_tokens.size(), static_cast<std::size_t>(round.drafted));
        for (const traces::DraftToken& token : kept.draft_tokens) {
          EXPECT_EQ(token.accepted, token.index < round.accepted);
          EXPECT_EQ(token.tested, token.index <= round.accepted);
          EXPECT_EQ(token.parent, token.index - 1);
          EXPECT_GT(token.confidence, 0.0);
          EXPECT_LE(token.probability, 1.0);
          if (token.accepted) {
            EXPECT_EQ(token.token, emitted[static_cast<std::size_t>(token.index)]);
          }
        }
        EXPECT_EQ(kept.layer_set.n_layers, round.drafted > 0 ? 6 : 0);
        EXPECT_EQ(kept.layer_set.exit_layer, round.exit_layer);
        position += round.emitted;
      }
      EXPECT_TRUE(std::ranges::equal(std::span(decoded.kept.text).subspan(5), decoded.result.tokens));
      EXPECT_EQ(decoded.result.tokens.size(), 80U);
    }
  }
}

TEST(RoundReports, TheTimesOfARoundTileItAndRoundsFollowOneAnother) {
  const Decoded decoded = decode_recorded("layerskip:exit=2,gamma=5", {});
  std::int64_t end_ns = decoded.result.first_token_ns;
  for (const KeptRound& kept : decoded.kept.rounds) {
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
  for (const KeptRound& kept : decoded.kept.rounds) drafted += kept.round.drafted;
  EXPECT_EQ(draft_steps, drafted);
}

TEST(RoundReports, AnEosInsideADraftEndsDraftAndText) {
  bool met = false;
  for (std::int32_t eos = 0; eos < 12; ++eos) {
    const std::vector<std::int32_t> ends{eos};
    const Decoded decoded = decode_recorded("layerskip:exit=5,gamma=8", {}, ends);
    for (const std::int32_t token : decoded.result.tokens) EXPECT_NE(token, eos);
    if (decoded.result.stop != traces::RequestStop::eos || decoded.kept.rounds.empty()) continue;
    const KeptRound& last = decoded.kept.rounds.back();
    EXPECT_LE(last.round.emitted, last.round.accepted);
    for (const KeptRound& kept : decoded.kept.rounds) {
      if (kept.round.draft_stop != traces::DraftStop::eos) continue;
      met = true;
      EXPECT_EQ(kept.draft_tokens.back().token, eos);
    }
  }
  EXPECT_TRUE(met);
}

TEST(RoundReports, ACancelledRequestKeepsWhatItHas) {
  ToyBackend backend({.vocab = 12, .n_layers = 6, .cache_rows = 200});
  const std::atomic<bool> cancelled{true};
  DecodeListener nobody;
  const DecodeResult result =
      expect_decoded(backend, "layerskip:exit=2,gamma=2",
                     {.prompt = prompt, .max_new_tokens = 50, .cancelled = &cancelled}, nobody);
  EXPECT_EQ(result.stop, traces::RequestStop::cancelled);
  EXPECT_EQ(result.tokens.size(), 1U);
}

}  // namespace
}  // namespace draftscope::engine

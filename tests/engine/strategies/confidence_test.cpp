// SPDX-License-Identifier: GPL-3.0-or-later
// A draft token below the threshold stays and ends the draft. The confidence of a step decides its number of
// siblings.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "kept_decode.h"
#include "scripted_backend.h"

namespace draftscope::engine {
namespace {

/// Confidences by position; some are exactly on the thresholds.
double confidence_at(std::int32_t position) {
  static const double values[] = {0.99, 0.96, 0.95, 0.9, 0.8, 0.7, 0.5, 0.4, 0.05, 1.0};
  return values[std::mt19937(static_cast<std::uint32_t>(position) * 977U + 5U)() % 10U];
}

/// Decodes with a draft that agrees with the target except after every seventh position.
KeptDecode decoded(const std::string& specification) {
  ScriptedBackend backend(
      [](std::int32_t position, bool draft) {
        return Answer{position * 5 % 16 + (draft && position % 7 == 0 ? 1 : 0), confidence_at(position)};
      },
      600);
  const std::vector<std::int32_t> prompt{1, 2, 3};
  KeptDecode kept(prompt);
  expect_decoded(backend, specification, {.prompt = prompt, .max_new_tokens = 500}, kept);
  return kept;
}

TEST(Threshold, ATokenBelowItStaysAndEndsTheDraft) {
  int stopped = 0;
  int accepted = 0;
  int whole = 0;
  for (const char* threshold : {"0.8", "0.05", "0.95", "1"}) {
    const KeptDecode kept =
        decoded(fmt::format("mix:mask=exit,stop=threshold,gamma=6,threshold={}", threshold));
    for (const KeptRound& one : kept.rounds) {
      const auto& drafted = one.draft_tokens;
      if (drafted.empty()) continue;
      for (std::size_t i = 0; i < drafted.size(); ++i) {
        const auto position = one.round.root_position + static_cast<std::int32_t>(i);
        EXPECT_EQ(static_cast<float>(drafted[i].confidence), static_cast<float>(confidence_at(position)));
        const bool low = static_cast<float>(drafted[i].confidence) < std::stof(threshold);
        // The draft ends after a token that is not sure enough, and continues after every other token.
        if (i + 1 < drafted.size()) {
          EXPECT_FALSE(low);
        } else if (one.round.draft_stop == traces::DraftStop::threshold) {
          EXPECT_TRUE(low);
          ++stopped;
          accepted += static_cast<int>(drafted[i].accepted);
        } else if (one.round.draft_stop == traces::DraftStop::length) {
          EXPECT_EQ(drafted.size(), 6U);
          ++whole;
        }
      }
    }
  }
  EXPECT_GT(stopped, 100);
  EXPECT_GT(accepted, 50);  // the token that ended a draft is accepted like any other
  EXPECT_GT(whole, 20);
}

struct Band {
  double above;
  std::size_t paper;
  std::size_t greedy_code;
};
constexpr Band bands[] = {{0.95, 1, 3}, {0.8, 3, 5}, {0.5, 5, 8}, {0.0, 10, 10}};

TEST(SwiftTree, IsAsWideAsTheConfidenceOfEachStepSays) {
  for (const bool paper : {true, false})
    for (const char* threshold : {"0", "0.8"}) {
      const KeptDecode kept =
          decoded(fmt::format("mix:mask=exit,stop=threshold,shape=tree,gamma=5,threshold={},widths={}",
                              threshold, paper ? "paper" : "greedy-code"));
      int met[4] = {0, 0, 0, 0};
      for (const KeptRound& one : kept.rounds) {
        std::size_t node = 0;
        std::int32_t spine = -1;
        std::int32_t depth = 0;
        while (node < one.draft_tokens.size()) {
          const double confidence = confidence_at(one.round.root_position + depth);
          std::size_t band = 0;
          while (static_cast<float>(confidence) <= static_cast<float>(bands[band].above)) ++band;
          const std::size_t width = paper ? bands[band].paper : bands[band].greedy_code;
          ++met[band];
          // A level has `width` siblings, best first. All are children of the first token of the level above.
          for (std::size_t rank = 0; rank < width; ++rank) {
            if (node + rank == one.draft_tokens.size()) {
              EXPECT_EQ(one.draft_tokens.size(), 63U);  // the limit of draft tokens
              break;
            }
            const traces::DraftToken& token = one.draft_tokens[node + rank];
            EXPECT_EQ(token.parent, spine);
            EXPECT_EQ(token.token, (one.draft_tokens[node].token + static_cast<std::int32_t>(rank)) % 16);
          }
          spine = static_cast<std::int32_t>(node);
          node += width;
          ++depth;
        }
      }
      for (const int times : met) EXPECT_GT(times, 10);
    }
}

}  // namespace
}  // namespace draftscope::engine

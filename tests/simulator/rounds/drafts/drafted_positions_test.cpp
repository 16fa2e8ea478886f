// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/drafted_positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "rounds/drafts/drafted_table.h"

namespace draftscope::simulator {
namespace {

using enum AcceptanceBit;
using testing::ElementsAre;

/// One request whose rounds have ids from 1 on.
class OneRequest {
 public:
  void add(traces::Round round, std::vector<traces::DraftToken> tokens) {
    round.id = traces::RoundId::from(static_cast<std::int64_t>(rounds_.size()) + 1);
    round.drafted = static_cast<std::int32_t>(tokens.size());
    for (traces::DraftToken& token : tokens) {
      token.round_id = round.id;
      recording_.draft_tokens.push_back(token);
    }
    rounds_.push_back(round);
  }

  [[nodiscard]] DraftedPositions positions() const {
    return drafted_positions(recording_, {.request = &request_, .rounds = rounds_});
  }

 private:
  traces::Request request_;
  traces::Recording recording_;
  std::vector<traces::Round> rounds_;
};

std::vector<double> confidences(const DraftedPositions& positions) {
  std::vector<double> all;
  for (const DraftedPosition& position : positions) all.push_back(position.confidence);
  return all;
}

TEST(DraftedPositions, OfAChainAreItsAcceptedTokensAndTheFirstRejectedOne) {
  OneRequest request;
  request.add({.tree_depth = 3, .accepted = 1, .emitted = 2},
              {{.index = 0, .parent = -1, .confidence = 0.9, .accepted = true, .tested = true},
               {.index = 1, .parent = 0, .confidence = 0.4, .tested = true},
               {.index = 2, .parent = 1, .confidence = 0.3}});
  request.add({.tree_depth = 1, .accepted = 1, .emitted = 2},
              {{.index = 0, .parent = -1, .confidence = 0.8, .accepted = true, .tested = true}});
  request.add({.emitted = 1}, {});
  const DraftedPositions positions = request.positions();
  EXPECT_THAT(bits_at(positions), ElementsAre(accepted, rejected, accepted, unseen, unseen));
  EXPECT_THAT(confidences(positions), ElementsAre(0.9, 0.4, 0.8, testing::IsNan(), testing::IsNan()));
}

TEST(DraftedPositions, OfATreeAreWhatAChainWouldHaveDrafted) {
  OneRequest request;
  // The second sibling was right, its first child too; after that nothing was drafted.
  request.add({.tree_depth = 2, .accepted = 2, .emitted = 3},
              {{.index = 0, .parent = -1, .confidence = 0.5},
               {.index = 1, .parent = -1, .confidence = 0.5, .accepted = true},
               {.index = 2, .parent = 1, .confidence = 0.7, .accepted = true}});
  EXPECT_THAT(bits_at(request.positions()), ElementsAre(rejected, accepted, unseen));
}

TEST(DraftedPositions, LengthsAloneShowTheSameBits) {
  std::mt19937 random(11);
  const traces::Request request;
  for (int i = 0; i < 50; ++i) {
    const auto length = static_cast<std::int32_t>(1 + random() % 6);
    std::vector<traces::Round> rounds(40);
    for (traces::Round& round : rounds) {
      round.tree_depth = length;
      round.accepted = static_cast<std::int32_t>(random() % static_cast<unsigned>(length + 1));
      round.emitted = round.accepted + 1;
    }
    rounds.back().accepted = length;
    rounds.back().emitted = length + 1;
    const RequestRows rows{.request = &request, .rounds = rounds};
    EXPECT_EQ(bits_at(drafted_positions({}, rows, length)), bits_at(drafted_positions({}, rows)));
  }
}

TEST(DraftedPositions, TakeWhatAnotherRunSawWhereTheySawNothing) {
  DraftedPositions own{{accepted, 0.9}, {}, {rejected, 0.2}, {}};
  fill_unseen({{rejected, 0.1}, {accepted, 0.6}, {accepted, 0.7}}, own);
  EXPECT_THAT(bits_at(own), ElementsAre(accepted, accepted, rejected, unseen));
  EXPECT_DOUBLE_EQ(own[1].confidence, 0.6);
}

TEST(DraftedTable, KeepsWhatWasSeenAndDrawsTheRestAsTheModelSays) {
  const traces::Prompt prompt{.tokens = {1, 2, 3}};
  std::vector<traces::Round> rounds{{.root_position = 3}};
  const AcceptanceModel model = iid_acceptance(0.7);
  DraftedPositions positions;
  for (int i = 0; i < 6000; ++i)
    positions.push_back(i % 3 == 0   ? DraftedPosition{accepted, 0.9}
                        : i % 3 == 1 ? DraftedPosition{rejected, 0.2}
                                     : DraftedPosition{});
  const traces::Request request{.tokens = std::vector<std::int32_t>(6001, 7)};
  const RequestRows rows{.request = &request, .prompt = &prompt, .rounds = rounds};
  const DraftedTable drafted =
      drafted_table(rows, positions, model, seen_steps(std::vector<DraftedPositions>{positions}));
  int drawn_right = 0;
  for (int i = 0; i < 6000; ++i) {
    const ShadowCell& cell = drafted.table.cell(drafted.table.first + i, drafted_layer);
    const bool is_right = cell.true_rank == 0;
    EXPECT_EQ(drafted.is_drawn[static_cast<std::size_t>(i)], i % 3 == 2);
    EXPECT_EQ(drafted.known_width[static_cast<std::size_t>(i)], i % 3 == 0
                                                                    ? std::numeric_limits<std::int32_t>::max()
                                                                : i % 3 == 1 ? 1
                                                                             : 0);
    if (i % 3 == 2)
      drawn_right += is_right ? 1 : 0;
    else
      EXPECT_EQ(is_right, i % 3 == 0);
    EXPECT_FLOAT_EQ(cell.probability, is_right ? 0.9F : 0.2F);
  }
  // The tolerance is five standard deviations of 2,000 draws.
  EXPECT_NEAR(drawn_right / 2000.0, 0.7, 0.052);
}

}  // namespace
}  // namespace draftscope::simulator

// SPDX-License-Identifier: GPL-3.0-or-later
// Parts that want hidden states of different layers receive only these, and may want others in every round.

#include <gmock/gmock.h>

#include "strategies/engine_parts.h"
#include "strategies/engine_rules.h"
#include "strategies/parts/engine.h"

namespace draftscope::engine {
namespace {

class Wants final : public Learner {
 public:
  std::span<const std::int32_t> states() const override { return wanted; }
  void observe(const RoundView& /*round*/, const RoundOutcome& outcome, DecisionLog* /*log*/) override {
    heard.assign(outcome.states.begin(), outcome.states.end());
  }
  std::vector<std::int32_t> wanted;
  std::vector<float> heard;
};

TEST(Mixed, EachPartGetsTheStatesThatItAskedFor) {
  const auto middle = std::make_shared<Wants>();
  const auto all = std::make_shared<Wants>();
  const auto none = std::make_shared<Wants>();
  const auto strategy =
      make_mixed({.mask = std::make_shared<FixedMask>(speculation::SublayerMask::early_exit(4, 2), "fixed"),
                  .length = std::make_shared<LengthByRule>(speculation::FixedLength(1)),
                  .learners = {middle, all, none}});
  const auto round = [&] {
    const RoundPlan plan = strategy->plan({});
    // Each boundary has two rows of one number: the boundary's index, and a half more.
    std::vector<float> states;
    for (const std::int32_t boundary : plan.states) {
      states.push_back(static_cast<float>(boundary));
      states.push_back(static_cast<float>(boundary) + 0.5F);
    }
    const std::vector<DraftNode> nodes(1);
    strategy->observe({.nodes = nodes, .states = states}, nullptr);
    return std::vector<std::int32_t>(plan.states.begin(), plan.states.end());
  };
  using testing::ElementsAre;
  using testing::IsEmpty;
  middle->wanted = {1, 2};
  EXPECT_THAT(round(), ElementsAre(1, 2));
  EXPECT_THAT(middle->heard, ElementsAre(1.0F, 1.5F, 2.0F, 2.5F));
  EXPECT_THAT(all->heard, IsEmpty());

  all->wanted = {0, 1, 2, 3};
  EXPECT_THAT(round(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(middle->heard, ElementsAre(1.0F, 1.5F, 2.0F, 2.5F));
  EXPECT_THAT(all->heard, ElementsAre(0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 2.5F, 3.0F, 3.5F));
  EXPECT_THAT(none->heard, IsEmpty());

  middle->wanted = {1, 3};
  EXPECT_THAT(round(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(middle->heard, ElementsAre(1.0F, 1.5F, 3.0F, 3.5F));
  EXPECT_THAT(all->heard, ElementsAre(0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 2.5F, 3.0F, 3.5F));

  middle->wanted = {};
  all->wanted = {};
  EXPECT_THAT(round(), IsEmpty());
  EXPECT_THAT(middle->heard, IsEmpty());
}

}  // namespace
}  // namespace draftscope::engine

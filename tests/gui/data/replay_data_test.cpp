// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the choice of prompts, and drafts as trees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "data/details/draft_tree.h"
#include "data/details/listed_prompts.h"
#include "of_sample.h"

namespace draftscope::gui {
namespace {

class ReplayData : public OfSample {
 protected:
  void SetUp() override {
    // The draft of every second round becomes a tree with two branches per token.
    open({.seed = 9, .runs = 3, .requests_per_run = 5, .max_rounds = 20},
         "UPDATE draft_tokens SET parent = CASE WHEN \"index\" = 0 THEN -1 ELSE (\"index\" - 1) / 2 END "
         "WHERE round % 2 = 0");
  }
};

TEST_F(ReplayData, ListsEachPromptOnceAndEachRequestUnderOneOfThem) {
  std::set<std::size_t> found;
  std::set<traces::PromptId> prompts;
  for (const ListedPrompt& listed : listed_prompts(*opened_)) {
    EXPECT_TRUE(prompts.insert(listed.id).second);
    for (const traces::Run& run : opened_->recording().runs) {
      std::int32_t last = -1;
      for (const std::size_t request : requests_of_prompt(*opened_, run.id, listed.id)) {
        const traces::Request& row = opened_->recording().requests[request];
        EXPECT_EQ(row.prompt_id, listed.id);
        EXPECT_EQ(row.run_id, run.id);
        EXPECT_GE(row.repeat, last);
        last = row.repeat;
        EXPECT_TRUE(found.insert(request).second);
      }
    }
  }
  EXPECT_EQ(found.size(), opened_->recording().requests.size());
}

TEST_F(ReplayData, PlacesTheTokensOfATreeWithoutOverlap) {
  std::size_t branched = 0;
  for (std::uint32_t round_index = 0; round_index < opened_->recording().rounds.size(); ++round_index) {
    const auto drafts = opened_->draft_tokens(round_index);
    const DraftTree tree = draft_tree(*opened_, round_index);
    ASSERT_EQ(tree.nodes.size(), drafts.size());
    std::set<std::pair<int, int>> places;
    std::map<int, int> children;
    for (std::size_t i = 0; i < drafts.size(); ++i) {
      const DraftTreeNode& node = tree.nodes[i];
      EXPECT_EQ(&opened_->recording().draft_tokens[node.draft_index], &drafts[i]);
      EXPECT_TRUE(places.emplace(node.row, node.column).second);
      EXPECT_LT(node.row, tree.rows);
      EXPECT_LT(node.column, tree.columns);
      ASSERT_EQ(node.parent, drafts[i].parent);
      ++children[node.parent];
      if (node.parent >= 0) {
        const DraftTreeNode& parent = tree.nodes[static_cast<std::size_t>(node.parent)];
        EXPECT_EQ(node.column, parent.column + 1);
        EXPECT_GE(node.row, parent.row);
      } else {
        EXPECT_EQ(node.column, 0);
      }
    }
    // Each leaf has a row.
    int leaves = 0;
    for (int i = 0; i < static_cast<int>(drafts.size()); ++i) leaves += children.contains(i) ? 0 : 1;
    EXPECT_EQ(tree.rows, leaves);
    branched += tree.has_branches() ? 1 : 0;
  }
  EXPECT_GT(branched, 0U);
}

}  // namespace
}  // namespace draftscope::gui

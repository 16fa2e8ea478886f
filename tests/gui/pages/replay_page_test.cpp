// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the choices, the speed and the trees of the text replay in the real window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemView>
#include <QComboBox>
#include <QCompleter>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <algorithm>
#include <set>

#include "views/replay/draft_tree_view.h"
#include "views/replay/replay_view.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

using testing::HasSubstr;

class ReplayChoices : public Window {
 protected:
  void open_sample(const std::string& change = {}) {
    if (!change.empty()) traces::change(folder_ / "sample.dstrace", change);
    ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
    window_.state().set_run(1);
    raise(QStringLiteral("replay"));
    for (QComboBox* box : replay().findChildren<QComboBox*>())
      (box->accessibleName() == u"Prompt" ? prompts_ : repeats_) = box;
    ASSERT_NE(prompts_, nullptr);
    ASSERT_NE(repeats_, nullptr);
  }
  ReplayView& replay() { return view_of<ReplayView>(window_, QStringLiteral("replay")); }

  QComboBox* prompts_ = nullptr;
  QComboBox* repeats_ = nullptr;
};

TEST_F(ReplayChoices, AreThePromptsAndTheirRepeats) {
  open_sample();
  ViewState& state = window_.state();
  const auto& rows = state.recording()->recording();
  std::set<std::int64_t> prompts;
  for (const traces::Request& request : rows.requests) prompts.insert(request.prompt_id.value());
  ASSERT_EQ(prompts_->count(), static_cast<int>(prompts.size()));
  const auto* shown = replay().findChild<QPlainTextEdit*>();
  for (int i = 0; i < prompts_->count(); ++i) {
    prompts_->setCurrentIndex(i);
    emit prompts_->activated(i);
    settle();
    const traces::Request& request = rows.requests[state.cursor().request_index];
    EXPECT_EQ(state.run(), 1U);
    const traces::Prompt* prompt = state.recording()->prompt_of(request);
    ASSERT_NE(prompt, nullptr);
    EXPECT_EQ(shown->toPlainText(), QString::fromStdString(prompt->text));
    EXPECT_EQ(repeats_->currentText(), QStringLiteral("repeat %1").arg(request.repeat));
  }
  // Typed words find a prompt; words that match none revert to the current prompt.
  prompts_->lineEdit()->setFocus();
  prompts_->lineEdit()->selectAll();
  QTest::keyClicks(prompts_->lineEdit(), QStringLiteral("question"));
  EXPECT_EQ(prompts_->completer()->completionCount(), prompts_->count());
  prompts_->completer()->popup()->hide();
  prompts_->lineEdit()->setText(QStringLiteral("nothing of that kind"));
  QTest::keyClick(prompts_->lineEdit(), Qt::Key_Return);
  EXPECT_EQ(prompts_->currentText(), prompts_->itemText(prompts_->currentIndex()));
}

TEST_F(ReplayChoices, DrawATreesBranches) {
  open_sample(
      "UPDATE draft_tokens SET parent = CASE WHEN \"index\" = 0 THEN -1 ELSE (\"index\" - 1) / 2 END");
  ViewState& state = window_.state();
  auto* tree = replay().findChild<DraftTreeView*>();
  ASSERT_NE(tree, nullptr);
  std::size_t seen = 0;
  for (const std::uint32_t round_index : state.run_rounds()->rounds) {
    if (state.recording()->round(round_index).emitted == 0) continue;
    state.go_to_round(round_index);
    const bool has_branches = state.recording()->draft_tokens(round_index).size() > 2;
    const auto& cursor = state.cursor();
    // The cursor may be on a token of an earlier round where a text was cut.
    if (cursor.round_index != round_index || tree->tree().has_branches() != has_branches) continue;
    EXPECT_EQ(tree->isVisible(), has_branches);
    if (has_branches) {
      EXPECT_THAT(tree->accessibleDescription().toStdString(), HasSubstr("branches"));
      (void)tree->grab();
      ++seen;
    }
  }
  EXPECT_GT(seen, 0U);
}

}  // namespace
}  // namespace draftscope::gui

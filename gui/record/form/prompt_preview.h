// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The prompts of a file before they are recorded: how many there are of each category, and how each begins.

#include <draftscope/traces/prompt_file.h>
#include <QWidget>
#include <cstdint>
#include <vector>

class QLabel;
class QTreeWidget;

namespace draftscope::gui {

/// "24 prompts: 12 coding, 12 prose; 30 turns".
[[nodiscard]] QString counts_text(const std::vector<traces::Question>& questions);

/// Turns of the first `limit` questions, of all with 0.
[[nodiscard]] std::int64_t turns_of(const std::vector<traces::Question>& questions, std::int32_t limit);

class PromptPreview : public QWidget {
  Q_OBJECT

 public:
  explicit PromptPreview(QWidget* parent = nullptr);

  void set_questions(const std::vector<traces::Question>& questions);
  /// Those after the first `limit` are shown as left out; 0 = none is.
  void set_limit(std::int32_t limit);

 private:
  QLabel* counts_;
  QTreeWidget* list_;
};

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Preview of the prompts of a file before they are recorded: counts per category, and the beginning of each.

#include <draftscope/traces/prompt_file.h>
#include <QLabel>
#include <QTreeWidget>
#include <QWidget>
#include <cstdint>
#include <vector>

namespace draftscope::gui {

/// Text like "24 prompts: 12 coding, 12 prose; 30 turns".
[[nodiscard]] QString counts_text(const std::vector<traces::Question>& questions);

/// Number of turns in the first `limit` questions; 0 = all questions.
[[nodiscard]] std::int64_t turns_of(const std::vector<traces::Question>& questions, std::int32_t limit);

class PromptPreview : public QWidget {
  Q_OBJECT

 public:
  explicit PromptPreview(QWidget* parent = nullptr);

  void set_questions(const std::vector<traces::Question>& questions);
  /// Shows the questions after the first `limit` as left out; 0 = none is.
  void set_limit(std::int32_t limit);

 private:
  QLabel* counts_ = new QLabel;
  QTreeWidget* list_ = new QTreeWidget;
};

}  // namespace draftscope::gui

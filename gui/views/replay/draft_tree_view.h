// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The tree of a round's draft: branches from left to right, accepted tokens filled, rejected ones struck
// through, untested ones with a broken frame. A large tree scrolls.

#include <QScrollArea>

#include "data/details/draft_tree.h"

namespace draftscope::gui {

class DraftTreeView : public QScrollArea {
  Q_OBJECT

 public:
  explicit DraftTreeView(QWidget* parent = nullptr);

  /// Hides itself if the round's draft has no branches. no_index shows none.
  void show_round(const RecordingPointer& recording, std::uint32_t round_index);
  [[nodiscard]] const DraftTree& tree() const { return tree_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  [[nodiscard]] QRect box_of(const DraftTreeNode& node) const;
  [[nodiscard]] const traces::DraftToken& token_of(const DraftTreeNode& node) const;
  [[nodiscard]] QString text_of(const DraftTreeNode& node) const;
  [[nodiscard]] QString words_of(const DraftTreeNode& node) const;
  void paint(QPainter& painter) const;

  RecordingPointer recording_;
  DraftTree tree_;
  QWidget* canvas_;
};

}  // namespace draftscope::gui

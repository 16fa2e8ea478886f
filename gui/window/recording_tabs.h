// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A tab for each open recording, in the order in which they were opened; there while more than one is open.

#include <QTabBar>
#include <vector>

#include "state/view_state.h"

namespace draftscope::gui {

class RecordingTabs : public QTabBar {
  Q_OBJECT

 public:
  explicit RecordingTabs(ViewState& state, QWidget* parent = nullptr);

  /// The next one, or the one before it; round the end.
  void step(bool forward);

 signals:
  void chosen(const draftscope::gui::RecordingPointer& recording);
  void close_requested(const draftscope::gui::RecordingPointer& recording);
  void menu_requested(const draftscope::gui::RecordingPointer& recording, const QPoint& place);

 protected:
  void mouseReleaseEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void list();
  [[nodiscard]] RecordingPointer at(int tab) const;

  ViewState& state_;
  std::vector<std::weak_ptr<const OpenedRecording>> listed_;
};

/// Title of a recording beside the others: its name, or its path where two have the same name.
[[nodiscard]] QString title_among(const OpenedRecording& recording, const std::vector<RecordingPointer>& all);

}  // namespace draftscope::gui

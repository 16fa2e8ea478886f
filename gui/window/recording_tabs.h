// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Tabs of the open recordings, in the order in which they were opened. They are visible while more than one
// is open.

#include <QTabBar>
#include <vector>

#include "state/view_state.h"

namespace draftscope::gui {

class RecordingTabs : public QTabBar {
  Q_OBJECT

 public:
  explicit RecordingTabs(ViewState& state, QWidget* parent = nullptr);

  /// Steps to the next or previous tab, wrapping around at the ends.
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

/// Title of a recording among the others: its name, or its path where two have the same name.
[[nodiscard]] QString title_among(const OpenedRecording& recording, const std::vector<RecordingPointer>& all);

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "recording_tabs.h"

#include <QContextMenuEvent>
#include <QMouseEvent>
#include <algorithm>

namespace draftscope::gui {

RecordingTabs::RecordingTabs(ViewState& state, QWidget* parent) : QTabBar(parent), state_(state) {
  setAccessibleName(tr("Recordings"));
  setDocumentMode(true);
  setExpanding(false);
  setTabsClosable(true);
  setElideMode(Qt::ElideMiddle);
  setUsesScrollButtons(true);
  hide();
  connect(&state_, &ViewState::opened_changed, this, &RecordingTabs::list);
  connect(&state_, &ViewState::recording_changed, this, &RecordingTabs::list);
  connect(this, &QTabBar::currentChanged, this, [this](int tab) {
    if (const RecordingPointer recording = at(tab)) emit chosen(recording);
  });
  connect(this, &QTabBar::tabCloseRequested, this, [this](int tab) {
    if (const RecordingPointer recording = at(tab)) emit close_requested(recording);
  });
}

RecordingPointer RecordingTabs::at(int tab) const {
  if (tab < 0 || static_cast<std::size_t>(tab) >= listed_.size()) return nullptr;
  return listed_[static_cast<std::size_t>(tab)].lock();
}

void RecordingTabs::list() {
  const QSignalBlocker quiet(this);
  std::vector<RecordingPointer> all = state_.opened();
  // The shown recording may be an overview that is not in the list yet.
  const RecordingPointer& shown = state_.recording();
  if (shown && !shown->has_rows() && std::ranges::find(all, shown) == all.end()) {
    std::erase_if(all, [&](const RecordingPointer& other) {
      return other->recording().path == shown->recording().path;
    });
    all.push_back(shown);
  }
  while (count() > static_cast<int>(all.size())) removeTab(count() - 1);
  while (count() < static_cast<int>(all.size())) addTab(QString());
  listed_.assign(all.begin(), all.end());
  for (int tab = 0; tab < count(); ++tab) {
    const OpenedRecording& recording = *all[static_cast<std::size_t>(tab)];
    const QString path = QString::fromStdString(recording.recording().path.string());
    setTabText(tab, title_among(recording, all).replace(u'&', QStringLiteral("&&")));
    setTabToolTip(tab, path);
    if (all[static_cast<std::size_t>(tab)] == shown) setCurrentIndex(tab);
  }
  setVisible(count() > 1);
}

void RecordingTabs::step(bool forward) {
  if (count() < 2) return;
  setCurrentIndex((currentIndex() + (forward ? 1 : count() - 1)) % count());
}

void RecordingTabs::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() == Qt::MiddleButton) {
    if (const RecordingPointer recording = at(tabAt(event->pos()))) emit close_requested(recording);
    return;
  }
  QTabBar::mouseReleaseEvent(event);
}

void RecordingTabs::contextMenuEvent(QContextMenuEvent* event) {
  const int tab = event->reason() == QContextMenuEvent::Keyboard ? currentIndex() : tabAt(event->pos());
  if (const RecordingPointer recording = at(tab)) emit menu_requested(recording, event->globalPos());
}

QString title_among(const OpenedRecording& recording, const std::vector<RecordingPointer>& all) {
  const bool is_alone = std::ranges::count_if(all, [&](const RecordingPointer& other) {
                          return other->name() == recording.name();
                        }) <= 1;
  return QString::fromStdString(is_alone ? recording.name() : recording.recording().path.string());
}

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The timeline, and beside it the details of its selection. The details open when something is selected,
// unless they were closed before; this choice is remembered.

#include <QSplitter>
#include <QVariant>
#include <QWidget>
#include <optional>

namespace draftscope::gui {

class DetailsView;
class TimelineView;
class ViewState;

class TimelinePanel : public QWidget {
  Q_OBJECT

 public:
  /// `state` must outlive the panel.
  explicit TimelinePanel(ViewState& state, QWidget* parent = nullptr);

  [[nodiscard]] TimelineView& timeline() { return *timeline_; }
  [[nodiscard]] DetailsView& details() { return *details_; }

  [[nodiscard]] bool are_details_open() const;
  void open_details(bool are_open);
  /// Opens the details, if the view belongs to them.
  void show_view(const QWidget& view);

  /// Height that the lanes need, and the details if they are open.
  [[nodiscard]] int content_height() const;

  /// The layout that is remembered from one start to the next.
  [[nodiscard]] QVariantMap layout_state() const;
  void restore_layout(const QVariantMap& state);
  void reset_layout();

 signals:
  /// content_height() may have changed.
  void laid_out();
  void details_opened(bool are_open);

 private:
  void place_details();

  TimelineView* timeline_;
  DetailsView* details_;
  QSplitter* split_ = new QSplitter(Qt::Horizontal);
  std::optional<bool> chosen_;        ///< Choice of the user; without one they open with the first selection.
  std::optional<int> details_width_;  ///< Width that the user dragged to.
};

}  // namespace draftscope::gui

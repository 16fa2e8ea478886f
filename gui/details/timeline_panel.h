// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The timeline with the details of what is selected in it beside it. The details open when something is
// selected, unless they were closed before; that is remembered.

#include <QVariant>
#include <QWidget>
#include <optional>

class QSplitter;

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
  /// Opens the details, if the view is theirs.
  void show_view(const QWidget& view);

  /// Height that the lanes need, and the details if they are open.
  [[nodiscard]] int content_height() const;

  /// The state that is remembered from one start to the next.
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
  QSplitter* split_;
  std::optional<bool> chosen_;        ///< by the user; else they open with the first selection
  std::optional<int> details_width_;  ///< dragged to
};

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A view with its title above it, where it shares a page. A double click on the title, or the button at its
// end, maximises the view; the button before that opens the manual's section about it.

#include <QScrollArea>
#include <QVariant>
#include <QWidget>
#include <vector>

class QSplitter;
class QToolButton;

namespace draftscope::gui {

class ViewPanel : public QWidget {
  Q_OBJECT

 public:
  /// Takes ownership of the view. Without a title there is no bar.
  ViewPanel(const QString& title, QWidget* view, QWidget* parent = nullptr);

  [[nodiscard]] QWidget& view() const { return *view_; }
  /// Height of the bar with the title.
  [[nodiscard]] int bar_height() const { return bar_ == nullptr ? 0 : bar_->sizeHint().height(); }
  /// Updates the button, whose text says what a click would do.
  void show_maximised(bool is_maximised);

 signals:
  void maximise_requested();
  void help_requested();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void draw_sign();

  QWidget* view_;
  QWidget* bar_ = nullptr;  ///< null without a title
  QToolButton* button_ = nullptr;
  QString title_;
  bool is_maximised_ = false;
};

// A page of views: rows below one another, each with one view or several side by side, and draggable dividers
// between them. One view can take the whole page. The page scrolls if its views do not fit.

/// A view, and its title where it shares the page.
struct PlacedView {
  QWidget* view = nullptr;
  QString title;
};

/// A row of views from left to right, and its share of the page's height.
struct PageRow {
  std::vector<PlacedView> views;
  int share = 1;
};

class ViewPage : public QScrollArea {
  Q_OBJECT

 public:
  /// Takes ownership of the views.
  explicit ViewPage(const std::vector<PageRow>& rows, QWidget* parent = nullptr);

  [[nodiscard]] const std::vector<ViewPanel*>& panels() const { return panels_; }
  /// Null if the view is not on this page.
  [[nodiscard]] ViewPanel* panel_of(const QWidget& view) const;
  /// Gives a panel the whole page. Null, or a panel of another page, restores all places.
  void maximise(const ViewPanel* panel);
  /// Restores the initial heights of rows and widths of views.
  void reset();

  // Positions of the dividers.
  [[nodiscard]] QVariantList dividers() const;
  void set_dividers(const QVariantList& dividers);

 private:
  QSplitter* column_;
  std::vector<QSplitter*> rows_;
  std::vector<int> shares_;
  std::vector<ViewPanel*> panels_;
};

}  // namespace draftscope::gui

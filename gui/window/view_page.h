// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A page of views: rows below one another, each with one view or several side by side, and draggable dividers
// between them. One view can take the whole page. The page scrolls if its views do not fit.

#include <QScrollArea>
#include <QVariant>
#include <vector>

class QSplitter;

namespace draftscope::gui {

class ViewPanel;

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

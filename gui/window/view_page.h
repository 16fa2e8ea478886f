// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A page of views: rows below one another, each of one view or of several side by side, with dividers between
// them that can be dragged. One of the views can have all of the page. What does not fit is scrolled to.

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

/// A row of a page, from the left, and its share of the height.
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
  /// Gives a panel of this page all of it; another's, and null, give all their places back.
  void maximise(const ViewPanel* panel);
  /// The rows' heights and the views' widths as they are at first.
  void reset();

  // Where the dividers are.
  [[nodiscard]] QVariantList dividers() const;
  void set_dividers(const QVariantList& dividers);

 private:
  QSplitter* column_;
  std::vector<QSplitter*> rows_;
  std::vector<int> shares_;
  std::vector<ViewPanel*> panels_;
};

}  // namespace draftscope::gui

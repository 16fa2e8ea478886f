// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The pages of the window and the views on them, a row each. The window, --snapshot, the command palette, the
// manual's question marks and the tests go through these rows: a new view is a folder and a row here.

#include <QString>
#include <QWidget>
#include <optional>
#include <vector>

namespace draftscope::gui {

class ViewState;

/// A view of a window, by the name of its row.
struct NamedView {
  QString name;  ///< "rounds"
  QWidget* view = nullptr;
};

struct PageDescription {
  QString name;  ///< in remembered layouts: "skip-map"
  QString title;
  bool has_timeline = false;  ///< whether the timeline is open there at first
  std::vector<int> shares;    ///< of the page's height, one per row of views
};

struct ViewRow {
  const char* name = nullptr;  ///< for --snapshot, the tour and tests: "skip-map"
  /// Section of the manual about it. Where the view shares its page, this is its title there, too.
  const char* section = nullptr;
  const char* page = nullptr;  ///< null: beside all pages
  int row = 0;                 ///< on its page, from the top
  /// Makes the view for one of the window's states; `made` are the views of the rows before this one. Null
  /// for a part of another widget, which gives the part this row's name as its object name.
  QWidget* (*make)(ViewState& state, const std::vector<NamedView>& made) = nullptr;
  /// Where the same view of a pinned run stands: below it or beside it. Absent: nowhere.
  std::optional<Qt::Orientation> pinned;
  /// Prepares a view of a pinned run. Null: nothing to prepare.
  void (*prepare_pinned)(QWidget& view) = nullptr;
  /// Starts what the view computes when it is first seen, and waits for it. Null: it computes nothing.
  void (*settle)(QWidget& view) = nullptr;
};

/// In the order of their tabs, without the page that records.
[[nodiscard]] const std::vector<PageDescription>& page_descriptions();

/// Those of a page from left to right and from its top down; parts of a view come after it.
[[nodiscard]] const std::vector<ViewRow>& view_rows();

/// Title of the manual's section about a view; that about opening files for other names, such as "start".
[[nodiscard]] QString section_of_view(const QString& view);

}  // namespace draftscope::gui

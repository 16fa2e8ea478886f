// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The pages of the window and their views, one row each. The window, --snapshot, the command palette, the
// manual's question marks and the tests go through these rows: a new view is a folder and a row here.

#include <QString>
#include <QWidget>
#include <optional>
#include <vector>

namespace draftscope::gui {

class ViewState;

/// A view of a window, with the name of its row.
struct NamedView {
  QString name;  ///< "rounds"
  QWidget* view = nullptr;
};

struct PageDescription {
  QString name;  ///< Name in remembered layouts: "skip-map".
  QString title;
  bool has_timeline = false;  ///< whether the timeline is open there at first
  std::vector<int> shares;    ///< Shares of the page's height, one per row of views.
};

struct ViewRow {
  const char* name = nullptr;  ///< Name for --snapshot, the tour and tests: "skip-map".
  /// Section of the manual about the view. It is also the view's title where the view shares its page.
  const char* section = nullptr;
  const char* page = nullptr;  ///< Page that has the view; null: the view stands beside all pages.
  int row = 0;                 ///< Row on its page, counted from the top.
  /// Makes the view for one of the window's states; `made` has the views of earlier rows. Null for a part of
  /// another widget, which sets the part's object name to this row's name.
  QWidget* (*make)(ViewState& state, const std::vector<NamedView>& made) = nullptr;
  /// Place of the same view of a pinned run: below it or beside it. Absent = not shown.
  std::optional<Qt::Orientation> pinned;
  /// Prepares a view of a pinned run. Null = nothing to prepare.
  void (*prepare_pinned)(QWidget& view) = nullptr;
  /// Starts what the view computes when it is first shown, and waits for it. Null = it computes nothing.
  void (*settle)(QWidget& view) = nullptr;
};

/// Pages in order of their tabs, without the page that records.
[[nodiscard]] const std::vector<PageDescription>& page_descriptions();

/// Views page by page, from top to bottom and left to right; a view is followed by its parts.
[[nodiscard]] const std::vector<ViewRow>& view_rows();

/// Title of the manual's section about a view; other names, such as "start", give the section about opening
/// files.
[[nodiscard]] QString section_of_view(const QString& view);

}  // namespace draftscope::gui

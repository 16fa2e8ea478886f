// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Renders a view into a picture without a display: for documentation, reports and tests.

#include <draftscope/base/result.h>
#include <QString>
#include <QStringList>

namespace draftscope::gui {

struct SnapshotRequest {
  QString view;
  QStringList files;
  QString output;
  QString size = QStringLiteral("1600x900");
  QString scale = QStringLiteral("1");
  bool dark = false;
  QString run;     ///< Run to show; empty = the fastest that drafts.
  QString round;   ///< Round to show; empty = the first.
  QString pin;     ///< Run to pin beside it; empty = none.
  QString filter;  ///< Filter of rounds; empty = all.
  // Asks for the view's figure in place of a picture: "single", "double", or a width in inches. Empty = the
  // picture.
  QString figure;
  QString font_size = QStringLiteral("8");  ///< Size of the figure's letters, in points.
  QString dots = QStringLiteral("300");     ///< Dots per inch of the figure as PNG.
  bool has_legend = true;
};

/// Names to render: "window", "start", "tour", "record", and the name of every view.
[[nodiscard]] QStringList snapshot_names();

/// Errors: an unknown view, a view without a figure where one is asked for, an unreadable recording, a
/// picture that can't be written.
[[nodiscard]] Result<void> render_snapshot(const SnapshotRequest& request);

/// Uses Qt's Fusion style in light or dark colours, independent of the desktop.
void use_fixed_look(bool dark);

}  // namespace draftscope::gui

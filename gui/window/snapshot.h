// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Renders a view into a picture, without a display: for documentation, reports and tests.

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
  QString run;     ///< empty: the first that drafts
  QString round;   ///< empty: the first
  QString pin;     ///< a run beside it; empty: none
  QString filter;  ///< Filter of rounds; empty: all.
  // The view's figure in place of a picture of it: "single", "double", or a width in inches; empty: the
  // picture.
  QString figure;
  QString font_size = QStringLiteral("8");  ///< Size of the figure's letters, in points.
  QString dots = QStringLiteral("300");     ///< Dots per inch of the figure as PNG.
  bool has_legend = true;
};

/// "window", "start", "tour", "record", and the name of every view.
[[nodiscard]] QStringList snapshot_names();

/// Errors: an unknown view, one without a figure where that is asked for, an unreadable recording, a picture
/// that can't be written.
[[nodiscard]] Result<void> render_snapshot(const SnapshotRequest& request);

/// Fusion in light or dark colours, whatever the desktop has.
void use_fixed_look(bool dark);

}  // namespace draftscope::gui

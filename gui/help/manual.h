// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The manual as it is compiled in, and which of its sections is about what.

#include <QString>
#include <QStringList>
#include <vector>

namespace draftscope::gui {

struct ManualSection {
  QString title;
  int level = 1;  ///< 1 is the manual's own title
};

/// Markdown; paths in it are relative to the folder gui/ of the source.
[[nodiscard]] QString manual_text();

/// In the order of the text.
[[nodiscard]] const std::vector<ManualSection>& manual_sections();

/// Title of the section about a view by its name, "what-if-heat-map"; else that with the view's title; empty
/// if there is none.
[[nodiscard]] QString section_of_view(const QString& view, const QString& title = {});

/// The name that links to a section have: "Text replay" is "text-replay".
[[nodiscard]] QString section_link(const QString& title);

}  // namespace draftscope::gui

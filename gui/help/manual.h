// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The manual as it is compiled in, and its sections.

#include <QString>
#include <QStringList>
#include <vector>

namespace draftscope::gui {

struct ManualSection {
  QString title;
  int level = 1;  ///< 1 = the manual's own title
};

/// The manual in Markdown; paths in it are relative to the folder gui/ of the source.
[[nodiscard]] QString manual_text();

/// Sections in the order of the text.
[[nodiscard]] const std::vector<ManualSection>& manual_sections();

/// Name of a section in links to it: "Text replay" is "text-replay".
[[nodiscard]] QString section_link(const QString& title);

}  // namespace draftscope::gui

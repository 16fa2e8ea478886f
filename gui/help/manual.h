// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The manual as it is compiled in, and its sections.

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

/// The name that links to a section have: "Text replay" is "text-replay".
[[nodiscard]] QString section_link(const QString& title);

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The look of the whole app: the desktop's, or one in light or dark colours wherever it runs. In each of them
// text has at least a contrast of 4.5 to 1 against what it stands on (WCAG 2.1, level AA).

#include <QColor>
#include <QPalette>
#include <QString>
#include <vector>

namespace draftscope::gui {

enum class Appearance : std::uint8_t { system, light, dark };

/// Name in the settings: "system", "light", "dark".
[[nodiscard]] QString appearance_name(Appearance appearance);
/// The desktop's, for a name that is none of them.
[[nodiscard]] Appearance appearance_of(const QString& name);

/// Style and palette of all windows, those that are open too. The first call keeps what the desktop has.
void use_appearance(Appearance appearance);
/// The one of the last call.
[[nodiscard]] Appearance used_appearance();

/// Colours that text and what it stands on have together.
struct TextColors {
  QPalette::ColorRole text;
  QPalette::ColorRole back;
};
[[nodiscard]] const std::vector<TextColors>& text_colors();

/// A palette with the same backgrounds, whose texts are as far from them as they must be; but for what is
/// selected, which keeps its text on another background.
[[nodiscard]] QPalette legible(QPalette palette);

/// The colour, or the nearest to it that can be read as text on a background.
[[nodiscard]] QColor legible_on(const QColor& text, const QColor& back);

/// Colours of a palette for text that matters less than what stands beside it.
[[nodiscard]] QPalette quiet(QPalette palette);

}  // namespace draftscope::gui

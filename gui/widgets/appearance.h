// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The look of the whole app: the desktop's, or light or dark colours on any desktop. In each of them text has
// at least a contrast of 4.5 to 1 against its background (WCAG 2.1, level AA).

#include <QColor>
#include <QPalette>
#include <QString>
#include <vector>

namespace draftscope::gui {

enum class Appearance : std::uint8_t { system, light, dark };

/// Name in the settings: "system", "light", "dark".
[[nodiscard]] QString appearance_name(Appearance appearance);
/// Appearance with this name; `system` for an unknown name.
[[nodiscard]] Appearance appearance_of(const QString& name);

/// Sets style and palette of all windows, open ones included. The first call stores the desktop's.
void use_appearance(Appearance appearance);
/// Appearance of the last call of use_appearance().
[[nodiscard]] Appearance used_appearance();

/// Palette colours of a text and its background.
struct TextColors {
  QPalette::ColorRole text;
  QPalette::ColorRole back;
};
[[nodiscard]] const std::vector<TextColors>& text_colors();

/// Moves text colours of a palette away from their backgrounds until they can be read. For selected text the
/// background moves instead.
[[nodiscard]] QPalette legible(QPalette palette);

/// The colour, or the nearest one to it that is legible as text on the background.
[[nodiscard]] QColor legible_on(const QColor& text, const QColor& back);

/// A palette for text that matters less than its surroundings.
[[nodiscard]] QPalette quiet(QPalette palette);

}  // namespace draftscope::gui

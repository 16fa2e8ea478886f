// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QString>
#include <QWidget>
#include <algorithm>
#include <stdexcept>

namespace draftscope::gui {

/// The widget within `of` with this accessible name, or with these words on it, without their '&'.
template <typename Widget>
[[nodiscard]] Widget& named_widget(const QWidget& of, const char* words) {
  for (Widget* widget : of.findChildren<Widget*>()) {
    if (widget->accessibleName() == QString::fromUtf8(words)) return *widget;
    if constexpr (requires { widget->text(); })
      if (widget->text().remove(u'&') == QString::fromUtf8(words)) return *widget;
  }
  throw std::runtime_error(words);
}

/// Whether a visible label within `of` has these words.
[[nodiscard]] inline bool is_said(const QWidget& of, const char* words) {
  return std::ranges::any_of(of.findChildren<QLabel*>(), [&](const QLabel* label) {
    return label->isVisible() && label->text().contains(QString::fromUtf8(words));
  });
}

}  // namespace draftscope::gui

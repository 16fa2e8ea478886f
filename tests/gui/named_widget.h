// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>
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

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "elided_apart.h"

#include <algorithm>

namespace draftscope::gui {

QString elided_apart(const QString& name, const QStringList& others, const QFontMetrics& metrics, int width) {
  QString usual = metrics.elidedText(name, Qt::ElideMiddle, width);
  const qsizetype cut = usual.indexOf(u'…');
  if (usual == name || cut < 0) return usual;
  const qsizetype letters = usual.size() - 1;
  constexpr qsizetype wider_letters = 2;  // The letters of another cut may be wider.
  for (qsizetype left = letters; left >= std::max<qsizetype>(1, letters - wider_letters); --left)
    for (qsizetype step = 0; step <= 2 * left; ++step) {
      // At the usual cut, one letter before it, one after it, two before it …
      const qsizetype first = cut + (step % 2 == 0 ? step / 2 : -(step / 2) - 1);
      if (first < 0 || first > left) continue;
      const QString begin = name.left(first);
      const QString end = name.right(left - first);
      const bool is_told = std::ranges::none_of(others, [&](const QString& other) {
        return other != name && other.size() >= left && other.startsWith(begin) && other.endsWith(end);
      });
      if (is_told && metrics.horizontalAdvance(begin + u'…' + end) <= width) return begin + u'…' + end;
    }
  return usual;
}

}  // namespace draftscope::gui

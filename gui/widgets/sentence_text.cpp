// SPDX-License-Identifier: GPL-3.0-or-later
#include "sentence_text.h"

#include <QRegularExpression>

namespace draftscope::gui {

QString sentence_text(std::string_view sentence) {
  static const QRegularExpression times(QStringLiteral("(?<=\\d)x\\b"));
  static const QRegularExpression microseconds(QStringLiteral("(?<=\\d )us\\b"));
  static const QRegularExpression minus(QStringLiteral("(?<![^\\s(])-(?=\\d)"));
  return QString::fromUtf8(sentence.data(), static_cast<qsizetype>(sentence.size()))
      .replace(times, QStringLiteral("×"))
      .replace(microseconds, QStringLiteral("µs"))
      .replace(minus, QStringLiteral("−"));
}

}  // namespace draftscope::gui

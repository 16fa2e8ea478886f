// SPDX-License-Identifier: GPL-3.0-or-later
#include "time_text.h"

#include <draftscope/base/number_text.h>

#include <QLocale>
#include <QRegularExpression>
#include <array>
#include <cmath>

namespace draftscope::gui {

namespace {

struct Unit {
  double ns;
  const char* name;
};
constexpr std::array<Unit, 4> units{{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1.0, "ns"}}};

const Unit& unit_of(double ns) {
  for (const Unit& unit : units)
    if (std::abs(ns) >= unit.ns) return unit;
  return units.back();
}

}  // namespace

QString duration_text(std::int64_t ns) {
  return QString::fromStdString(draftscope::duration_text(static_cast<double>(ns), Characters::unicode));
}

QString tick_text(std::int64_t ns, std::int64_t step_ns) {
  // Use the step's unit, or the next larger one if at most three decimals result.
  const Unit* unit = &unit_of(static_cast<double>(step_ns));
  if (unit != units.data() && std::abs(static_cast<double>(ns)) >= 1000.0 * unit->ns) --unit;
  int decimals = 0;
  for (double step = static_cast<double>(step_ns) / unit->ns; step < 0.999 && decimals < 9; step *= 10.0)
    ++decimals;
  return QStringLiteral("%1 %2").arg(QLocale::c().toString(static_cast<double>(ns) / unit->ns, 'f', decimals),
                                     QString::fromUtf8(unit->name));
}

std::int64_t tick_step_ns(std::int64_t min_ns) {
  constexpr std::int64_t most = 1'000'000'000'000'000'000;
  for (std::int64_t power = 1; power < most; power *= 10)
    for (const std::int64_t factor : {1, 2, 5})
      if (factor * power >= min_ns) return factor * power;
  return most;
}

QString number_text(double value) {
  if (!std::isfinite(value)) return QStringLiteral("–");
  const QString magnitude = QString::fromStdString(draftscope::number_text(std::abs(value)));
  return value < 0.0 ? u'−' + magnitude : magnitude;
}

QString ratio_text(double value) {
  return std::isfinite(value) ? QString::fromStdString(draftscope::ratio_text(value, Characters::unicode))
                              : QStringLiteral("–");
}

QString percent_text(double share, int decimals) {
  return std::isfinite(share) ? QString::fromStdString(draftscope::percent_text(share, decimals))
                              : QStringLiteral("–");
}

QString speedup_text(double speedup) {
  return QString::fromStdString(draftscope::speedup_text(speedup, Characters::unicode));
}

QString range_text(double low, double high) {
  return QString::fromStdString(draftscope::range_text(low, high, Characters::unicode));
}

QString signed_text(double value, int decimals) {
  return QString::fromStdString(draftscope::signed_text(value, decimals, Characters::unicode));
}

QString counted(std::int64_t count, const QString& one, const QString& many) {
  return count == 1 ? one : many.arg(count);
}

QString visible_text(const std::string& text) {
  QString shown = QString::fromStdString(text);
  for (QChar& character : shown) {
    if (character == u'\n')
      character = u'⏎';
    else if (character == u'\t')
      character = u'⇥';
    else if (character.category() == QChar::Other_Control)
      character = QChar::ReplacementCharacter;
    else if (character.isSpace())
      character = u'·';
  }
  return shown;
}

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

// SPDX-License-Identifier: GPL-3.0-or-later
#include "time_text.h"

#include <fmt/format.h>

#include <QLocale>
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

/// Three significant digits, never fewer than all before the point.
QString three_digits(double value) {
  const double size = std::abs(value);
  const int decimals = size >= 100.0 ? 0 : size >= 10.0 ? 1 : 2;
  return QString::fromStdString(fmt::format("{:.{}f}", value, decimals));
}

}  // namespace

QString duration_text(std::int64_t ns) {
  const auto value = static_cast<double>(ns);
  const Unit& unit = unit_of(value);
  const QString number = unit.ns == 1.0 ? QString::number(ns) : three_digits(value / unit.ns);
  return number + u' ' + QString::fromUtf8(unit.name);
}

QString tick_text(std::int64_t ns, std::int64_t step_ns) {
  // The unit is the step's, or the next larger one if that leaves three decimals at most.
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
  const double size = std::abs(value);
  if (size >= 1e6 || (size > 0.0 && size < 1e-3)) return QLocale::c().toString(value, 'g', 3);
  return size >= 1000.0 ? QLocale::c().toString(value, 'f', 0) : three_digits(value);
}

QString ratio_text(double value) {
  constexpr double smallest_shown = 0.001;
  if (value == 0.0 || !(std::abs(value) < smallest_shown)) return number_text(value);
  return value > 0.0 ? QStringLiteral("< 0.001") : QStringLiteral("> −0.001");
}

QString percent_text(double share) {
  return std::isfinite(share) ? QStringLiteral("%1 %").arg(QLocale::c().toString(100.0 * share, 'f', 1))
                              : QStringLiteral("–");
}

QString counted(std::int64_t count, const QString& one, const QString& many) {
  return count == 1 ? one : many.arg(count);
}

QString visible_text(const std::string& text) {
  QString shown;
  for (const QChar character : QString::fromStdString(text)) {
    if (character == u'\n')
      shown += QStringLiteral("⏎");
    else if (character == u'\t')
      shown += QStringLiteral("⇥");
    else if (character == u' ')
      shown += QStringLiteral("·");
    else if (character.category() == QChar::Other_Control)
      shown += QStringLiteral("�");
    else
      shown += character;
  }
  return shown;
}

}  // namespace draftscope::gui

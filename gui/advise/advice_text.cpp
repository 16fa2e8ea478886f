// SPDX-License-Identifier: GPL-3.0-or-later
#include "advice_text.h"

#include <draftscope/simulator/answers/advice_text.h>

#include <QCoreApplication>
#include <algorithm>
#include <limits>

#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

using simulator::Verdict;

QString tr(const char* words) {
  return QCoreApplication::translate("AdviseView", words);
}

QString utf8(const std::string& text) {
  return QString::fromUtf8(text);
}

/// Joins sentences with semicolons.
QString joined(const std::vector<std::string>& lines) {
  QStringList words;
  for (const std::string& line : lines) words << sentence_text(line);
  return words.join(QStringLiteral("; "));
}

QString role_words(const ListedSetting& listed, const AdviceReport& report) {
  if (listed.is_outside)
    return listed.is_recorded ? tr("recorded, outside the choice") : tr("outside the choice");
  switch (listed.role) {
    case SettingRole::fastest:
      return report.advice.verdict == Verdict::speculate ? tr("advised") : tr("fastest");
    case SettingRole::runner_up:
      return tr("runner-up");
    case SettingRole::neighbour:
      return tr("neighbour %1").arg(utf8(simulator::change_text(listed.change, Characters::unicode)));
    case SettingRole::recorded:
      return tr("recorded");
    case SettingRole::best_of_kind:
      return tr("fastest of its kind");
    case SettingRole::close:
      break;
  }
  return tr("close");
}

}  // namespace

QString advice_sentence(const AdviceReport& report) {
  return sentence_text(advice_headline(report.advice));
}

std::vector<AdviceFact> advice_facts(const AdviceReport& report) {
  std::vector<AdviceFact> facts;
  for (const simulator::AdviceLine& line : advice_lines(report.advice, Characters::unicode)) {
    QString about = QString::fromUtf8(line.about);
    about.front() = about.front().toUpper();
    facts.push_back({about, sentence_text(line.words)});
  }
  const std::vector<std::string>& left_out = report.advice.left_out;
  if (!left_out.empty()) facts.push_back({tr("Left out"), joined(left_out)});
  return facts;
}

ChartTable settings_table(const AdviceReport& report) {
  ChartTable table{{tr("setting"), tr("what it is"), tr("speedup"), tr("95 % from"), tr("to"),
                    tr("on other prompts"), tr("M"), tr("α"), tr("rounds")},
                   {}};
  for (const ListedSetting& listed : report.settings) {
    const AskedSetting& asked = listed.asked;
    std::vector<QVariant>& row = table.rows.emplace_back();
    row = {utf8(asked.strategy), role_words(listed, report)};
    if (!asked.refusal.empty()) {
      row.resize(static_cast<std::size_t>(table.columns.size()));
      row.back() = sentence_text(asked.refusal);
      continue;
    }
    const bool is_judged = listed.role == SettingRole::fastest && report.advice.held_out.folds > 1;
    row.insert(row.end(), {asked.speedup, asked.interval_95 ? QVariant(asked.interval_95->low) : QVariant(),
                           asked.interval_95 ? QVariant(asked.interval_95->high) : QVariant(),
                           is_judged ? QVariant(report.advice.held_out.speedup.value) : QVariant(),
                           asked.mean_accepted_length, asked.acceptance_rate,
                           QString::fromUtf8(answer_status_name(asked.status))});
  }
  return table;
}

namespace {

QString said_of(const CurvePoint& point, const QString& parameter) {
  const AskedSetting& asked = point.asked;
  QString words = QStringLiteral("%1 %2: %3").arg(parameter).arg(point.at).arg(speedup_text(asked.speedup));
  if (asked.interval_95)
    words += tr(" (95 % %1)").arg(range_text(asked.interval_95->low, asked.interval_95->high));
  return words + tr("\nM %1, α %2\n%3")
                     .arg(asked.mean_accepted_length, 0, 'f', 2)
                     .arg(percent_text(asked.acceptance_rate), QString::fromUtf8(asked.strategy));
}

/// Axis on which a difference that nobody would see stays one.
ChartAxis axis_of(const QString& label, const std::vector<double>& values) {
  constexpr double min_span = 0.1;
  const auto [least, most] = std::ranges::minmax(values);
  if (most - least >= min_span) return {.label = label};
  const double middle = 0.5 * (least + most);
  return {.label = label, .low = middle - min_span, .high = middle + min_span};
}

/// The name with what the curve stands in for, and that it is flat.
QString name_of(const SettingCurve& curve, QString name) {
  if (!curve.stands_in_for.empty())
    name += tr(" – the fastest early exit, since %1 has nothing to vary")
                .arg(QString::fromUtf8(curve.stands_in_for));
  constexpr double visible = 0.005;
  const auto [least, most] = std::ranges::minmax_element(
      curve.points, {}, [](const CurvePoint& point) { return point.asked.speedup; });
  if (least != most && most->asked.speedup - least->asked.speedup < visible)
    name += tr(" – it changes nothing");
  return name;
}

Chart curve_chart(const SettingCurve& curve, const QString& name, const QString& parameter) {
  Chart chart{.name = name_of(curve, name), .x = {.label = parameter}};
  chart.table.columns =
      QStringList{parameter, tr("speedup"), tr("95 % from"), tr("to"), tr("M"), tr("α"), tr("strategy")};
  if (curve.points.empty()) return chart;
  ChartSeries speedup{.name = {}, .mark = ChartMark::line_with_points, .color = 1};
  ChartSeries length{.name = {}, .mark = ChartMark::line_with_points, .color = 2};
  ChartSeries rate{.name = {}, .mark = ChartMark::line_with_points, .color = 3};
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (const CurvePoint& point : curve.points) {
    const AskedSetting& asked = point.asked;
    const QString words = said_of(point, parameter);
    for (ChartSeries* series : {&speedup, &length, &rate}) {
      series->x.push_back(point.at);
      series->words << words;
    }
    speedup.y.push_back(asked.speedup);
    speedup.low.push_back(asked.interval_95 ? asked.interval_95->low : none);
    speedup.high.push_back(asked.interval_95 ? asked.interval_95->high : none);
    length.y.push_back(asked.mean_accepted_length);
    rate.y.push_back(asked.acceptance_rate);
    chart.table.rows.push_back(
        {point.at, asked.speedup, asked.interval_95 ? QVariant(asked.interval_95->low) : QVariant(),
         asked.interval_95 ? QVariant(asked.interval_95->high) : QVariant(), asked.mean_accepted_length,
         asked.acceptance_rate, QString::fromUtf8(asked.strategy)});
  }
  chart.panels = {{.y = {.label = tr("speedup")}, .series = {speedup}, .lines = {{.at = 1.0}}, .share = 3},
                  {.y = axis_of(tr("M"), length.y), .series = {length}, .share = 2},
                  {.y = {.label = tr("α"), .low = 0.0, .high = 1.05}, .series = {rate}, .share = 2}};
  return chart;
}

QString verification_words(const simulator::EarlyExitSetting& of) {
  return of.verified_layers == simulator::VerifiedLayers::above_exit ? tr("verified above the exit")
                                                                     : tr("verified by all layers");
}

}  // namespace

Chart threshold_chart(const SettingCurve& curve) {
  return curve_chart(curve,
                     tr("Speedup by threshold: exit %1, at most %2, %3")
                         .arg(curve.of.exit)
                         .arg(counted(curve.of.gamma, tr("1 draft token"), tr("%1 draft tokens")),
                              verification_words(curve.of)),
                     tr("confidence threshold"));
}

Chart length_chart(const SettingCurve& curve) {
  const QString stop = curve.of.threshold ? tr("threshold %1").arg(*curve.of.threshold) : tr("no threshold");
  Chart chart = curve_chart(curve,
                            tr("Speedup by draft length: exit %1, %2, %3")
                                .arg(curve.of.exit)
                                .arg(stop, verification_words(curve.of)),
                            tr("draft length γ"));
  chart.x.has_whole_numbers = true;
  return chart;
}

}  // namespace draftscope::gui

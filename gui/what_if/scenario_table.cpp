// SPDX-License-Identifier: GPL-3.0-or-later
#include "scenario_table.h"

#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/simulator/answers/answer_figures.h>

#include <QCoreApplication>
#include <algorithm>
#include <limits>

#include "models/numbers_model.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr double bytes_per_gb = 1e9;

QString scenario_tr(const char* words) {
  return QCoreApplication::translate("WhatIfView", words);
}

std::optional<double> end_of_interval(const std::optional<simulator::Interval>& interval, bool is_low) {
  return interval ? std::optional(is_low ? interval->low : interval->high) : std::nullopt;
}

/// A chart of speedups with a line at 1, to be filled row by row.
class SpeedupRows {
 public:
  explicit SpeedupRows(const QString& name) {
    chart_.name = name;
    chart_.x.label = scenario_tr("predicted speedup over vanilla decoding there");
    chart_.table.columns = QStringList{scenario_tr("name"), scenario_tr("speedup"), scenario_tr("95 % from"),
                                       scenario_tr("95 % to")};
  }
  void add(const QString& name, double speedup, const std::optional<simulator::Interval>& interval) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    series_.x.push_back(speedup);
    series_.y.push_back(static_cast<double>(names_.size()));
    series_.low.push_back(interval ? interval->low : none);
    series_.high.push_back(interval ? interval->high : none);
    series_.words << QStringLiteral("%1: %2").arg(name, speedup_text(speedup)) +
                         (interval ? scenario_tr(" (95 % %1)").arg(range_text(interval->low, interval->high))
                                   : QString());
    names_ << name;
    chart_.table.rows.push_back({name, speedup, variant_of(end_of_interval(interval, true)),
                                 variant_of(end_of_interval(interval, false))});
  }
  Chart take() {
    if (names_.isEmpty()) return std::move(chart_);
    ChartPanel panel{
        .y = {.names = names_}, .lines = {{.at = 1.0, .is_upright = true}}, .has_values_along_x = true};
    panel.series.push_back(std::move(series_));
    chart_.panels.push_back(std::move(panel));
    return std::move(chart_);
  }

 private:
  Chart chart_;
  ChartSeries series_;
  QStringList names_;
};

}  // namespace

ChartTable scenario_table(const std::vector<NamedAnswer>& answers) {
  ChartTable table{
      {scenario_tr("scenario"), scenario_tr("strategy"), scenario_tr("machine"), scenario_tr("speedup"),
       scenario_tr("95 % from"), scenario_tr("95 % to"), scenario_tr("tokens/s"), scenario_tr("M"),
       scenario_tr("α"), scenario_tr("rounds, or why not")},
      {}};
  for (const NamedAnswer& named : answers) {
    const WhatIfAnswer& answer = *named.answer;
    std::vector<QVariant>& row = table.rows.emplace_back();
    row.emplace_back(named.name);
    row.emplace_back(QString::fromUtf8(strategy_of(answer.question)));
    row.emplace_back(QString::fromUtf8(answer.machine.name));
    if (!answer.refusal.empty()) {
      row.resize(static_cast<std::size_t>(table.columns.size()));
      row.back() = sentence_text(answer.refusal);
      continue;
    }
    const auto interval = answer.prediction.speedup.interval_95();
    row.insert(row.end(), {answer.prediction.speedup.lower(), variant_of(end_of_interval(interval, true)),
                           variant_of(end_of_interval(interval, false)), answer.prediction.rate.lower(),
                           answer.prediction.mean_accepted_length, answer.prediction.acceptance_rate,
                           QString::fromUtf8(simulator::answer_status_name(answer.prediction.status))});
  }
  return table;
}

Chart scenario_chart(const std::vector<NamedAnswer>& answers) {
  SpeedupRows rows(scenario_tr("Scenarios side by side"));
  for (const NamedAnswer& named : answers)
    if (named.answer->refusal.empty())
      rows.add(QStringLiteral("%1: %2, %3")
                   .arg(named.name, QString::fromUtf8(named.answer->prediction.strategy),
                        QString::fromUtf8(named.answer->machine.name)),
               named.answer->prediction.speedup.lower(), named.answer->prediction.speedup.interval_95());
  return rows.take();
}

ChartTable gpus_table(const std::vector<GpuAnswer>& answers) {
  ChartTable table{
      {scenario_tr("GPU"), scenario_tr("speedup"), scenario_tr("95 % from"), scenario_tr("95 % to"),
       scenario_tr("tokens/s"), scenario_tr("vanilla tokens/s"), scenario_tr("fits"),
       scenario_tr("GB needed"), scenario_tr("GB usable"), scenario_tr("why not")},
      {}};
  const auto gb = [](const std::optional<double>& bytes) {
    return bytes ? QVariant(*bytes / bytes_per_gb) : QVariant();
  };
  for (const GpuAnswer& answer : answers) {
    const bool is_there = answer.refusal.empty();
    const auto fits = answer.fits();
    table.rows.push_back({QString::fromUtf8(answer.gpu), is_there ? QVariant(answer.speedup) : QVariant(),
                          variant_of(end_of_interval(answer.interval_95, true)),
                          variant_of(end_of_interval(answer.interval_95, false)),
                          is_there ? QVariant(answer.tokens_per_second) : QVariant(),
                          is_there ? QVariant(answer.vanilla_tokens_per_second) : QVariant(),
                          !fits ? QVariant() : QVariant(*fits ? scenario_tr("yes") : scenario_tr("no")),
                          gb(answer.needed_bytes), gb(answer.usable_bytes), sentence_text(answer.refusal)});
  }
  return table;
}

Chart gpus_chart(const std::vector<GpuAnswer>& answers) {
  SpeedupRows rows(scenario_tr("All GPUs by speedup"));
  for (const GpuAnswer& answer : answers)
    if (answer.refusal.empty()) rows.add(QString::fromUtf8(answer.gpu), answer.speedup, answer.interval_95);
  return rows.take();
}

}  // namespace draftscope::gui

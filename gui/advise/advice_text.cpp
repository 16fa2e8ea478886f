// SPDX-License-Identifier: GPL-3.0-or-later
#include "advice_text.h"

#include <QCoreApplication>
#include <algorithm>

#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

using simulator::Advice;
using simulator::Verdict;

QString tr(const char* words) {
  return QCoreApplication::translate("AdviseView", words);
}

QString utf8(const std::string& text) {
  return QString::fromUtf8(text);
}

QString factor(double value) {
  return QStringLiteral("%1×").arg(value, 0, 'f', 2);
}

QString range_of(const std::optional<simulator::Interval>& interval) {
  return interval ? tr("95 % %1–%2").arg(interval->low, 0, 'f', 2).arg(interval->high, 0, 'f', 2)
                  : tr("no interval");
}

QString signed_percent(double share) {
  return QStringLiteral("%1%2 %")
      .arg(share < 0.0 ? QStringLiteral("−") : QStringLiteral("+"))
      .arg(std::abs(100.0 * share), 0, 'f', 1);
}

QString gain_of(const Advice& advice) {
  QString words = tr("%1 vanilla's speed (%2").arg(factor(advice.speedup), range_of(advice.interval_95));
  if (advice.held_out.folds > 1)
    words += tr("; chosen on some prompts and judged on others %1, %2")
                 .arg(factor(advice.held_out.speedup.value), range_of(advice.held_out.speedup.interval_95));
  return words + u')';
}

QString runner_up_words(const Advice& advice) {
  if (!advice.runner_up) return tr("none of another kind");
  const simulator::RatioEstimate& lead = advice.runner_up->lead;
  return tr("%1: %2; it takes %3 times as long (%4)")
      .arg(utf8(advice.runner_up->strategy), factor(advice.runner_up->speedup))
      .arg(lead.value, 0, 'f', 3)
      .arg(range_of(lead.interval_95));
}

QString break_even_words(const Advice& advice) {
  if (!advice.break_even) return tr("none: it takes no draft step");
  const simulator::BreakEven& even = *advice.break_even;
  QString words = tr("pays from M %1 on (here %2), %3 of what is drafted accepted (here %4)")
                      .arg(even.mean_accepted_length, 0, 'f', 2)
                      .arg(advice.answer.mean_accepted_length, 0, 'f', 2)
                      .arg(percent_text(even.acceptance_rate), percent_text(advice.answer.acceptance_rate));
  if (even.alpha) words += tr("; iid α %1").arg(*even.alpha, 0, 'f', 3);
  return words;
}

QString neighbours_words(const Advice& advice) {
  QStringList words;
  for (const simulator::Neighbour& neighbour : advice.neighbours)
    words << QStringLiteral("%1 %2").arg(
        utf8(neighbour.change).replace(QStringLiteral("gamma"), QStringLiteral("γ")),
        signed_percent(neighbour.relative));
  return words.isEmpty() ? tr("none: it is no early exit") : words.join(QStringLiteral(", "));
}

QString batch_words(const Advice& advice) {
  const simulator::BatchLimit& batch = advice.batch;
  const QString words = batch.last < 1 ? tr("speculation pays at no batch")
                        : batch.last >= batch.searched
                            ? tr("speculation pays at every batch up to %1").arg(batch.searched)
                            : tr("speculation pays up to batch %1").arg(batch.last);
  return words + (batch.is_extrapolated ? tr(" (extrapolated from the recorded rows)") : QString());
}

QString context_words(const Advice& advice) {
  const simulator::ContextLimit& context = advice.context;
  if (!context.more_rows)
    return tr("the same up to %1 rows more (acceptance taken to be as recorded)").arg(context.searched);
  return tr("from %1 rows more on %2 is faster, by %3%4")
      .arg(*context.more_rows)
      .arg(utf8(context.strategy), percent_text(context.gain),
           context.is_extrapolated ? tr(" (extrapolated)") : QString());
}

QString sure_words(const Advice& advice) {
  QString words = tr("rounds %1 and %2, times modelled; %3 candidates, %4 prompts")
                      .arg(QString::fromUtf8(round_source_name(advice.answer.source)),
                           QString::fromUtf8(answer_status_name(advice.answer.status)))
                      .arg(advice.considered)
                      .arg(advice.answer.speedup.min_drafted.total.clusters);
  if (const auto& ties = advice.near_ties)
    words += tr("; near ties at %1 of %2 positions, %3–%4 however they fall")
                 .arg(ties->at_risk)
                 .arg(ties->positions)
                 .arg(factor(std::min(ties->rejected, ties->accepted)),
                      factor(std::max(ties->rejected, ties->accepted)));
  return words;
}

QString limits_words(const Advice& advice) {
  if (!advice.gaps) return tr("not known without shadow tokens");
  QStringList words;
  for (const simulator::NamedGap& gap : simulator::named_gaps(*advice.gaps))
    words << tr("%1 gap %2").arg(QString::fromUtf8(gap.name)).arg(gap.figure.value, 0, 'f', 2);
  return words.join(QStringLiteral(", ")) + tr(" (in speedup; the waterfall of What if says more)");
}

QString joined(const std::vector<std::string>& lines, const QString& none) {
  QStringList words;
  for (const std::string& line : lines) words << utf8(line);
  return words.isEmpty() ? none : words.join(QStringLiteral("; "));
}

/// "as recorded batch 4" is how tables name it.
QString machine_words(const std::string& name) {
  constexpr std::string_view recorded = "as recorded";
  return name.starts_with(recorded) ? tr("the recorded machine") + utf8(name.substr(recorded.size()))
                                    : utf8(name);
}

QString role_words(const ListedSetting& listed, const AdviceReport& report) {
  switch (listed.role) {
    case SettingRole::fastest:
      return report.advice.verdict == Verdict::speculate ? tr("advised") : tr("fastest");
    case SettingRole::runner_up:
      return tr("runner-up");
    case SettingRole::neighbour:
      return tr("neighbour %1")
          .arg(utf8(listed.change).replace(QStringLiteral("gamma"), QStringLiteral("γ")));
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
  const Advice& advice = report.advice;
  const QString there = advice.exit_there ? tr(" (exit %1 there)").arg(*advice.exit_there) : QString();
  switch (advice.verdict) {
    case Verdict::speculate:
      return tr("On %1 set %2%3: %4.")
          .arg(machine_words(advice.machine), utf8(advice.strategy), there, gain_of(advice));
    case Verdict::measure_first:
      return tr("On %1 measure first: %2. The fastest is %3%4, %5.")
          .arg(machine_words(advice.machine), utf8(advice.reason), utf8(advice.fastest), there,
               gain_of(advice));
    case Verdict::do_not_speculate:
      break;
  }
  return tr("On %1 do not speculate: %2.").arg(machine_words(advice.machine), utf8(advice.reason));
}

std::vector<AdviceFact> advice_facts(const AdviceReport& report) {
  const Advice& advice = report.advice;
  std::vector<AdviceFact> facts{{tr("Runner-up"), runner_up_words(advice)},
                                {tr("Neighbours"), neighbours_words(advice)},
                                {tr("Batch"), batch_words(advice)},
                                {tr("Break-even"), break_even_words(advice)},
                                {tr("Context"), context_words(advice)},
                                {tr("Sure"), sure_words(advice)},
                                {tr("Limits"), limits_words(advice)},
                                {tr("Record"), joined(advice.to_record, tr("nothing that would tell more"))}};
  if (!advice.left_out.empty()) facts.push_back({tr("Left out"), joined(advice.left_out, {})});
  return facts;
}

ChartTable settings_table(const AdviceReport& report) {
  ChartTable table{
      {tr("setting"), tr("what it is"), tr("speedup"), tr("95 % from"), tr("to"), tr("on other prompts"),
       tr("speed against the fastest, %"), tr("M"), tr("α"), tr("rounds")},
      {}};
  for (const ListedSetting& listed : report.settings) {
    const AskedSetting& asked = listed.asked;
    std::vector<QVariant>& row = table.rows.emplace_back();
    row = {utf8(asked.strategy), role_words(listed, report)};
    if (!asked.refusal.empty()) {
      row.resize(static_cast<std::size_t>(table.columns.size()));
      row.back() = utf8(asked.refusal);
      continue;
    }
    const bool is_judged = listed.role == SettingRole::fastest && report.advice.held_out.folds > 1;
    row.insert(row.end(), {asked.speedup, asked.interval_95 ? QVariant(asked.interval_95->low) : QVariant(),
                           asked.interval_95 ? QVariant(asked.interval_95->high) : QVariant(),
                           is_judged ? QVariant(report.advice.held_out.speedup.value) : QVariant(),
                           100.0 * listed.relative, asked.mean_accepted_length, asked.acceptance_rate,
                           QString::fromUtf8(answer_status_name(asked.status))});
  }
  return table;
}

}  // namespace draftscope::gui

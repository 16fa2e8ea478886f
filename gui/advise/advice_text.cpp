// SPDX-License-Identifier: GPL-3.0-or-later
#include "advice_text.h"

#include <draftscope/simulator/answers/advice_text.h>

#include <QCoreApplication>
#include "widgets/sentence_text.h"
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

}  // namespace draftscope::gui

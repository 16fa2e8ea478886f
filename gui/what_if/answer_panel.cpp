// SPDX-License-Identifier: GPL-3.0-or-later
#include "answer_panel.h"

#include <draftscope/simulator/answers/advice_text.h>

#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QTableView>
#include <QTextBlock>
#include <QVBoxLayout>

#include "charts/table_file.h"
#include "what_if/answer_bars.h"
#include "widgets/table_cells.h"
#include "widgets/table_columns.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

using simulator::Interval;

NumbersModel::Row row(const QString& name, std::optional<double> value,
                      const std::optional<Interval>& of_95) {
  return {name, variant_of(value), of_95 ? QVariant(of_95->low) : QVariant(),
          of_95 ? QVariant(of_95->high) : QVariant()};
}

std::vector<NumbersModel::Row> rows_of(const WhatIfAnswer& answer) {
  const simulator::Answer& prediction = answer.prediction;
  const simulator::PredictedRatio& speedup = prediction.speedup;
  const auto plain = [](const QString& name, std::optional<double> value) {
    return row(name, value, std::nullopt);
  };
  std::vector<NumbersModel::Row> rows;
  rows.push_back(row(AnswerPanel::tr("tokens/s"), answer.prediction.rate.min_drafted.value,
                     answer.prediction.rate.interval_95()));
  if (answer.prediction.rate.max_drafted)
    rows.push_back(plain(AnswerPanel::tr("tokens/s with the most draft tokens"),
                         answer.prediction.rate.max_drafted->value));
  rows.push_back(row(AnswerPanel::tr("speedup"), speedup.min_drafted.value, speedup.interval_95()));
  if (speedup.max_drafted)
    rows.push_back(plain(AnswerPanel::tr("speedup with the most draft tokens"), speedup.max_drafted->value));
  rows.push_back(plain(AnswerPanel::tr("vanilla tokens/s"), prediction.vanilla_tokens_per_second));
  rows.push_back(plain(AnswerPanel::tr("mean accepted length M"), prediction.mean_accepted_length));
  rows.push_back(plain(AnswerPanel::tr("acceptance rate α"), prediction.acceptance_rate));
  rows.push_back(plain(AnswerPanel::tr("draft steps per round"), prediction.steps_per_round));
  rows.push_back(plain(AnswerPanel::tr("draft-cost coefficient c"), prediction.c));
  rows.push_back(plain(AnswerPanel::tr("verification v"), prediction.v));
  rows.push_back(plain(AnswerPanel::tr("overhead o"), prediction.o));
  const auto& even = answer.break_even;
  rows.push_back(plain(AnswerPanel::tr("break-even M"),
                       even ? std::optional(even->mean_accepted_length) : std::nullopt));
  rows.push_back(plain(AnswerPanel::tr("break-even acceptance rate"),
                       even ? std::optional(even->acceptance_rate) : std::nullopt));
  rows.push_back(plain(AnswerPanel::tr("break-even iid α"), even ? even->alpha : std::nullopt));
  return rows;
}

QString break_even_line(const WhatIfAnswer& answer) {
  return AnswerPanel::tr("Break-even: %1")
      .arg(QString::fromStdString(simulator::break_even_text(answer.break_even, answer.prediction)));
}

/// Writes lines, of which a slider's step changes a few: only those are laid out and painted again.
void write_lines(const QStringList& lines, QPlainTextEdit& into) {
  const QTextDocument& document = *into.document();
  if (document.blockCount() != lines.size()) return into.setPlainText(lines.join(u'\n'));
  for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
    const QString& line = lines[block.blockNumber()];
    if (block.text() == line) continue;
    QTextCursor cursor(block);
    cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
    cursor.insertText(line);
  }
}

}  // namespace

AnswerPanel::AnswerPanel(QWidget* parent)
    : QWidget(parent),
      standing_(new QLabel),
      beside_(new QLabel),
      bars_(new AnswerBars),
      table_(new QTableView),
      notes_(new QPlainTextEdit) {
  setAccessibleName(tr("Answer"));
  standing_->setWordWrap(true);
  standing_->setAccessibleName(tr("What is asked, and how much the answer can be trusted"));
  standing_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  beside_->setWordWrap(true);
  beside_->setAccessibleName(tr("What was measured beside the prediction"));
  beside_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  bars_->setAccessibleName(tr("Tokens a second and speedup with error bars"));
  table_->setModel(&numbers_);
  keep_numbers_in_sight(*table_);
  table_->setItemDelegate(new TextCell(table_));
  table_->setAccessibleName(tr("Figures of the answer"));
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(20);
  table_->setAlternatingRowColors(true);
  offer_copying(*table_);
  notes_->setReadOnly(true);
  notes_->setUndoRedoEnabled(false);
  notes_->setAccessibleName(tr("What the answer rests on"));
  auto* lower = new QHBoxLayout;
  lower->addWidget(table_, 3);
  lower->addWidget(notes_, 2);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(standing_);
  layout->addWidget(bars_);
  layout->addWidget(beside_);
  layout->addLayout(lower, 1);
}

QString AnswerPanel::message() const {
  return bars_->message();
}

void AnswerPanel::forget() {
  bars_->forget_axes();
}

QString AnswerPanel::beside_text() const {
  return beside_->text();
}

void AnswerPanel::set_message(const QString& words) {
  beside_->clear();
  beside_->hide();
  standing_->setText({});
  standing_->setVisible(false);
  bars_->set_message(words);
  bars_->set_stale(false);
  numbers_.set_numbers({}, {});
  notes_->clear();
  table_->setVisible(false);
  notes_->setVisible(false);
}

void AnswerPanel::set_stale(bool is_stale) {
  bars_->set_stale(is_stale);
}

void AnswerPanel::set_answer(const std::shared_ptr<const WhatIfAnswer>& answer,
                             const std::string& command_line) {
  if (!answer->refusal.empty()) {
    const bool is_choice_missing = answer->what_if == nullptr;
    set_message((is_choice_missing ? tr("No answer yet: %1") : tr("No answer: %1"))
                    .arg(sentence_text(answer->refusal)));
    return;
  }
  standing_->setVisible(true);
  table_->setVisible(true);
  notes_->setVisible(true);
  standing_->setText(tr("%1; machine: %2; %3. %4")
                         .arg(QString::fromUtf8(answer->prediction.strategy),
                              QString::fromUtf8(answer->machine.name), QString::fromUtf8(standing(*answer)),
                              break_even_line(*answer)));
  bars_->set_answer(answer);
  beside_->setVisible(answer->beside.has_value());
  beside_->setText(answer->beside ? QString::fromUtf8(beside_line(*answer->beside, Characters::unicode))
                                  : QString());
  bars_->set_stale(false);
  numbers_.set_numbers({tr("figure"), tr("value"), tr("95 % from"), tr("to")}, rows_of(*answer));
  hide_columns_without_values(*table_);
  QStringList lines;
  for (const std::string& note : notes_of(*answer)) lines << sentence_text(note);
  lines << tr("the same from a terminal: %1").arg(QString::fromUtf8(command_line));
  write_lines(lines, *notes_);
}

}  // namespace draftscope::gui

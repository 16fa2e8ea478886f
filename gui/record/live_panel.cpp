// SPDX-License-Identifier: GPL-3.0-or-later
#include "live_panel.h"

#include <QHeaderView>
#include <QScrollBar>
#include <QSplitter>
#include <QTextCursor>
#include <QVBoxLayout>

#include "charts/table_file.h"
#include "widgets/habits.h"
#include "widgets/table_columns.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int max_log_lines = 1000;
constexpr qsizetype max_prompt = 300;

/// Number of prompts in the interval, or how many are still missing for one.
QString prompts_text(const simulator::Speedup& speedup) {
  return speedup.interval ? QString::number(speedup.prompts)
                          : LivePanel::tr("%1 of %2 for an interval")
                                .arg(speedup.prompts)
                                .arg(simulator::min_prompts_for_interval);
}

NumbersModel::Row row_of(const LiveRun& run) {
  QVariant speedup = run.is_baseline ? QVariant(LivePanel::tr("baseline")) : QVariant();
  QVariant interval;
  QVariant prompts;
  if (!run.is_baseline && run.speedup) {
    speedup = speedup_text(run.speedup->value);
    if (run.speedup->interval) interval = range_text(run.speedup->interval->low, run.speedup->interval->high);
    prompts = prompts_text(*run.speedup);
  }
  return {QString::fromStdString(run.specification),
          QString::number(run.requests),
          variant_of(run.tokens_per_second),
          speedup,
          interval,
          prompts,
          run.acceptance_rate ? QVariant(percent_text(*run.acceptance_rate)) : QVariant(),
          variant_of(run.mean_accepted_length)};
}

QString clock_text(qint64 ms) {
  const qint64 seconds = ms / 1000;
  return QStringLiteral("%1:%2").arg(seconds / 60).arg(seconds % 60, 2, 10, QChar(u'0'));
}

}  // namespace

LivePanel::LivePanel(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("The recording"));
  headline_->setWordWrap(true);
  progress_->setAccessibleName(tr("Requests recorded"));
  request_->setTextFormat(Qt::PlainText);
  text_->setReadOnly(true);
  text_->setAccessibleName(tr("Text of the request at hand"));
  log_->setReadOnly(true);
  log_->setMaximumBlockCount(max_log_lines);
  log_->setAccessibleName(tr("What the recorder says"));
  log_->setPlaceholderText(tr("What the recorder says"));
  runs_->setModel(&numbers_);
  keep_numbers_in_sight(*runs_);
  runs_->setAccessibleName(tr("Runs so far"));
  runs_->verticalHeader()->hide();
  runs_->setAlternatingRowColors(true);
  offer_copying(*runs_);
  auto* at_hand = new QWidget;
  auto* words = new QVBoxLayout(at_hand);
  words->setContentsMargins(0, 0, 0, 0);
  words->addWidget(request_);
  words->addWidget(text_, 1);
  auto* splitter = new QSplitter(Qt::Vertical);
  splitter->addWidget(runs_);
  splitter->addWidget(at_hand);
  splitter->addWidget(log_);
  splitter->setSizes({400, 170, 70});
  splitter->setStretchFactor(0, 6);
  splitter->setStretchFactor(1, 4);
  splitter->setStretchFactor(2, 2);
  auto* first = new QHBoxLayout;
  first->addWidget(headline_, 1);
  first->addWidget(open_);
  first->addWidget(back_);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addLayout(first);
  column->addWidget(progress_);
  column->addWidget(problem_);
  column->addWidget(splitter, 1);
  when_recoloured(*this, [this] {
    if (figures_.at_hand) show_text();
  });
  connect(open_, &QPushButton::clicked, this, &LivePanel::open_requested);
  connect(back_, &QPushButton::clicked, this, &LivePanel::left);
}

void LivePanel::begin(std::int64_t requests) {
  planned_ = requests;
  figures_ = {};
  is_running_ = true;
  since_begin_.start();
  since_first_.invalidate();
  show_runs();
  log_->clear();
  problem_->set_problem({});
  open_->hide();
  back_->hide();
  progress_->setRange(0, 0);
  progress_->show();
  state_ = tr("Opening the model and warming up");
  show_progress();
  show_text();
}

void LivePanel::show_figures(const LiveFigures& figures) {
  figures_ = figures;
  if (!since_first_.isValid() && figures.requests > 0) {
    since_first_.start();
    first_requests_ = figures.requests;
  }
  show_runs();
  show_progress();
  show_text();
}

void LivePanel::show_runs() {
  std::vector<NumbersModel::Row> rows;
  rows.reserve(figures_.runs.size());
  for (const LiveRun& run : figures_.runs) rows.push_back(row_of(run));
  numbers_.set_numbers({tr("run"), tr("requests"), tr("tokens/s"), tr("speedup"), tr("95 %"), tr("prompts"),
                        tr("acceptance"), tr("M")},
                       std::move(rows));
}

void LivePanel::show_state(const QString& words) {
  state_ = words;
  show_progress();
}

void LivePanel::show_progress() {
  if (!is_running_) return;
  if (figures_.rounds > 0 && planned_ > 0) {
    // A plan may have more requests than a progress bar can count.
    constexpr int thousandths = 1000;
    progress_->setRange(0, thousandths);
    progress_->setValue(static_cast<int>(thousandths * figures_.requests / planned_));
  }
  QStringList parts{state_};
  if (figures_.rounds > 0)
    parts << tr("%1 of %2 requests").arg(figures_.requests).arg(planned_)
          << counted(figures_.rounds, tr("1 round"), tr("%1 rounds"));
  parts << clock_text(since_begin_.elapsed());
  const std::int64_t since = figures_.requests - first_requests_;
  if (since_first_.isValid() && since > 0 && planned_ > figures_.requests)
    parts << tr("about %1 left")
                 .arg(clock_text(since_first_.elapsed() * (planned_ - figures_.requests) / since));
  headline_->setText(parts.join(QStringLiteral(" · ")));
}

void LivePanel::show_text() {
  if (!figures_.at_hand) {
    request_->setText(is_running_ ? tr("Between two requests") : QString());
    if (!is_running_ || figures_.rounds == 0) text_->clear();
    return;
  }
  const LiveText& at_hand = *figures_.at_hand;
  request_->setText(tr("%1 · question %2 %3 · repeat %4")
                        .arg(QString::fromStdString(at_hand.specification))
                        .arg(at_hand.question_id)
                        .arg(QString::fromStdString(at_hand.category))
                        .arg(at_hand.repeat));
  const bool dark = is_dark(palette());
  text_->clear();
  QTextCursor cursor = text_->textCursor();
  QTextCharFormat quiet;
  quiet.setForeground(untested_color(dark));
  const QString prompt = QString::fromStdString(at_hand.prompt);
  cursor.insertText(prompt.size() > max_prompt ? u'…' + prompt.right(max_prompt) : prompt, quiet);
  for (const LiveToken& token : at_hand.tokens) {
    QTextCharFormat format;
    format.setBackground(origin_color(token.origin, dark));
    cursor.insertText(token.text.empty() ? QStringLiteral("▯") : QString::fromStdString(token.text), format);
  }
  text_->verticalScrollBar()->setValue(text_->verticalScrollBar()->maximum());
}

void LivePanel::end(const QString& words, const QString& problem, bool can_open) {
  is_running_ = false;
  progress_->hide();
  headline_->setText(words);
  problem_->set_problem(problem);
  open_->setVisible(can_open);
  back_->show();
  figures_.at_hand.reset();
  request_->clear();
}

}  // namespace draftscope::gui

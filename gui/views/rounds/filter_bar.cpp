// SPDX-License-Identifier: GPL-3.0-or-later
#include "filter_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "data/rounds/matching_rounds.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

QString field_list() {
  QStringList lines;
  for (const FilterField& field : filter_fields())
    lines << QStringLiteral("%1 – %2").arg(QString::fromUtf8(field.name.data()),
                                           QString::fromUtf8(field.explanation.data()));
  return lines.join(u'\n');
}

}  // namespace

FilterBar::FilterBar(ViewState& state, QWidget* parent) : QWidget(parent), state_(state) {
  setAccessibleName(tr("Filter of rounds"));
  lay_out();
  connect(line_, &QLineEdit::textChanged, this, &FilterBar::parse);
  connect(&state_, &ViewState::recording_changed, this, &FilterBar::apply);
  connect(&state_, &ViewState::run_changed, this, &FilterBar::show_counts);
  hide();
}

void FilterBar::lay_out() {
  line_->setAccessibleName(tr("Filter rounds"));
  line_->setPlaceholderText(
      tr("Filter rounds: category:prose accepted=0 time>3ms token:\"the\" !stop=length"));
  line_->setToolTip(tr("Terms that must all hold; ! turns one round.\nFields:\n%1").arg(field_list()));
  line_->setClearButtonEnabled(true);
  count_->setAccessibleName(tr("Rounds that are left"));
  problem_->setAccessibleName(tr("What is wrong with the filter"));
  problem_->setTextFormat(Qt::PlainText);
  problem_->setWordWrap(true);
  problem_->hide();
  auto* close = new QToolButton;
  close->setText(tr("End"));
  close->setToolTip(tr("Show all rounds again (Esc)"));
  close->setFocusPolicy(Qt::StrongFocus);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(line_, 1);
  row->addWidget(count_);
  row->addWidget(close);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4, 2, 4, 2);
  column->setSpacing(2);
  column->addLayout(row);
  column->addWidget(problem_);
  connect(close, &QToolButton::clicked, this, &FilterBar::end);
}

void FilterBar::begin() {
  show();
  line_->setFocus();
  line_->selectAll();
  show_counts();
}

void FilterBar::end() {
  line_->clear();
  hide();
  emit ended();
}

void FilterBar::set_words(const QString& words) {
  show();
  line_->setText(words);
}

void FilterBar::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Escape) return QWidget::keyPressEvent(event);
  end();
  event->accept();
}

void FilterBar::parse() {
  const Result<RoundFilter> filter = parse_filter(line_->text().toStdString());
  problem_->setVisible(!filter);
  if (!filter) {
    problem_->setText(QString::fromStdString(filter.error().message));
    emit settled();
    return;
  }
  problem_->clear();
  if (*filter == filter_) {
    emit settled();
    return;
  }
  filter_ = *filter;
  apply();
}

void FilterBar::apply() {
  job_.cancel();
  const RecordingPointer& recording = state_.recording();
  if (filter_.terms.empty() || !recording || !recording->has_rows()) {
    state_.set_filtered(nullptr);
    show_counts();
    emit settled();
    return;
  }
  job_.start(read_and_take(
      [recording, filter = filter_](const auto& should_continue) {
        return recording->filtered(matching_rounds(*recording, filter, should_continue));
      },
      [this](const RecordingPointer& left) {
        state_.set_filtered(left);
        go_to_left_round();
        show_counts();
        emit settled();
      }));
}

void FilterBar::go_to_left_round() {
  const RunRounds* run = state_.shown_rounds();
  if (run == nullptr || run->rounds.empty()) return;
  if (std::ranges::find(run->rounds, state_.cursor().round_index) != run->rounds.end()) return;
  state_.put_cursor_on_round(run->rounds.front());
  emit went_to(run->rounds.front());
}

void FilterBar::show_counts() {
  const RunRounds* run = state_.run_rounds();
  if (isHidden() || run == nullptr || !state_.recording()->has_rows()) return;
  const std::size_t left = state_.shown_rounds()->rounds.size();
  const std::size_t all = run->rounds.size();
  count_->setText(
      tr("%1 of %2 rounds (%3)")
          .arg(left)
          .arg(all)
          .arg(percent_text(all == 0 ? 0.0 : static_cast<double>(left) / static_cast<double>(all))));
}

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "filter_bar.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QStringListModel>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "data/rounds/filter_histogram.h"
#include "data/rounds/matching_rounds.h"
#include "views/rounds/histogram_bars.h"
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

FilterBar::FilterBar(ViewState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      line_(new QLineEdit),
      count_(new QLabel),
      problem_(new QLabel),
      bars_(new HistogramBars) {
  setAccessibleName(tr("Filter of rounds"));
  lay_out();
  offer_fields();
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
  row->addWidget(bars_);
  row->addWidget(close);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4, 2, 4, 2);
  column->setSpacing(2);
  column->addLayout(row);
  column->addWidget(problem_);
  connect(close, &QToolButton::clicked, this, &FilterBar::end);
}

void FilterBar::offer_fields() {
  QStringList names;
  for (const FilterField& field : filter_fields()) {
    const bool is_text = field.kind == FilterKind::text || field.kind == FilterKind::tokens;
    names << QString::fromUtf8(field.name.data()) + (is_text ? u':' : u'=');
  }
  auto* completer = new QCompleter(names, this);
  completer->setWidget(line_);
  completer->setCaseSensitivity(Qt::CaseInsensitive);
  const auto begin_of_word = [this] {
    const QString before = line_->text().left(line_->cursorPosition());
    const auto begin = static_cast<int>(before.lastIndexOf(u' ')) + 1;
    return begin < before.size() && before[begin] == u'!' ? begin + 1 : begin;
  };
  connect(line_, &QLineEdit::textEdited, completer, [this, completer, begin_of_word] {
    const int begin = begin_of_word();
    const QString word = line_->text().mid(begin, line_->cursorPosition() - begin);
    completer->setCompletionPrefix(word);
    if (word.isEmpty() || completer->completionCount() == 0)
      completer->popup()->hide();
    else
      completer->complete();
  });
  connect(completer, qOverload<const QString&>(&QCompleter::activated), this,
          [this, begin_of_word](const QString& name) {
            const int begin = begin_of_word();
            line_->setText(line_->text().left(begin) + name + line_->text().mid(line_->cursorPosition()));
            line_->setCursorPosition(begin + static_cast<int>(name.size()));
          });
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
  keeps_.reset();
  const RecordingPointer& recording = state_.recording();
  if (filter_.terms.empty() || !recording || !recording->has_rows()) {
    state_.set_filtered(nullptr);
    show_counts();
    emit settled();
    return;
  }
  struct Matching {
    std::vector<bool> keeps;
    RecordingPointer left;
  };
  job_.start(read_and_take(
      [recording, filter = filter_](const auto& should_continue) {
        Matching matching{matching_rounds(*recording, filter, should_continue), nullptr};
        matching.left = recording->filtered(matching.keeps);
        return matching;
      },
      [this](Matching matching) { take(std::move(matching.keeps), matching.left); }));
}

void FilterBar::take(std::vector<bool> keeps, const RecordingPointer& left) {
  keeps_ = std::make_shared<const std::vector<bool>>(std::move(keeps));
  state_.set_filtered(left);
  show_counts();
  emit settled();
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
  bars_->show_histogram(filter_histogram(
      *state_.recording(), state_.run(), filter_,
      keeps_ ? *keeps_ : std::vector<bool>(state_.recording()->recording().rounds.size(), true)));
}

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpus_pane.h"

#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>

#include "charts/chart_pane.h"
#include "charts/chart_plot.h"
#include "charts/table_file.h"
#include "widgets/habits.h"
#include "widgets/table_columns.h"

namespace draftscope::gui {

GpusPane::GpusPane(QWidget* parent)
    : QWidget(parent),
      sorted_(new QSortFilterProxyModel(this)),
      words_(new QLabel),
      table_(new QTableView),
      chart_(new ChartPane(tr("All GPUs by speedup"))) {
  setAccessibleName(tr("What if: all GPUs"));
  words_->setAccessibleName(tr("Which GPUs have an answer"));
  words_->setWordWrap(true);
  sorted_->setSourceModel(&numbers_);
  sorted_->setSortRole(Qt::UserRole);
  table_->setModel(sorted_);
  keep_numbers_in_sight(*table_);
  table_->setSortingEnabled(true);
  table_->setAccessibleName(tr("All GPUs; Return chooses one"));
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 6);
  table_->setAlternatingRowColors(true);
  offer_copying(*table_);
  auto* both = new QSplitter;
  both->addWidget(table_);
  both->addWidget(scrollable(chart_));
  both->setChildrenCollapsible(false);
  both->setSizes({520, 400});
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4, 4, 4, 4);
  column->addWidget(words_);
  column->addWidget(both, 1);
  connect(table_, &QTableView::activated, this, &GpusPane::choose);
  connect(&chart_->plot(), &ChartPlot::chosen, this, [this](const ChartPlace& place) {
    if (place.point < answers_.size()) emit chosen(QString::fromStdString(answers_[place.point].gpu));
  });
  forget();
}

void GpusPane::set_question(TrainedPointer trained, const Question& question) {
  trained_ = std::move(trained);
  Question asked = question;
  // The question's GPU makes no difference here.
  asked.gpu.clear();
  asked.machine_file.reset();
  if (asked == question_ && !answers_.empty()) return;
  job_.cancel();
  question_ = asked;
  is_stale_ = true;
  update();
}

void GpusPane::forget() {
  job_.cancel();
  trained_.reset();
  is_stale_ = false;
  answers_.clear();
  numbers_.set_numbers({}, {});
  chart_->set_chart({});
  words_->setText(tr("No question is answered yet."));
}

void GpusPane::paintEvent(QPaintEvent* event) {
  QWidget::paintEvent(event);
  // A painted pane is visible. It starts once the sliders rest.
  constexpr int rest_ms = 150;
  if (is_stale_ && !job_.is_running()) QTimer::singleShot(rest_ms, this, &GpusPane::start);
}

void GpusPane::start() {
  if (!is_stale_ || trained_ == nullptr) return;
  is_stale_ = false;
  words_->setText(tr("Asking every GPU …"));
  job_.start(read_and_take(
      [trained = trained_, question = question_](const BackgroundJob::ShouldContinue& should_continue) {
        return on_all_gpus(*trained, question, should_continue);
      },
      [this](std::vector<GpuAnswer> answers) { take(std::move(answers)); }));
}

void GpusPane::take(std::vector<GpuAnswer> answers) {
  answers_ = std::move(answers);
  ChartTable table = gpus_table(answers_);
  numbers_.set_numbers(std::move(table.columns), std::move(table.rows));
  hide_columns_without_values(*table_);
  sorted_->sort(-1);
  table_->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
  chart_->set_chart(gpus_chart(answers_));
  const auto there = std::ranges::count_if(answers_, [](const GpuAnswer& of) { return of.refusal.empty(); });
  QString words = tr("%1 on %2 of %3 GPUs, fastest first by speedup over vanilla decoding on the same GPU")
                      .arg(QString::fromUtf8(strategy_of(question_)))
                      .arg(there)
                      .arg(answers_.size());
  const auto off =
      std::ranges::find_if(answers_, [](const GpuAnswer& of) { return of.beside && of.beside->differs; });
  if (off != answers_.end())
    words.prepend(tr("On %1, which was recorded on: %2\n")
                      .arg(QString::fromUtf8(off->gpu),
                           QString::fromUtf8(beside_line(*off->beside, Characters::unicode))));
  words_->setText(words);
  emit answered();
}

void GpusPane::choose() {
  const QModelIndex index = sorted_->mapToSource(table_->currentIndex());
  if (index.isValid())
    emit chosen(QString::fromStdString(answers_[static_cast<std::size_t>(index.row())].gpu));
}

}  // namespace draftscope::gui

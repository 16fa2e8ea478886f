// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds_view.h"

#include <QHeaderView>
#include <QVBoxLayout>

#include "charts/table_file.h"
#include "widgets/habits.h"
#include "widgets/table_cells.h"
#include "widgets/table_columns.h"

namespace draftscope::gui {

RoundsView::RoundsView(ViewState& state, QWidget* parent) : QWidget(parent), state_(state) {
  setAccessibleName(tr("Table of rounds"));
  filter_->setPlaceholderText(tr("Search category, draft stop, question"));
  filter_->setAccessibleName(tr("Search the rounds"));
  filter_->setClearButtonEnabled(true);
  table_->setModel(&model_);
  table_->setAccessibleName(tr("Rounds"));
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setSortingEnabled(true);
  table_->sortByColumn(RoundsModel::place, Qt::AscendingOrder);
  table_->setAlternatingRowColors(true);
  table_->setItemDelegate(new TextCell(table_));
  offer_copying(*table_);
  keep_numbers_in_sight(*table_);
  // All rows have one height, and no width depends on all of them, so that a million rows show at once.
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 6);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(4, 4, 4, 4);
  layout->addWidget(filter_);
  layout->addWidget(table_);
  when_seen(*this, [this] { show_run(); });
  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
    model_.set_filter(text);
    show_cursor();
  });
  connect(&state_, &ViewState::recording_changed, this, &RoundsView::forget);
  connect(&state_, &ViewState::run_changed, this, &RoundsView::forget);
  connect(&state_, &ViewState::filter_changed, this, &RoundsView::forget);
  connect(&state_, &ViewState::cursor_changed, this, &RoundsView::show_cursor);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& current) {
            if (current.isValid() && model_.round_of_row(current.row()) != state_.cursor().round_index)
              state_.go_to_round(model_.round_of_row(current.row()));
          });
}

void RoundsView::forget() {
  is_stale_ = true;
  if (model_.rowCount() > 0) model_.set_run(nullptr, 0);
  update();
}

void RoundsView::show_run() {
  if (!is_stale_) return;
  is_stale_ = false;
  model_.set_run(state_.filtered(), state_.run());
  show_cursor();
}

void RoundsView::show_first_by(std::string_view key, Qt::SortOrder order) {
  show_run();
  const int column = RoundsModel::column_of(key);
  table_->sortByColumn(column, order);
  if (model_.rowCount() > 0) table_->setCurrentIndex(model_.index(0, column));
}

void RoundsView::show_cursor() {
  const int row = model_.row_of_round(state_.cursor().round_index);
  if (row < 0 || table_->currentIndex().row() == row) return;
  table_->setCurrentIndex(model_.index(row, std::max(table_->currentIndex().column(), 0)));
}

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "scenarios_pane.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "charts/chart_pane.h"
#include "charts/table_file.h"
#include "widgets/table_columns.h"

namespace draftscope::gui {

ScenariosPane::ScenariosPane(QWidget* parent)
    : QWidget(parent),
      table_(new QTableView),
      chart_(new ChartPane(tr("Scenarios side by side"))),
      choose_(new QPushButton(tr("Go back to it"))),
      unpin_(new QPushButton(tr("Unpin it"))) {
  setAccessibleName(tr("What if: scenarios"));
  table_->setModel(&numbers_);
  keep_numbers_in_sight(*table_);
  table_->setAccessibleName(tr("Pinned scenarios; Return goes back to one"));
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->verticalHeader()->hide();
  table_->setAlternatingRowColors(true);
  table_->setMinimumHeight(110);
  offer_copying(*table_);
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(choose_);
  buttons->addWidget(unpin_);
  buttons->addStretch(1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4, 4, 4, 4);
  column->addWidget(table_, 1);
  column->addLayout(buttons);
  column->addWidget(chart_, 2);
  connect(choose_, &QPushButton::clicked, this, &ScenariosPane::choose);
  connect(unpin_, &QPushButton::clicked, this, &ScenariosPane::unpin);
  connect(table_, &QTableView::activated, this, &ScenariosPane::choose);
  show_all();
}

QString ScenariosPane::free_letter() const {
  for (char letter = 'A'; letter <= 'Z'; ++letter)
    if (std::ranges::none_of(pinned_,
                             [&](const NamedAnswer& of) { return of.name == QChar::fromLatin1(letter); }))
      return QString(QChar::fromLatin1(letter));
  return tr("one more");
}

void ScenariosPane::set_current(std::shared_ptr<const WhatIfAnswer> answer) {
  current_ = std::move(answer);
  show_all();
}

void ScenariosPane::pin() {
  if (current_ == nullptr) return;
  pinned_.push_back({free_letter(), current_});
  std::ranges::sort(pinned_, {}, &NamedAnswer::name);
  show_all();
}

void ScenariosPane::unpin_all() {
  pinned_.clear();
  current_.reset();
  show_all();
}

std::vector<NamedAnswer> ScenariosPane::all() const {
  std::vector<NamedAnswer> answers = pinned_;
  if (current_ != nullptr) answers.push_back({tr("now"), current_});
  return answers;
}

void ScenariosPane::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  draw();
}

void ScenariosPane::draw() {
  chart_->set_chart(scenario_chart(all()));
}

void ScenariosPane::show_all() {
  const int row = table_->currentIndex().row();
  ChartTable table = scenario_table(all());
  numbers_.set_numbers(std::move(table.columns), std::move(table.rows));
  table_->selectRow(std::clamp(row, 0, std::max(0, numbers_.rowCount() - 1)));
  // Answers come with every step of a slider: drawing a hidden pane would delay them.
  if (isVisible()) draw();
  for (QPushButton* button : {choose_, unpin_}) button->setEnabled(!pinned_.empty());
}

void ScenariosPane::choose() {
  const auto row = static_cast<std::size_t>(std::max(0, table_->currentIndex().row()));
  if (row < pinned_.size()) emit chosen(pinned_[row].answer->question);
}

void ScenariosPane::unpin() {
  const auto row = static_cast<std::size_t>(std::max(0, table_->currentIndex().row()));
  if (row >= pinned_.size()) return;
  pinned_.erase(pinned_.begin() + static_cast<std::ptrdiff_t>(row));
  show_all();
}

}  // namespace draftscope::gui

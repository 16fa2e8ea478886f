// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategy_chooser.h"

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <QHBoxLayout>
#include <QSplitter>
#include <QVBoxLayout>
#include <utility>

#include "widgets/appearance.h"
#include "widgets/theme.h"

namespace draftscope::gui {

namespace {

QString name_of(const QString& text) {
  return text.section(u':', 0, 0);
}

/// Place in the catalogue; unknown names come after all others.
std::size_t place_of(const QString& text) {
  const auto strategies = speculation::strategy_catalogue().strategies();
  std::size_t place = 0;
  while (place < strategies.size() && strategies[place].name != name_of(text).toStdString()) ++place;
  return place;
}

}  // namespace

StrategyChooser::StrategyChooser(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Strategies"));
  list_->setAccessibleName(tr("Strategies to record"));
  make_layout();
  complete();
  list_->setCurrentRow(0);
  connect(list_, &QListWidget::currentRowChanged, this, &StrategyChooser::show_current);
  connect(list_, &QListWidget::itemChanged, this, [this](QListWidgetItem* item) {
    if (is_showing_) return;
    show_row(*item);
    emit edited();
  });
  connect(form_, &StrategyForm::edited, this, &StrategyChooser::take);
  connect(add_, &QPushButton::clicked, this, &StrategyChooser::add_another);
  connect(remove_, &QPushButton::clicked, this, &StrategyChooser::remove_current);
  show_current();
}

void StrategyChooser::make_layout() {
  auto* left = new QWidget;
  auto* column = new QVBoxLayout(left);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(list_, 1);
  auto* buttons = new QHBoxLayout;
  add_->setToolTip(tr("Records the strategy with other parameters, too"));
  buttons->addWidget(add_);
  buttons->addWidget(remove_);
  buttons->addStretch();
  column->addLayout(buttons);
  auto* splitter = new QSplitter;
  splitter->addWidget(left);
  splitter->addWidget(form_);
  splitter->setStretchFactor(0, 2);
  splitter->setStretchFactor(1, 3);
  splitter->setSizes({270, 470});
  splitter->setChildrenCollapsible(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(splitter);
}

QListWidgetItem* StrategyChooser::add_row(int row, const QString& text, bool is_checked) {
  auto* item = new QListWidgetItem(text);
  item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
  item->setCheckState(is_checked ? Qt::Checked : Qt::Unchecked);
  list_->insertItem(row, item);
  show_row(*item);
  return item;
}

void StrategyChooser::complete() {
  const bool was_showing = std::exchange(is_showing_, true);
  QListWidgetItem* current = list_->currentItem();
  const auto strategies = speculation::strategy_catalogue().strategies();
  for (std::size_t place = 0; place <= strategies.size(); ++place) {
    // Rows before `end` are in place; rows of this strategy come next.
    int end = 0;
    while (end < list_->count() && place_of(list_->item(end)->text()) < place) ++end;
    bool has_row = place == strategies.size();
    for (int row = end; row < list_->count(); ++row) {
      if (place_of(list_->item(row)->text()) != place) continue;
      has_row = true;
      if (row != end) list_->insertItem(end, list_->takeItem(row));
      ++end;
    }
    if (!has_row) add_row(end, QString::fromStdString(strategies[place].name), false);
  }
  if (current != nullptr) list_->setCurrentItem(current);
  is_showing_ = was_showing;
}

void StrategyChooser::show_row(QListWidgetItem& item) {
  const bool was_showing = std::exchange(is_showing_, true);
  const speculation::StrategyRow* row =
      speculation::strategy_catalogue().find(name_of(item.text()).toStdString());
  const auto problem = problem_on_model(item.text().toStdString(), model_);
  const QString words = problem ? QString::fromStdString(*problem)
                                : QString::fromStdString(row == nullptr ? std::string() : row->summary);
  item.setToolTip(QStringLiteral("<p>%1</p>").arg(words.toHtmlEscaped()));
  // An unchecked strategy may well lack something.
  const bool is_wrong = problem && item.checkState() == Qt::Checked;
  item.setData(Qt::ForegroundRole, is_wrong ? QVariant(QBrush(legible_on(rejected_color(is_dark(palette())),
                                                                         palette().color(QPalette::Base))))
                                            : QVariant());
  is_showing_ = was_showing;
}

void StrategyChooser::show_current() {
  QListWidgetItem* item = list_->currentItem();
  form_->setEnabled(item != nullptr);
  if (item == nullptr || is_showing_) return;
  form_->set_text(item->text());
  int same = 0;
  for (int row = 0; row < list_->count(); ++row)
    same += static_cast<int>(name_of(list_->item(row)->text()) == name_of(item->text()));
  remove_->setEnabled(same > 1);
  const speculation::StrategyRow* row =
      speculation::strategy_catalogue().find(name_of(item->text()).toStdString());
  add_->setEnabled(row != nullptr && !row->parameters.empty());
}

void StrategyChooser::set_strategies(const std::vector<std::string>& strategies) {
  const bool was_showing = std::exchange(is_showing_, true);
  list_->clear();
  QListWidgetItem* first = nullptr;
  for (const std::string& strategy : strategies) {
    QListWidgetItem* item = add_row(list_->count(), QString::fromStdString(strategy), true);
    // Prefer a strategy with parameters, since it shows more than vanilla.
    if (first == nullptr || speculation::strategy_row(name_of(first->text()).toStdString()).is_baseline)
      first = item;
  }
  complete();
  is_showing_ = was_showing;
  list_->setCurrentItem(first == nullptr ? list_->item(0) : first);
  show_current();
}

std::vector<std::string> StrategyChooser::strategies() const {
  std::vector<std::string> strategies;
  for (int row = 0; row < list_->count(); ++row)
    if (list_->item(row)->checkState() == Qt::Checked)
      strategies.push_back(list_->item(row)->text().toStdString());
  return strategies;
}

void StrategyChooser::set_model(const std::optional<ModelFacts>& model) {
  model_ = model;
  for (int row = 0; row < list_->count(); ++row) show_row(*list_->item(row));
  form_->set_model(model);
}

void StrategyChooser::take(const QString& text) {
  QListWidgetItem* item = list_->currentItem();
  if (item == nullptr) return;
  const bool has_new_name = name_of(item->text()) != name_of(text);
  const bool was_showing = std::exchange(is_showing_, true);
  item->setText(text);
  // A user who sets parameters means to record the strategy.
  item->setCheckState(Qt::Checked);
  is_showing_ = was_showing;
  show_row(*item);
  if (has_new_name && place_of(text) < speculation::strategy_catalogue().strategies().size()) complete();
  show_current();
  emit edited();
}

void StrategyChooser::add_another() {
  const QListWidgetItem* item = list_->currentItem();
  if (item == nullptr) return;
  const bool was_showing = std::exchange(is_showing_, true);
  QListWidgetItem* added = add_row(list_->currentRow() + 1, item->text(), true);
  is_showing_ = was_showing;
  list_->setCurrentItem(added);
  emit edited();
}

void StrategyChooser::remove_current() {
  delete list_->takeItem(list_->currentRow());
  show_current();
  emit edited();
}

}  // namespace draftscope::gui

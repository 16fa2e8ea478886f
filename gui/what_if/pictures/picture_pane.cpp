// SPDX-License-Identifier: GPL-3.0-or-later
#include "picture_pane.h"

#include <QHeaderView>
#include <QScrollArea>
#include <QTableView>
#include <QVBoxLayout>

#include "models/copy_rows.h"
#include "what_if/pictures/what_if_picture.h"

namespace draftscope::gui {

PicturePane::PicturePane(WhatIfPicture* picture, const QString& name, QWidget* parent)
    : QWidget(parent), picture_(picture), table_(new QTableView) {
  setAccessibleName(name);
  picture_->setAccessibleName(name);
  table_->setModel(&numbers_);
  table_->setAccessibleName(tr("Numbers of the picture: %1").arg(name));
  table_->verticalHeader()->hide();
  table_->setAlternatingRowColors(true);
  offer_copying(*table_);
  table_->hide();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* scroll = new QScrollArea;
  scroll->setWidget(picture_);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  layout->addWidget(scroll, 3);
  layout->addWidget(table_, 2);
}

void PicturePane::set_numbers(QStringList columns, std::vector<NumbersModel::Row> rows) {
  numbers_.set_numbers(std::move(columns), std::move(rows));
  table_->resizeColumnsToContents();
}

void PicturePane::show_numbers(bool shown) {
  table_->setVisible(shown);
}

void PicturePane::set_message(const QString& words) {
  picture_->set_message(words);
  picture_->set_stale(false);
  numbers_.set_numbers({}, {});
}

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "picture_pane.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QScrollArea>
#include <QTableView>
#include <QVBoxLayout>

#include "charts/chart_pane.h"
#include "models/copy_rows.h"
#include "what_if/pictures/what_if_picture.h"
#include "widgets/scrollable.h"

namespace draftscope::gui {

PicturePane::PicturePane(WhatIfPicture* picture, const QString& name, QWidget* parent)
    : QWidget(parent),
      picture_(picture),
      export_(new ExportButton(name, [this] { return chart_; })),
      table_(new QTableView) {
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
  auto* row = new QHBoxLayout;
  row->addStretch(1);
  row->addWidget(export_);
  layout->addLayout(row);
  layout->setSpacing(0);
  layout->addWidget(scrollable(picture_), 3);
  layout->addWidget(table_, 2);
}

void PicturePane::set_chart(Chart chart) {
  chart_ = std::move(chart);
  numbers_.set_numbers(chart_.table.columns, chart_.table.rows);
  table_->resizeColumnsToContents();
  export_->setEnabled(!chart_.empty());
}

void PicturePane::show_numbers(bool shown) {
  table_->setVisible(shown);
}

void PicturePane::set_message(const QString& words) {
  picture_->set_message(words);
  picture_->set_stale(false);
  set_chart({});
}

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "picture_pane.h"

#include <QScrollArea>
#include <QVBoxLayout>

#include "charts/chart_plot.h"
#include "widgets/habits.h"

namespace draftscope::gui {

QString words_of_older_question() {
  return PicturePane::tr("of an older setting; the new one is being computed …");
}

PicturePane::PicturePane(const QString& name, QWidget* parent)
    : QWidget(parent), chart_(new ChartPane(name)) {
  setAccessibleName(name);
  for (QLabel* label : {title_, notes_}) {
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  }
  title_->setAccessibleName(tr("What the picture shows: %1").arg(name));
  notes_->setAccessibleName(tr("What the picture rests on: %1").arg(name));
  chart_->add_control(age_);
  auto* picture = new QWidget;
  auto* column = new QVBoxLayout(picture);
  column->setContentsMargins(4, 0, 4, 0);
  column->setSpacing(0);
  column->addWidget(title_);
  column->addWidget(chart_, 1);
  column->addWidget(notes_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(scrollable(picture));
}

void PicturePane::set_picture(const QString& title, Chart chart, const QString& notes) {
  message_.clear();
  show_chart(title, std::move(chart), notes);
}

void PicturePane::set_message(const QString& words) {
  message_ = words;
  show_chart({}, {}, {});
}

void PicturePane::show_chart(const QString& title, Chart chart, const QString& notes) {
  set_stale(false);
  title_->setText(title);
  notes_->setText(notes);
  notes_->setVisible(!notes.isEmpty());
  chart_->set_chart(std::move(chart), message_);
}

void PicturePane::set_stale(bool is_stale) {
  is_stale_ = is_stale;
  age_->setText(is_stale ? words_of_older_question() : QString());
}

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "race_texts.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QTextCursor>
#include <QTextEdit>
#include <QVBoxLayout>
#include <algorithm>

#include "views/plot_style.h"
#include "views/theme.h"

namespace draftscope::gui {

RaceTexts::RaceTexts(QWidget* parent) : QWidget(parent), row_(new QHBoxLayout(this)) {
  setAccessibleName(tr("Texts of the race"));
  row_->setContentsMargins(0, 0, 0, 0);
}

void RaceTexts::set_texts(std::vector<ReplayedText> texts, const QStringList& names) {
  texts_ = std::move(texts);
  names_ = names;
  for (const Column& column : columns_) delete column.whole;
  columns_.clear();
  for (qsizetype run = 0; run < static_cast<qsizetype>(texts_.size()); ++run) {
    Column& column = columns_.emplace_back();
    column.whole = new QWidget;
    auto* name = new QLabel(names_.value(run));
    name->setToolTip(names_.value(run));
    // A long name must not widen the page.
    name->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    column.text = new QTextEdit;
    column.text->setReadOnly(true);
    column.text->setAccessibleName(tr("Text of %1").arg(names_.value(run)));
    column.text->setTabChangesFocus(true);
    column.text->setMinimumSize(110, 90);
    auto* layout = new QVBoxLayout(column.whole);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    layout->addWidget(name);
    layout->addWidget(column.text, 1);
    row_->addWidget(column.whole, 1);
  }
  write();
}

void RaceTexts::write() {
  const bool dark = is_dark(palette());
  for (std::size_t run = 0; run < columns_.size(); ++run) {
    Column& column = columns_[run];
    const QColor color = series_color(run, dark);
    column.text->setStyleSheet(
        QStringLiteral("QTextEdit { border: 1px solid palette(mid); border-top: 4px solid %1; }"
                       "QTextEdit:focus { border-color: palette(highlight); }")
            .arg(color.name()));
    column.text->clear();
    column.ends.clear();
    QTextCursor cursor(column.text->document());
    for (const ReplayedToken& token : texts_[run].tokens) {
      QTextCharFormat format;
      format.setBackground(origin_color(token.origin, dark));
      format.setForeground(ink_on(origin_color(token.origin, dark)));
      cursor.insertText(QString::fromStdString(token.text), format);
      column.ends.push_back(cursor.position());
    }
    column.token = column.ends.empty() ? 0 : column.ends.size() - 1;
    cover(run);
  }
}

void RaceTexts::cover(std::size_t run) {
  const Column& column = columns_[run];
  QTextEdit::ExtraSelection rest;
  rest.cursor = QTextCursor(column.text->document());
  rest.cursor.setPosition(column.ends.empty() ? 0 : column.ends[column.token]);
  rest.cursor.movePosition(QTextCursor::End, QTextCursor::KeepAnchor);
  rest.format.setBackground(palette().color(QPalette::Base));
  rest.format.setForeground(palette().color(QPalette::Base));
  column.text->setExtraSelections({rest});
}

void RaceTexts::show_places(const std::vector<RacePlace>& places) {
  for (std::size_t run = 0; run < std::min(places.size(), columns_.size()); ++run) {
    Column& column = columns_[run];
    const std::size_t token = column.ends.empty() ? 0 : std::min(places[run].token, column.ends.size() - 1);
    if (token == column.token) continue;
    column.token = token;
    cover(run);
    // What has just come stays in sight.
    QTextCursor cursor(column.text->document());
    cursor.setPosition(column.ends[token]);
    column.text->setTextCursor(cursor);
    column.text->ensureCursorVisible();
  }
}

QString RaceTexts::seen(std::size_t run) const {
  const Column& column = columns_[run];
  return column.ends.empty() ? QString() : column.text->toPlainText().left(column.ends[column.token]);
}

void RaceTexts::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::PaletteChange) return;
  std::vector<RacePlace> places;
  for (const Column& column : columns_) places.push_back({.token = column.token});
  write();
  show_places(places);
}

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "notice_bar.h"

#include <QHBoxLayout>

namespace draftscope::gui {

namespace {

/// Max lines that are shown: a folder of damaged files lists only the first ones.
constexpr qsizetype max_errors = 6;

}  // namespace

NoticeBar::NoticeBar(QWidget* parent) : QFrame(parent) {
  setAutoFillBackground(true);
  setBackgroundRole(QPalette::ToolTipBase);
  words_->setWordWrap(true);
  words_->setForegroundRole(QPalette::ToolTipText);
  // File names must not be read as markup.
  words_->setTextFormat(Qt::PlainText);
  words_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  words_->setAccessibleName(tr("Notice"));
  // File names have no place to break; a minimum width keeps a long one from widening the window.
  constexpr int min_width = 240;
  words_->setMinimumWidth(min_width);
  auto* dismiss = new QPushButton(tr("&Dismiss"));
  auto* row = new QHBoxLayout(this);
  row->addWidget(words_, 1);
  row->addWidget(follow_);
  row->addWidget(reload_);
  row->addWidget(dismiss);
  follow_->setObjectName(QStringLiteral("follow"));
  follow_->setToolTip(tr("Reads the recording again whenever something was added to it"));
  connect(follow_, &QCheckBox::clicked, this, &NoticeBar::follow_toggled);
  connect(reload_, &QPushButton::clicked, this, &NoticeBar::reload_requested);
  connect(dismiss, &QPushButton::clicked, this, &NoticeBar::dismiss);
  hide();
}

void NoticeBar::add_error(const QString& words) {
  errors_ << words;
  show_text();
}

void NoticeBar::clear_errors() {
  errors_.clear();
  show_text();
}

void NoticeBar::set_notice(const QString& words, Offer offer) {
  notice_ = words;
  offer_ = offer;
  show_text();
}

void NoticeBar::dismiss() {
  errors_.clear();
  notice_.clear();
  show_text();
}

void NoticeBar::show_text() {
  QStringList lines;
  for (const QString& error : errors_.first(std::min(errors_.size(), max_errors)))
    lines << QStringLiteral("✕ %1").arg(error);
  if (errors_.size() > max_errors) lines << tr("✕ and %1 more").arg(errors_.size() - max_errors);
  if (!notice_.isEmpty()) lines << QStringLiteral("⚠ %1").arg(notice_);
  words_->setText(lines.join(u'\n'));
  words_->setToolTip(QStringLiteral("<qt>%1</qt>")
                         .arg(lines.join(u'\n').toHtmlEscaped().replace(u'\n', QStringLiteral("<br>"))));
  for (QWidget* offered : {static_cast<QWidget*>(follow_), static_cast<QWidget*>(reload_)})
    offered->setVisible(!notice_.isEmpty() && offer_ == Offer::reload);
  setVisible(!lines.isEmpty());
}

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "sql_edit.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QKeyEvent>
#include <QScrollBar>
#include <QStringListModel>

namespace draftscope::gui {

namespace {

constexpr int letters_before_offers = 2;

bool asks_for_words(const QKeyEvent& event) {
  return event.key() == Qt::Key_Space && event.modifiers() == Qt::ControlModifier;
}

}  // namespace

SqlEdit::SqlEdit(QWidget* parent)
    : QPlainTextEdit(parent), words_(new QStringListModel(this)), completer_(new QCompleter(words_, this)) {
  completer_->setWidget(this);
  completer_->setCompletionMode(QCompleter::UnfilteredPopupCompletion);
  completer_->popup()->setAccessibleName(tr("Words that the statement may go on with"));
  connect(completer_, qOverload<const QString&>(&QCompleter::activated), this, &SqlEdit::take);
  setTabChangesFocus(true);
}

bool SqlEdit::event(QEvent* event) {
  // The key is another view's while this has not the focus.
  if (event->type() == QEvent::ShortcutOverride && asks_for_words(*static_cast<QKeyEvent*>(event)))
    event->accept();
  return QPlainTextEdit::event(event);
}

void SqlEdit::keyPressEvent(QKeyEvent* event) {
  if (asks_for_words(*event)) {
    offer(0);
    return;
  }
  const bool is_open = completer_->popup()->isVisible();
  const bool takes =
      event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Tab;
  if (is_open && (takes || event->key() == Qt::Key_Escape)) {
    // The list's own.
    event->ignore();
    return;
  }
  QPlainTextEdit::keyPressEvent(event);
  const bool is_typed = !event->text().isEmpty() && event->text().front().isPrint();
  if (is_typed || (is_open && event->key() == Qt::Key_Backspace))
    offer(event->text() == u"." ? 0 : letters_before_offers);
  else if (event->key() != Qt::Key_Shift)
    completer_->popup()->hide();
}

void SqlEdit::offer(int min_letters) {
  if (!schema_) return;
  const QString text = toPlainText();
  const int cursor = textCursor().position();
  const std::string statement = text.toStdString();
  const auto at = static_cast<std::size_t>(text.left(cursor).toUtf8().size());
  const SqlCompletion completion = complete_sql(*schema_, statement, at);
  begin_ =
      static_cast<int>(QString::fromUtf8(statement.data(), static_cast<qsizetype>(completion.begin)).size());
  QStringList words;
  for (const std::string& word : completion.words) words << QString::fromStdString(word);
  // What is typed in full needs no list.
  const bool is_whole = words.size() == 1 && words.front() == text.mid(begin_, cursor - begin_);
  if (words.isEmpty() || is_whole || cursor - begin_ < min_letters) {
    completer_->popup()->hide();
    return;
  }
  words_->setStringList(words);
  completer_->setCompletionPrefix({});
  completer_->popup()->setCurrentIndex(words_->index(0));
  QRect box = cursorRect();
  box.setWidth(completer_->popup()->sizeHintForColumn(0) +
               completer_->popup()->verticalScrollBar()->sizeHint().width() + 8);
  completer_->complete(box);
}

void SqlEdit::take(const QString& word) {
  QTextCursor cursor = textCursor();
  const int end = cursor.position();
  cursor.setPosition(begin_);
  cursor.setPosition(end, QTextCursor::KeepAnchor);
  cursor.insertText(word);
  setTextCursor(cursor);
}

void SqlEdit::insert_word(const QString& word) {
  QTextCursor cursor = textCursor();
  const QString text = toPlainText();
  const int at = cursor.selectionStart();
  const auto touches = [&](int place) {
    return place >= 0 && place < text.size() && (text[place].isLetterOrNumber() || text[place] == u'_');
  };
  cursor.insertText((touches(at - 1) ? QStringLiteral(" ") : QString()) + word +
                    (touches(cursor.selectionEnd()) ? QStringLiteral(" ") : QString()));
  setTextCursor(cursor);
}

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A statement being written, with what it may go on with: a list below the cursor while a name is typed, and
// with Ctrl+Space at any place. Return takes the marked word, Esc none.

#include <QPlainTextEdit>
#include <memory>

#include "data/sql_completion.h"

class QCompleter;
class QStringListModel;

namespace draftscope::gui {

class SqlEdit : public QPlainTextEdit {
  Q_OBJECT

 public:
  explicit SqlEdit(QWidget* parent = nullptr);

  void set_schema(std::shared_ptr<const SqlSchema> schema) { schema_ = std::move(schema); }
  /// At the cursor, with spaces around where it would touch another word.
  void insert_word(const QString& word);
  [[nodiscard]] QCompleter& completer() { return *completer_; }

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  /// `min_letters` of the word must have been typed.
  void offer(int min_letters);
  void take(const QString& word);

  std::shared_ptr<const SqlSchema> schema_;
  QStringListModel* words_;
  QCompleter* completer_;
  int begin_ = 0;  ///< of the word that is completed, in characters
};

}  // namespace draftscope::gui

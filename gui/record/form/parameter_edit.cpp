// SPDX-License-Identifier: GPL-3.0-or-later
#include "parameter_edit.h"

#include <draftscope/speculation/catalogue/strategy_catalogue.h>

#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QToolButton>
#include <algorithm>

#include "record/form/strategy_text.h"

namespace draftscope::gui {

using speculation::ParameterType;

ParameterEdit::ParameterEdit(speculation::ParameterRow row, QWidget* parent)
    : QWidget(parent), row_(std::move(row)) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  if (row_.type == ParameterType::choice)
    make_choice();
  else
    make_line();
  QWidget* editor = choice_ != nullptr ? static_cast<QWidget*>(choice_) : line_;
  const QString meaning = QString::fromStdString(row_.meaning);
  setToolTip(QStringLiteral("<p>%1</p>").arg(meaning.toHtmlEscaped()));
  editor->setAccessibleName(QString::fromStdString(row_.name));
  editor->setAccessibleDescription(meaning);
  setFocusProxy(editor);
}

void ParameterEdit::make_choice() {
  choice_ = new QComboBox;
  for (const std::string& name : row_.choices) {
    const QString word = QString::fromStdString(name);
    choice_->addItem(name == row_.default_value ? tr("%1 (default)").arg(word) : word, word);
  }
  choice_->setMinimumContentsLength(8);
  choice_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  layout()->addWidget(choice_);
  connect(choice_, &QComboBox::activated, this, &ParameterEdit::edited);
}

void ParameterEdit::make_line() {
  line_ = new QLineEdit;
  line_->setClearButtonEnabled(true);
  layout()->addWidget(line_);
  connect(line_, &QLineEdit::textEdited, this, &ParameterEdit::edited);
  connect(line_, &QLineEdit::textChanged, this, [this] {
    // Qt does not report the clear button as an edit.
    if (line_->hasFocus() && line_->text().isEmpty()) emit edited();
  });
  if (row_.type == ParameterType::integer) line_->installEventFilter(this);
  if (row_.unit != "file" && row_.unit != "folder") return;
  auto* button = new QToolButton;
  button->setText(tr("…"));
  button->setToolTip(tr("Browse"));
  button->setAccessibleName(tr("Browse for %1").arg(QString::fromStdString(row_.name)));
  layout()->addWidget(button);
  connect(button, &QToolButton::clicked, this, &ParameterEdit::browse);
}

void ParameterEdit::set_value(const QString& value, std::int32_t n_layers) {
  n_layers_ = n_layers;
  if (choice_ != nullptr) {
    const QString shown = value.isEmpty() ? QString::fromStdString(row_.default_value) : value;
    choice_->setCurrentIndex(choice_->findData(shown));
    return;
  }
  const QString usual = QString::fromStdString(default_text(row_, n_layers));
  line_->setPlaceholderText(usual.isEmpty() ? tr("none") : usual);
  // Setting the same text would move the cursor.
  if (line_->text() == value) return;
  const QSignalBlocker blocker(line_);
  line_->setText(value);
}

QString ParameterEdit::value() const {
  if (choice_ == nullptr) return line_->text().trimmed();
  const QString chosen = choice_->currentData().toString();
  return chosen == QString::fromStdString(row_.default_value) ? QString() : chosen;
}

void ParameterEdit::browse() {
  const QString title = QString::fromStdString(row_.name);
  const QString path = row_.unit == "folder" ? QFileDialog::getExistingDirectory(this, title, line_->text())
                                             : QFileDialog::getOpenFileName(this, title, line_->text());
  if (path.isEmpty()) return;
  line_->setText(path);
  emit edited();
}

void ParameterEdit::step(int by) {
  const QString text =
      line_->text().isEmpty() ? QString::fromStdString(default_text(row_, n_layers_)) : line_->text();
  bool is_number = false;
  const qint64 number = text.toLongLong(&is_number);
  if (!is_number) return;
  const std::int32_t layers = std::max(n_layers_, 1);
  const std::int64_t min = speculation::bound_of(row_.min, layers).value_or(number);
  std::int64_t max = speculation::bound_of(row_.max, layers).value_or(number + 1);
  if (n_layers_ == 0 && row_.max.starts_with('L')) max = number + 1;
  line_->setText(QString::number(std::clamp<std::int64_t>(number + by, std::min(min, max), max)));
  emit edited();
}

bool ParameterEdit::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Up || key == Qt::Key_Down) {
      step(key == Qt::Key_Up ? 1 : -1);
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace draftscope::gui

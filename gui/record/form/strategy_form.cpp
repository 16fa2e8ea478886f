// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategy_form.h"

#include <QComboBox>
#include <QFileDialog>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QScrollArea>
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

namespace {

QString summary_of(const StrategyText& strategy) {
  const speculation::StrategyRow* row = speculation::strategy_catalogue().find(strategy.name);
  if (row == nullptr) return {};
  const QString name = QString::fromStdString(row->name).toHtmlEscaped();
  const QString summary = QString::fromStdString(row->summary).toHtmlEscaped();
  const QString source = QString::fromStdString(row->source).toHtmlEscaped();
  return QStringLiteral("<b>%1</b>: %2%3")
      .arg(name, summary, source.isEmpty() ? QString() : QStringLiteral(" <i>(%1)</i>").arg(source));
}

}  // namespace

StrategyForm::StrategyForm(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Parameters of the strategy"));
  summary_->setWordWrap(true);
  line_->setAccessibleName(tr("Strategy as -s takes it"));
  line_->setToolTip(
      tr("name:key=value,… as on the command line; the form below follows, and the other way round"));
  auto* label = new QLabel(tr("&-s"));
  label->setBuddy(line_);
  auto* first = new QHBoxLayout;
  first->addWidget(label);
  first->addWidget(line_, 1);
  auto* inside = new QWidget;
  inside->setLayout(fields_);
  fields_->setContentsMargins(0, 0, 6, 0);
  fields_->addStretch();
  auto* scroll = new QScrollArea;
  scroll->setWidget(inside);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(summary_);
  column->addLayout(first);
  column->addWidget(problem_);
  column->addWidget(scroll, 1);
  connect(line_, &QLineEdit::textEdited, this, &StrategyForm::take_line);
}

void StrategyForm::set_text(const QString& text) {
  text_ = text;
  if (line_->text() != text) line_->setText(text);
  show_text();
}

void StrategyForm::set_model(const std::optional<ModelFacts>& model) {
  model_ = model;
  show_text();
}

void StrategyForm::take_line() {
  text_ = line_->text().trimmed();
  show_text();
  emit edited(text_);
}

void StrategyForm::take_editor(const ParameterEdit& editor) {
  set_text(
      QString::fromStdString(with_value(text_.toStdString(), editor.row(), editor.value().toStdString())));
  emit edited(text_);
}

void StrategyForm::show_text() {
  const StrategyText strategy = strategy_text_of(text_.toStdString());
  make_editors();
  summary_->setText(summary_of(strategy));
  const std::int32_t n_layers = model_ ? model_->n_layers : 0;
  for (std::size_t i = 0; i < editors_.size(); ++i) {
    const std::string* given = given_value(strategy, editors_[i]->row());
    editors_[i]->set_value(given == nullptr ? QString() : QString::fromStdString(*given), n_layers);
    ranges_[i]->set_note(QString::fromStdString(range_text(editors_[i]->row(), n_layers)));
  }
  const auto problem = problem_on_model(text_.toStdString(), model_);
  problem_->set_problem(problem ? QString::fromStdString(*problem) : QString());
}

void StrategyForm::make_editors() {
  const StrategyText strategy = strategy_text_of(text_.toStdString());
  const std::vector<speculation::ParameterRow> rows = parameters_of(strategy);
  // The choices of `verify` depend on the other parts.
  QString wanted = QString::fromStdString(strategy.name);
  for (const speculation::ParameterRow& row : rows)
    wanted += QStringLiteral(",%1/%2").arg(QString::fromStdString(row.name)).arg(row.choices.size());
  if (wanted == made_for_) return;
  made_for_ = wanted;
  if (made_ != nullptr) {
    // One of its editors may be sending the current signal.
    made_->hide();
    made_->deleteLater();
  }
  made_ = new QWidget;
  auto* grid = new QGridLayout(made_);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setColumnStretch(1, 1);
  editors_.clear();
  ranges_.clear();
  for (const speculation::ParameterRow& row : rows) {
    const auto line = static_cast<int>(editors_.size());
    auto* editor = new ParameterEdit(row);
    auto* name = new QLabel(QString::fromStdString(row.name));
    auto* range = new ProblemLabel;
    name->setBuddy(editor);
    for (QLabel* label : {name, static_cast<QLabel*>(range)}) label->setToolTip(editor->toolTip());
    range->setWordWrap(false);
    ranges_.push_back(range);
    grid->addWidget(name, line, 0);
    grid->addWidget(editor, line, 1);
    grid->addWidget(range, line, 2);
    editors_.push_back(editor);
    connect(editor, &ParameterEdit::edited, this, [this, editor] { take_editor(*editor); });
  }
  fields_->insertWidget(0, made_);
}

}  // namespace draftscope::gui

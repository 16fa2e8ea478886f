// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategy_form.h"

#include <QGridLayout>
#include <QScrollArea>

#include "record/form/parameter_edit.h"
#include "record/form/plan_problems.h"
#include "record/form/strategy_text.h"

namespace draftscope::gui {

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

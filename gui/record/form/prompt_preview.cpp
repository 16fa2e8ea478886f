// SPDX-License-Identifier: GPL-3.0-or-later
#include "prompt_preview.h"

#include <QHeaderView>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr std::size_t max_shown = 1000;
constexpr qsizetype max_begin = 160;

QString begin_of(const std::string& text) {
  const QString words = QString::fromStdString(text).simplified();
  return words.size() > max_begin ? words.left(max_begin) + u'…' : words;
}

}  // namespace

QString counts_text(const std::vector<traces::Question>& questions) {
  std::vector<std::pair<QString, int>> categories;
  for (const traces::Question& question : questions) {
    const QString name = question.category.empty() ? PromptPreview::tr("without category")
                                                   : QString::fromStdString(question.category);
    const auto known = std::find_if(categories.begin(), categories.end(),
                                    [&](const auto& category) { return category.first == name; });
    if (known == categories.end())
      categories.emplace_back(name, 1);
    else
      ++known->second;
  }
  QStringList parts;
  for (const auto& [name, count] : categories) parts << QStringLiteral("%1 %2").arg(count).arg(name);
  const std::int64_t turns = turns_of(questions, 0);
  QString text =
      QStringLiteral("%1: %2").arg(counted(static_cast<std::int64_t>(questions.size()),
                                           PromptPreview::tr("1 prompt"), PromptPreview::tr("%1 prompts")),
                                   parts.join(QStringLiteral(", ")));
  if (turns > static_cast<std::int64_t>(questions.size())) text += PromptPreview::tr("; %1 turns").arg(turns);
  return text;
}

std::int64_t turns_of(const std::vector<traces::Question>& questions, std::int32_t limit) {
  std::size_t count = questions.size();
  if (limit > 0) count = std::min(count, static_cast<std::size_t>(limit));
  std::int64_t turns = 0;
  for (std::size_t i = 0; i < count; ++i) turns += static_cast<std::int64_t>(questions[i].turns.size());
  return turns;
}

PromptPreview::PromptPreview(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Prompts"));
  counts_->setWordWrap(true);
  list_->setAccessibleName(tr("Prompts of the file"));
  list_->setHeaderLabels({tr("question"), tr("category"), tr("turns"), tr("begins")});
  list_->setRootIsDecorated(false);
  list_->setUniformRowHeights(true);
  list_->setAlternatingRowColors(true);
  list_->setSelectionMode(QAbstractItemView::SingleSelection);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(counts_);
  column->addWidget(list_, 1);
}

void PromptPreview::set_questions(const std::vector<traces::Question>& questions) {
  list_->clear();
  counts_->setText(questions.empty() ? tr("No prompts") : counts_text(questions));
  const std::size_t shown = std::min(questions.size(), max_shown);
  QList<QTreeWidgetItem*> rows;
  for (std::size_t i = 0; i < shown; ++i) {
    const traces::Question& question = questions[i];
    auto* row = new QTreeWidgetItem(
        {QString::fromStdString(traces::question_label(question)), QString::fromStdString(question.category),
         QString::number(question.turns.size()), begin_of(question.turns.front())});
    QString whole = QString::fromStdString(question.turns.front()).left(10 * max_begin);
    row->setToolTip(3, QStringLiteral("<pre>%1</pre>").arg(whole.toHtmlEscaped()));
    rows << row;
  }
  list_->addTopLevelItems(rows);
  if (questions.size() > shown)
    list_->addTopLevelItem(
        new QTreeWidgetItem({tr("…"), {}, {}, tr("and %1 more").arg(questions.size() - shown)}));
  for (int column = 0; column < 3; ++column) list_->resizeColumnToContents(column);
}

void PromptPreview::set_limit(std::int32_t limit) {
  for (int row = 0; row < list_->topLevelItemCount(); ++row)
    list_->topLevelItem(row)->setDisabled(limit > 0 && row >= limit);
}

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "request_chooser.h"

#include <QComboBox>
#include <QCompleter>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr qsizetype longest_title = 60;
constexpr int prompt_lines = 2;

QString prompt_title(const OpenedRecording& opened, const ListedPrompt& listed) {
  if (listed.prompt == nullptr)
    return RequestChooser::tr("prompt %1, which the file lacks").arg(listed.id.value());
  QString words = visible_text(listed.prompt->text).replace(u'·', u' ');
  if (words.size() > longest_title) words = words.left(longest_title) + u'…';
  const QString category = QString::fromStdString(listed.prompt->category);
  const QString turn =
      listed.prompt->turn > 0 ? RequestChooser::tr(" turn %1").arg(listed.prompt->turn) : QString();
  return QStringLiteral("%1%2%3: %4")
      .arg(
          RequestChooser::tr("question %1").arg(QString::fromStdString(opened.question_text(*listed.prompt))),
          turn, category.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(category), words);
}

}  // namespace

RequestChooser::RequestChooser(ViewState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      prompts_(new QComboBox),
      repeats_(new QComboBox),
      prompt_(new QPlainTextEdit) {
  prompts_->setAccessibleName(tr("Prompt"));
  prompts_->setToolTip(tr("Type a part of a prompt, its category or number"));
  prompts_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  prompts_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  prompts_->setEditable(true);
  prompts_->setInsertPolicy(QComboBox::NoInsert);
  prompts_->completer()->setFilterMode(Qt::MatchContains);
  prompts_->completer()->setCompletionMode(QCompleter::PopupCompletion);
  repeats_->setAccessibleName(tr("Repeat"));
  prompt_->setReadOnly(true);
  prompt_->setAccessibleName(tr("The whole prompt"));
  prompt_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  prompt_->setFixedHeight(prompt_lines * prompt_->fontMetrics().lineSpacing() + 12);
  auto* row = new QHBoxLayout;
  row->addWidget(prompts_, 1);
  row->addWidget(repeats_);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addLayout(row);
  column->addWidget(prompt_);
  connect(prompts_, &QComboBox::activated, this, &RequestChooser::choose_prompt);
  connect(repeats_, &QComboBox::activated, this, &RequestChooser::choose_repeat);
  // Typed words that name no prompt are replaced by the shown prompt.
  connect(prompts_->lineEdit(), &QLineEdit::editingFinished, this, &RequestChooser::show_again);
}

void RequestChooser::list_prompts() {
  request_ = nullptr;
  listed_ = state_.recording() ? listed_prompts(*state_.recording()) : std::vector<ListedPrompt>();
  QStringList titles;
  for (const ListedPrompt& listed : listed_) titles << prompt_title(*state_.recording(), listed);
  prompts_->clear();
  prompts_->addItems(titles);
}

void RequestChooser::clear() {
  request_ = nullptr;
  listed_.clear();
  repeats_of_prompt_.clear();
  prompts_->clear();
  repeats_->clear();
  prompt_->clear();
}

void RequestChooser::choose_prompt(int index) {
  const RecordingPointer& recording = state_.recording();
  if (!recording || index < 0 || index >= static_cast<int>(listed_.size())) return;
  const std::vector<std::size_t> requests = requests_of_prompt(
      *recording, recording->runs()[state_.run()].run->id, listed_[static_cast<std::size_t>(index)].id);
  if (requests.empty()) return show_again();
  // Choose the same repeat, if there is one.
  const auto& rows = recording->recording().requests;
  const std::int32_t repeat = request_ == nullptr ? 0 : request_->repeat;
  const auto same = std::find_if(requests.begin(), requests.end(),
                                 [&](std::size_t request) { return rows[request].repeat == repeat; });
  state_.go_to_token(same == requests.end() ? requests.front() : *same, 0);
}

void RequestChooser::choose_repeat(int index) {
  if (index >= 0 && index < static_cast<int>(repeats_of_prompt_.size()))
    state_.go_to_token(repeats_of_prompt_[static_cast<std::size_t>(index)], 0);
}

void RequestChooser::show_request(std::size_t request_index) {
  const OpenedRecording& recording = *state_.recording();
  request_ = &recording.recording().requests[request_index];
  repeats_of_prompt_ = requests_of_prompt(recording, request_->run_id, request_->prompt_id);
  repeats_->clear();
  for (const std::size_t request : repeats_of_prompt_)
    repeats_->addItem(tr("repeat %1").arg(recording.recording().requests[request].repeat));
  const auto at = std::find(repeats_of_prompt_.begin(), repeats_of_prompt_.end(), request_index);
  repeats_->setCurrentIndex(static_cast<int>(at - repeats_of_prompt_.begin()));
  show_again();
}

void RequestChooser::show_again() {
  if (request_ == nullptr) return;
  const auto listed = std::find_if(listed_.begin(), listed_.end(), [&](const ListedPrompt& candidate) {
    return candidate.id == request_->prompt_id;
  });
  if (listed == listed_.end()) return;
  prompts_->setCurrentIndex(static_cast<int>(listed - listed_.begin()));
  prompts_->setEditText(prompts_->itemText(prompts_->currentIndex()));
  prompts_->lineEdit()->setCursorPosition(0);
  const QString words = listed->prompt == nullptr ? QString() : QString::fromStdString(listed->prompt->text);
  if (prompt_->toPlainText() != words) prompt_->setPlainText(words);
}

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "command_palette.h"

#include <QCoreApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QTimer>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "help/fuzzy_match.h"

namespace draftscope::gui {

namespace {

constexpr int name_column = 0;
constexpr int place_role = Qt::UserRole;
constexpr QSize palette_size(620, 420);
constexpr qsizetype min_also_letters = 3;
/// Score of a further word: above letters that are scattered in a name, below a name that has the whole word.
constexpr int also_score = 22;

}  // namespace

std::vector<std::size_t> matching_commands(const std::vector<Command>& commands, QStringView pattern) {
  std::vector<std::pair<int, std::size_t>> found;
  for (std::size_t place = 0; place < commands.size(); ++place) {
    const auto name = fuzzy_score(pattern, commands[place].words);
    // "export rounds" matches with the name of the menu.
    const auto whole = fuzzy_score(pattern, commands[place].kind + u' ' + commands[place].words);
    const bool is_also =
        pattern.size() >= min_also_letters && commands[place].also.contains(pattern, Qt::CaseInsensitive);
    if (!name && !whole && !is_also) continue;
    // A shorter name wins over a longer one that matches equally well.
    const int extra = static_cast<int>(commands[place].words.size()) / 8;
    const int of_words = std::max(name ? *name + 2 : 0, whole.value_or(0));
    const int score = pattern.isEmpty() ? 0 : std::max(of_words, is_also ? also_score : 0) - extra;
    found.emplace_back(-score, place);
  }
  std::stable_sort(found.begin(), found.end());
  std::vector<std::size_t> places;
  places.reserve(found.size());
  for (const auto& [score, place] : found) places.push_back(place);
  return places;
}

CommandPalette::CommandPalette(std::vector<Command> commands, QWidget* parent)
    : QDialog(parent), commands_(std::move(commands)), pattern_(new QLineEdit), list_(new QTreeWidget) {
  setWindowTitle(tr("Commands"));
  setAccessibleName(tr("Commands"));
  pattern_->setPlaceholderText(tr("Type a few letters: an action, a page, a run, a file …"));
  pattern_->setAccessibleName(tr("Letters of a command"));
  pattern_->installEventFilter(this);
  list_->setAccessibleName(tr("Commands that have these letters"));
  list_->setColumnCount(3);
  list_->setHeaderHidden(true);
  list_->setRootIsDecorated(false);
  list_->setUniformRowHeights(true);
  list_->setAllColumnsShowFocus(true);
  list_->header()->setStretchLastSection(false);
  list_->header()->setSectionResizeMode(name_column, QHeaderView::Stretch);
  for (const int column : {1, 2})
    list_->header()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
  auto* column = new QVBoxLayout(this);
  column->addWidget(pattern_);
  column->addWidget(list_, 1);
  resize(parent == nullptr ? palette_size : palette_size.boundedTo(parent->size()));
  connect(pattern_, &QLineEdit::textChanged, this, &CommandPalette::show_matches);
  connect(list_, &QTreeWidget::itemActivated, this, &CommandPalette::choose);
  connect(list_, &QTreeWidget::itemClicked, this, &CommandPalette::choose);
  show_matches();
}

void CommandPalette::set_asking(std::function<std::optional<Command>(const QString& typed)> asking) {
  asking_ = std::move(asking);
  show_matches();
}

void CommandPalette::show_matches() {
  list_->clear();
  const QString typed = pattern_->text().trimmed();
  asked_ = asking_ ? asking_(typed) : std::nullopt;
  const auto list = [this](const Command& command, std::size_t place) {
    auto* item = new QTreeWidgetItem(list_, {command.words, command.kind, command.keys});
    item->setData(name_column, place_role, static_cast<qulonglong>(place));
    item->setToolTip(name_column, command.words);
  };
  if (asked_) list(*asked_, commands_.size());
  for (const std::size_t place : matching_commands(commands_, typed)) list(commands_[place], place);
  if (list_->topLevelItemCount() == 0) {
    auto* nothing = new QTreeWidgetItem(list_, {tr("Nothing found")});
    nothing->setFlags(Qt::NoItemFlags);
    return;
  }
  list_->setCurrentItem(list_->topLevelItem(0));
}

void CommandPalette::choose() {
  const QTreeWidgetItem* item = list_->currentItem();
  if (item == nullptr || !item->data(name_column, place_role).isValid() || result() == Accepted) return;
  const auto place = static_cast<std::size_t>(item->data(name_column, place_role).toULongLong());
  const std::function<void()> run = place < commands_.size() ? commands_[place].run : asked_->run;
  accept();
  // Run it after this dialogue has closed, so that the window has the focus again.
  QTimer::singleShot(0, parent(), run);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return QDialog::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  switch (key->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_PageUp:
    case Qt::Key_PageDown: {
      QKeyEvent copy(key->type(), key->key(), key->modifiers());
      QCoreApplication::sendEvent(list_, &copy);
      return true;
    }
    case Qt::Key_Return:
    case Qt::Key_Enter:
      choose();
      return true;
    default:
      return QDialog::eventFilter(watched, event);
  }
}

}  // namespace draftscope::gui

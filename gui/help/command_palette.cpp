// SPDX-License-Identifier: GPL-3.0-or-later
#include "command_palette.h"

#include <QCoreApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QMenuBar>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>

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
    : QDialog(parent), commands_(std::move(commands)) {
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

namespace {

constexpr int none = std::numeric_limits<int>::min() / 2;
constexpr int letter = 1;
constexpr int adjacent_bonus = 8;
constexpr int at_word = 6;
constexpr int at_front = 4;

bool begins_word(QStringView text, qsizetype at) {
  return at == 0 || (text[at].isLetterOrNumber() && !text[at - 1].isLetterOrNumber());
}

}  // namespace

std::optional<int> fuzzy_score(QStringView pattern, QStringView text) {
  const QString folded = text.toString().toCaseFolded();
  // [place] Best score of the letters so far if the last of them is at this place.
  std::vector<int> before(static_cast<std::size_t>(folded.size()), none);
  bool is_first = true;
  for (const QChar wanted : pattern.toString().toCaseFolded()) {
    if (wanted.isSpace()) continue;
    std::vector<int> now(before.size(), none);
    int best_before = is_first ? 0 : none;  // Best previous score further left.
    for (std::size_t at = 0; at < now.size(); ++at) {
      const auto place = static_cast<qsizetype>(at);
      if (folded[place] == wanted) {
        const int follows =
            at > 0 && !is_first && before[at - 1] > none ? before[at - 1] + adjacent_bonus : none;
        const int found = std::max(best_before, follows);
        if (found > none)
          now[at] = found + letter + (begins_word(folded, place) ? at_word : 0) + (at == 0 ? at_front : 0);
      }
      if (!is_first) best_before = std::max(best_before, before[at]);
    }
    before = std::move(now);
    is_first = false;
  }
  if (is_first) return 0;
  const auto best = std::max_element(before.begin(), before.end());
  if (best == before.end() || *best <= none) return std::nullopt;
  return *best;
}

namespace {

QString plain(QString words) {
  // "&&" stands for the character "&".
  words.replace(QStringLiteral("&&"), QStringLiteral("\n")).remove(u'&').replace(u'\n', u'&');
  while (words.endsWith(u'…') || words.endsWith(u':')) words.chop(1);
  return words;
}

QString text_of(const QList<QKeySequence>& sequences) {
  QStringList keys;
  for (const QKeySequence& sequence : sequences) keys << sequence.toString(QKeySequence::NativeText);
  return keys.join(QStringLiteral(", "));
}

void add_entries(const QList<QAction*>& actions, const QString& path, bool is_enabled,
                 std::vector<MenuEntry>& entries) {
  for (QAction* action : actions) {
    if (action->isSeparator() || action->text().isEmpty()) continue;
    const QString words = plain(action->text());
    const bool is_on = is_enabled && action->isEnabled();
    if (const QMenu* menu = action->menu(); menu != nullptr)
      add_entries(menu->actions(), path.isEmpty() ? words : QStringLiteral("%1 › %2").arg(path, words), is_on,
                  entries);
    else
      entries.push_back({words, path, text_of(action->shortcuts()), action, is_on});
  }
}

}  // namespace

std::vector<MenuEntry> menu_entries(const QMenuBar& menus) {
  std::vector<MenuEntry> entries;
  add_entries(menus.actions(), {}, true, entries);
  return entries;
}

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
// Help that the window offers: manual, command palette, tour, recent files, and context menus.
#include <draftscope/traces/reader.h>

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFileInfo>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QSettings>
#include <QStackedWidget>
#include <map>

#include "advise/advise_view.h"
#include "help/command_palette.h"
#include "help/manual_window.h"
#include "help/tour.h"
#include "main_window.h"
#include "record/record_page.h"
#include "what_if/questions/question.h"
#include "widgets/appearance.h"
#include "widgets/files.h"
#include "window/recording_tabs.h"
#include "window/start_page.h"
#include "window/view_pages.h"

namespace draftscope::gui {

namespace {

constexpr int manual_views_section = 2;  // Deeper headings get no command.

/// Words that find a view in the palette beside its name.
QString further_words(const QString& view) {
  static const std::map<QString, QString> words{
      {QStringLiteral("breakdown"), QStringLiteral("kernel operation layer GPU gap idle device")},
      {QStringLiteral("details"), QStringLiteral("kernel GPU")},
      {QStringLiteral("device"), QStringLiteral("kernel operation GPU gap idle utilisation")},
      {QStringLiteral("sql"), QStringLiteral("kernel GPU gap copies bytes")},
      {QStringLiteral("timeline"), QStringLiteral("kernel stream GPU gap device marks")},
  };
  const auto found = words.find(view);
  return found == words.end() ? QString() : found->second;
}

/// Text of the About dialog, as HTML.
QString about_text() {
  return MainWindow::tr(
             "<h2>Draftscope %1</h2>"
             "<p>Records, explains and predicts self-speculative decoding of language models.</p>"
             "<p>Free software under the GNU General Public License, version 3 or later, without any "
             "warranty.</p>"
             "<p>Reads recordings up to schema %2. Made with Qt %3, QCustomPlot and SQLite.</p>")
      .arg(QCoreApplication::applicationVersion())
      .arg(traces::newest_schema_version())
      .arg(QString::fromLatin1(qVersion()));
}

}  // namespace

void MainWindow::make_help_menu() {
  QMenu* help = menuBar()->addMenu(tr("&Help"));
  help->addAction(tr("&Manual"), QKeySequence(Qt::Key_F1), this, &MainWindow::show_manual);
  help->addAction(tr("&Commands…"), QKeySequence(tr("Ctrl+Shift+P")), this, &MainWindow::show_commands);
  help->addSeparator();
  help->addAction(tr("&Tour"), this, &MainWindow::start_tour);
  help->addSeparator();
  help->addAction(tr("&About Draftscope"), this,
                  [this] { QMessageBox::about(this, tr("About Draftscope"), about_text()); });
}

void MainWindow::add_appearance_actions(QMenu& view) {
  QMenu* menu = view.addMenu(tr("Appearan&ce"));
  auto* group = new QActionGroup(this);
  for (const auto& [appearance, words] :
       {std::pair(Appearance::system, tr("&System")), std::pair(Appearance::light, tr("&Light")),
        std::pair(Appearance::dark, tr("&Dark"))}) {
    QAction* action = menu->addAction(words, this, [this, chosen = appearance] {
      use_appearance(chosen);
      if (memory_ == Memory::kept)
        QSettings().setValue(QStringLiteral("appearance"), appearance_name(chosen));
    });
    action->setCheckable(true);
    action->setChecked(appearance == used_appearance());
    group->addAction(action);
  }
}

void MainWindow::show_manual() {
  // Choose the focused view, or else the first visible one.
  const QWidget* focus = QApplication::focusWidget();
  QWidget* about = nullptr;
  for (const NamedView& named : views_) {
    if (!named.view->isVisible()) continue;
    const bool has_focus = focus != nullptr && (named.view == focus || named.view->isAncestorOf(focus));
    if (has_focus || (about == nullptr && !pages_->page_of(*named.view).isEmpty())) about = named.view;
  }
  show_manual_of(about);
}

void MainWindow::show_manual_of(const QWidget* view) {
  QString section = section_of_view(QStringLiteral("start"));
  for (const NamedView& named : views_)
    if (named.view == view) section = section_of_view(named.name);
  if (manual_ == nullptr) manual_ = new ManualWindow(this);
  manual_->show();
  manual_->raise();
  manual_->activateWindow();
  manual_->show_section(section);
}

std::vector<Command> MainWindow::commands() {
  std::vector<Command> all;
  for (const MenuEntry& entry : menu_entries(*menuBar()))
    if (entry.is_enabled) {
      // "Appearance: Dark" says what becomes dark.
      const QString menu = entry.path.section(QStringLiteral(" › "), 1);
      all.push_back({menu.isEmpty() ? entry.words : QStringLiteral("%1: %2").arg(menu, entry.words),
                     entry.path, entry.keys, [action = entry.action] {
                       if (action) action->trigger();
                     }});
    }
  if (const RecordingPointer& recording = state_.recording()) {
    for (std::size_t run = 0; run < recording->runs().size(); ++run)
      all.push_back({QString::fromStdString(recording->runs()[run].run->specification),
                     tr("Run"),
                     {},
                     [this, run, held = std::weak_ptr(recording)] {
                       if (held.lock() == state_.recording()) state_.set_run(run);
                     }});
    for (const NamedView& named : views_)
      all.push_back({named.view->accessibleName(),
                     tr("View"),
                     {},
                     [this, view = named.view] {
                       if (state_.recording()) show_recording_page();
                       show_view(*view);
                       view->setFocus();
                     },
                     further_words(named.name)});
    add_mark_commands(all);
  }
  for (const ManualSection& section : manual_sections())
    if (section.level <= manual_views_section)
      all.push_back({tr("Manual: %1").arg(section.title), tr("Help"), {}, [this, title = section.title] {
                       show_manual_of(nullptr);
                       manual_->show_section(title);
                     }});
  return all;
}

void MainWindow::show_commands() {
  auto* palette = new CommandPalette(commands(), this);
  palette->setObjectName(QStringLiteral("commands"));
  if (state_.recording())
    palette->set_asking([this](const QString& typed) -> std::optional<Command> {
      const std::optional<Question> question = named_question(typed.toStdString());
      if (!question) return std::nullopt;
      return Command{tr("Advise for %1").arg(QString::fromStdString(machine_words(*question))),
                     tr("Advise"),
                     {},
                     [this, question] {
                       auto& advise = view<AdviseView>("advise");
                       show_view(advise);
                       advise.ask_about(*question);
                     }};
    });
  palette->setAttribute(Qt::WA_DeleteOnClose);
  palette->setModal(true);
  palette->show();
}

void MainWindow::start_tour() {
  const QStringList samples = sample_recordings(QCoreApplication::applicationDirPath());
  const RecordingPointer& shown = state_.recording();
  if (samples.isEmpty())
    return show_error(tr("no sample ships with this program: expected share/draftscope/samples/*.dstrace"));
  is_tour_wanted_ = true;
  if (shown && shown->has_rows() &&
      QFileInfo(QString::fromStdString(shown->recording().path.string())).canonicalFilePath() ==
          samples.front()) {
    show_recording_page();
    return begin_tour();
  }
  open(samples.front());
}

void MainWindow::begin_tour() {
  is_tour_wanted_ = false;
  tour_->start();
}

QWidget* MainWindow::show_tour_step(const TourStep& step) {
  if (!state_.recording()) return nullptr;
  if (!step.strategy.isEmpty())
    for (std::size_t run = 0; run < state_.recording()->runs().size(); ++run)
      if (state_.recording()->runs()[run].run->strategy == step.strategy.toStdString()) {
        state_.set_run(run);
        break;
      }
  if (step.view.isEmpty()) return menuBar();
  show_recording_page();
  for (const NamedView& named : views_) {
    if (named.name != step.view) continue;
    show_view(*named.view);
    if (step.marked.isEmpty()) return named.view;
    for (QWidget* part : named.view->findChildren<QWidget*>())
      if (part->accessibleName() == step.marked) return part;
    return named.view;
  }
  return nullptr;
}

void MainWindow::list_recent() {
  if (memory_ == Memory::none) return recent_->setEnabled(false);
  recent_->clear();
  const QStringList files = recent_files();
  start_page_->set_recent(files);
  for (qsizetype place = 0; place < files.size(); ++place) {
    QString name = QFileInfo(files[place]).fileName();
    name.replace(u'&', QStringLiteral("&&"));
    const QString number = place < 9 ? QStringLiteral("&%1").arg(place + 1) : QStringLiteral("1&0");
    QAction* action = recent_->addAction(QStringLiteral("%1  %2").arg(number, name), this,
                                         [this, path = files[place]] { open(path); });
    action->setToolTip(files[place]);
  }
  recent_->setEnabled(!files.isEmpty());
  recent_->addSeparator();
  recent_->addAction(tr("&Clear the list"), this, [this] {
    clear_recent_files();
    // The list owns the action that is running now.
    QMetaObject::invokeMethod(
        this, [this] { list_recent(); }, Qt::QueuedConnection);
  });
}

void MainWindow::show_view_menu(QWidget& view, const QPoint& place) {
  QMenu menu;
  menu.addAction(tr("What this &shows"), this, [this, &view] { show_manual_of(&view); });
  if (!pages_->page_of(view).isEmpty() && pages_->is_of_recording(pages_->current()))
    menu.addAction(pages_->is_maximised() ? tr("Show the &other views") : tr("&Maximise"), this,
                   [this, &view] {
                     view.setFocus();
                     pages_->toggle_maximised();
                   });
  if (state_.recording() && &view != static_cast<QWidget*>(record_page_))
    menu.addAction(tr("&Export…"), this, [this, &view] { export_view(view); });
  menu.exec(place);
}

void MainWindow::show_recording_menu(const RecordingPointer& recording, const QPoint& place) {
  const QString path = QString::fromStdString(recording->recording().path.string());
  QMenu menu;
  menu.addAction(tr("&Close"), this, [this, recording] { close_one(recording); });
  menu.addAction(tr("Copy the &path"), this, [path] { QApplication::clipboard()->setText(path); });
  menu.exec(place);
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
  // The view takes the context menu events that its parts do not handle.
  if (event->type() == QEvent::ContextMenu)
    for (const NamedView& named : views_)
      if (named.view == watched) {
        event->accept();
        show_view_menu(*named.view, static_cast<QContextMenuEvent*>(event)->globalPos());
        return true;
      }
  return QMainWindow::eventFilter(watched, event);
}

}  // namespace draftscope::gui

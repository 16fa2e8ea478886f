// SPDX-License-Identifier: GPL-3.0-or-later
#include "start_page.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QGridLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

namespace draftscope::gui {

namespace {

constexpr int page_width = 640;

struct SampleWords {
  const char* file;
  const char* words;
};
/// Words for each recording that ships; the folder of the program's own files would tell the user nothing.
constexpr std::array sample_words{
    SampleWords{
        "early-exit.dstrace",
        QT_TRANSLATE_NOOP("StartPage", "four strategies on code and prose, a small model on a processor")},
    SampleWords{"h200-smollm2-graph.dstrace",
                QT_TRANSLATE_NOOP("StartPage", "five strategies on a GPU, graph by graph")},
    SampleWords{"h200-smollm2-node.dstrace",
                QT_TRANSLATE_NOOP("StartPage", "three strategies on a GPU, every kernel")},
    SampleWords{"h200-llama-1b-operations.dstrace",
                QT_TRANSLATE_NOOP("StartPage", "two strategies on a GPU, operation by operation")}};

/// Gives the words beside the name of a file.
using Beside = QString (*)(const QFileInfo& file);

QString folder_of(const QFileInfo& file) {
  return file.path();
}

QString words_of(const QFileInfo& file) {
  for (const SampleWords& sample : sample_words)
    if (file.fileName() == QLatin1String(sample.file)) return StartPage::tr(sample.words);
  return {};
}

void fill(QListWidget& list, const QStringList& paths, Beside beside) {
  list.clear();
  if (paths.isEmpty()) {
    auto* none = new QListWidgetItem(StartPage::tr("none yet"), &list);
    none->setFlags(Qt::NoItemFlags);
  }
  for (const QString& path : paths) {
    const QFileInfo file(path);
    auto* item =
        new QListWidgetItem(QStringLiteral("%1    %2").arg(file.fileName(), beside(file)).trimmed(), &list);
    item->setData(Qt::UserRole, path);
    item->setToolTip(path);
  }
  // The list is only as high as its rows, so that the other list is visible too.
  constexpr qsizetype min_rows = 3;
  constexpr qsizetype max_rows = 8;
  list.setFixedHeight(static_cast<int>(std::clamp(paths.size(), min_rows, max_rows)) *
                          (list.fontMetrics().height() + 4) +
                      2 * list.frameWidth());
}

}  // namespace

StartPage::StartPage(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Start page"));
  auto* column = new QWidget;
  column->setMaximumWidth(page_width);
  auto* layout = new QVBoxLayout(column);
  auto* title = new QLabel(
      tr("<h1>Draftscope</h1><p>Records, explains and predicts self-speculative decoding: a language "
         "model drafts tokens with a part of itself and verifies them with all of itself. Here you "
         "see</p><ul><li>why a strategy is as fast as it is, and where each "
         "round's time went,</li>"
         "<li>which layers drafts skip, and how sure they are of each token,</li><li>which "
         "strategy, threshold and "
         "length to take, on this machine and on others.</li></ul>"));
  title->setWordWrap(true);
  layout->addWidget(title);
  layout->addWidget(make_buttons());
  layout->addSpacing(8);
  for (const auto& [words, list] : {std::pair(tr("Samples"), samples_), std::pair(tr("Recent"), recent_)}) {
    auto* label = new QLabel(QStringLiteral("<b>%1</b>").arg(words));
    label->setBuddy(list);
    list->setAccessibleName(words);
    layout->addWidget(label);
    layout->addWidget(list);
    const auto choose = [this](const QListWidgetItem* item) {
      if (!item->flags().testFlag(Qt::ItemIsEnabled)) return;
      emit file_chosen(item->data(Qt::UserRole).toString());
    };
    // One click or Return opens a file. Some styles also report a click as an activation.
    connect(list, &QListWidget::itemClicked, this, choose);
    connect(list, &QListWidget::itemActivated, this, [choose](const QListWidgetItem* item) {
      if (QApplication::mouseButtons() == Qt::NoButton) choose(item);
    });
  }
  auto* hint =
      new QLabel(tr("Files and folders can be dropped anywhere. F1 opens the manual, Ctrl+Shift+P finds "
                    "every command."));
  hint->setWordWrap(true);
  layout->addWidget(hint);
  layout->addStretch(1);
  recent_->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(recent_, &QListWidget::customContextMenuRequested, this, &StartPage::show_menu);
  fill(*recent_, {}, folder_of);
  fill(*samples_, sample_recordings(QCoreApplication::applicationDirPath()), words_of);
  auto* outer = new QHBoxLayout(this);
  outer->addStretch();
  outer->addWidget(column, 2);
  outer->addStretch();
}

QWidget* StartPage::make_buttons() {
  auto* buttons = new QWidget;
  auto* grid = new QGridLayout(buttons);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setColumnStretch(1, 1);
  int line = 0;
  const auto add = [&](const QString& name, const QString& words, void (StartPage::*asks)()) {
    auto* button = new QPushButton(name);
    auto* label = new QLabel(words);
    label->setWordWrap(true);
    button->setAccessibleDescription(words);
    grid->addWidget(button, line, 0);
    grid->addWidget(label, line++, 1);
    connect(button, &QPushButton::clicked, this, asks);
  };
  add(tr("&Open recordings…"), tr("Recordings (.dstrace) of your own, or a folder of them"),
      &StartPage::open_requested);
  add(tr("Re&cord…"), tr("Decode prompts with a model under one or several strategies"),
      &StartPage::record_requested);
  add(tr("&Tour"), tr("The first sample in ten steps, a question each: two minutes"),
      &StartPage::tour_requested);
  return buttons;
}

void StartPage::show_menu(const QPoint& place) {
  const QListWidgetItem* item = recent_->itemAt(place);
  if (item == nullptr || !item->flags().testFlag(Qt::ItemIsEnabled)) return;
  const QString path = item->data(Qt::UserRole).toString();
  QMenu menu;
  menu.addAction(tr("&Copy the path"), this, [path] { QApplication::clipboard()->setText(path); });
  menu.addAction(tr("&Take off the list"), this, [this, path] { emit forget_requested(path); });
  menu.exec(recent_->viewport()->mapToGlobal(place));
}

void StartPage::set_recent(const QStringList& paths) {
  fill(*recent_, paths, folder_of);
}

QStringList sample_recordings(const QString& program_folder) {
  const QDir program(program_folder);
  QStringList found;
  for (const QString& place :
       {QStringLiteral("../share/draftscope/samples"), QStringLiteral("../../../traces/samples"),
        QStringLiteral("../../../../traces/samples"), QStringLiteral("../../../demo-traces")}) {
    const QDir folder(program.filePath(place));
    for (const QFileInfo& file : folder.entryInfoList({QStringLiteral("*.dstrace")}, QDir::Files, QDir::Name))
      found << file.canonicalFilePath();
  }
  found.removeDuplicates();
  return found;
}

}  // namespace draftscope::gui

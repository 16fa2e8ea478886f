// SPDX-License-Identifier: GPL-3.0-or-later
#include "start_page.h"

#include <QApplication>
#include <QDir>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

namespace draftscope::gui {

namespace {

constexpr int page_width = 640;

void fill(QListWidget& list, const QStringList& paths) {
  list.clear();
  if (paths.isEmpty()) {
    auto* none = new QListWidgetItem(StartPage::tr("none yet"), &list);
    none->setFlags(Qt::NoItemFlags);
  }
  for (const QString& path : paths) {
    auto* item = new QListWidgetItem(
        QStringLiteral("%1    %2").arg(QFileInfo(path).fileName(), QFileInfo(path).path()), &list);
    item->setData(Qt::UserRole, path);
    item->setToolTip(path);
  }
}

}  // namespace

StartPage::StartPage(QWidget* parent) : QWidget(parent), recent_(new QListWidget), samples_(new QListWidget) {
  setAccessibleName(tr("Start page"));
  auto* column = new QWidget;
  column->setMaximumWidth(page_width);
  auto* layout = new QVBoxLayout(column);
  auto* title = new QLabel(
      tr("<h1>Draftscope</h1><p>Records, explains and predicts self-speculative decoding. Open recordings "
         "(.dstrace), or drop files or folders here.</p>"));
  title->setWordWrap(true);
  auto* open = new QPushButton(tr("&Open recordings…"));
  auto* record = new QPushButton(tr("&Record…"));
  record->setToolTip(tr("Decode prompts with a model under one or several strategies"));
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(open);
  buttons->addWidget(record);
  buttons->addStretch();
  layout->addWidget(title);
  layout->addLayout(buttons);
  layout->addSpacing(12);
  for (const auto& [words, list] : {std::pair(tr("Recent"), recent_), std::pair(tr("Samples"), samples_)}) {
    auto* label = new QLabel(QStringLiteral("<b>%1</b>").arg(words));
    label->setBuddy(list);
    list->setAccessibleName(words);
    layout->addWidget(label);
    layout->addWidget(list);
    const auto choose = [this](const QListWidgetItem* item) {
      if (!item->flags().testFlag(Qt::ItemIsEnabled)) return;
      emit file_chosen(item->data(Qt::UserRole).toString());
    };
    // One click, or Return; some styles tell of the click as an activation, too.
    connect(list, &QListWidget::itemClicked, this, choose);
    connect(list, &QListWidget::itemActivated, this, [choose](const QListWidgetItem* item) {
      if (QApplication::mouseButtons() == Qt::NoButton) choose(item);
    });
  }
  fill(*recent_, {});
  fill(*samples_, sample_recordings(QCoreApplication::applicationDirPath()));
  auto* outer = new QHBoxLayout(this);
  outer->addStretch();
  outer->addWidget(column, 2);
  outer->addStretch();
  connect(open, &QPushButton::clicked, this, &StartPage::open_requested);
  connect(record, &QPushButton::clicked, this, &StartPage::record_requested);
}

void StartPage::set_recent(const QStringList& paths) {
  fill(*recent_, paths);
}

QStringList sample_recordings(const QString& program_folder) {
  const QDir program(program_folder);
  QStringList found;
  for (const QString& place :
       {QStringLiteral("../share/draftscope/samples"), QStringLiteral("../../../traces/samples"),
        QStringLiteral("../../../demo-traces")}) {
    const QDir folder(program.filePath(place));
    for (const QFileInfo& file : folder.entryInfoList({QStringLiteral("*.dstrace")}, QDir::Files, QDir::Name))
      found << file.canonicalFilePath();
  }
  found.removeDuplicates();
  return found;
}

}  // namespace draftscope::gui

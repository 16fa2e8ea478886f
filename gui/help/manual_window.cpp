// SPDX-License-Identifier: GPL-3.0-or-later
#include "manual_window.h"

#include <QAbstractTextDocumentLayout>
#include <QAction>
#include <QDesktopServices>
#include <QDir>
#include <QFile>
#include <QScreen>
#include <QScrollBar>
#include <QSplitter>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextFrame>
#include <QVBoxLayout>
#include <string_view>

#include "widgets/files.h"

namespace draftscope::gui {

/// The file gui/MANUAL.md, embedded by the build.
extern const std::string_view manual_markdown;

namespace {

std::vector<ManualSection> sections_of(const QString& text) {
  std::vector<ManualSection> sections;
  bool is_code = false;
  for (const QString& line : text.split(u'\n')) {
    if (line.startsWith(u"```")) is_code = !is_code;
    int level = 0;
    while (level < line.size() && line[level] == u'#') ++level;
    if (is_code || level == 0 || level >= line.size() || line[level] != u' ') continue;
    sections.push_back({line.mid(level + 1).trimmed(), level});
  }
  return sections;
}

}  // namespace

QString manual_text() {
  return QString::fromUtf8(manual_markdown.data(), static_cast<qsizetype>(manual_markdown.size()));
}

const std::vector<ManualSection>& manual_sections() {
  static const std::vector<ManualSection> sections = sections_of(manual_text());
  return sections;
}

QString section_link(const QString& title) {
  QString link;
  for (const QChar sign : title.toLower())
    if (sign.isLetterOrNumber() || sign == u'-')
      link += sign;
    else if (sign.isSpace())
      link += u'-';
  return link;
}

namespace {

constexpr QSize manual_size(980, 680);
constexpr int picture_width = 640;
constexpr int contents_width = 220;

/// Path of a shipped file that the manual names, "../docs/gui/window.png"; empty if documents are not
/// shipped.
QString shipped_path(const QString& link) {
  const QString folder = shipped_folder(QStringLiteral("docs"), QStringLiteral("docs"));
  if (folder.isEmpty()) return {};
  // All named files are below the parent of the documents' folder.
  QString path = link;
  while (path.startsWith(u"../")) path.remove(0, 3);
  if (!link.startsWith(u"../")) path.prepend(QStringLiteral("docs/"));
  const QString whole = QDir(folder).filePath(QStringLiteral("../") + path);
  return QFile::exists(whole) ? QDir::cleanPath(whole) : QString();
}

class ManualText : public QTextBrowser {
 public:
  QVariant loadResource(int type, const QUrl& name) override {
    if (type != QTextDocument::ImageResource) return {};
    QImage picture(shipped_path(name.toString()));
    // A picture that is not shipped leaves no gap.
    if (picture.isNull()) return QImage(1, 1, QImage::Format_ARGB32_Premultiplied);
    const qreal ratio = devicePixelRatioF();
    if (picture.width() > picture_width * ratio)
      picture = picture.scaledToWidth(static_cast<int>(picture_width * ratio), Qt::SmoothTransformation);
    picture.setDevicePixelRatio(ratio);
    return picture;
  }
};

}  // namespace

ManualWindow::ManualWindow(QWidget* parent) : QDialog(parent), text_(new ManualText) {
  setWindowFlag(Qt::Window);
  setWindowTitle(tr("Manual – Draftscope"));
  setAccessibleName(tr("Manual"));
  resize(parent == nullptr ? manual_size : manual_size.boundedTo(parent->size()));
  contents_->setAccessibleName(tr("Contents"));
  for (const ManualSection& section : manual_sections()) {
    auto* item = new QListWidgetItem(QString(2 * (section.level - 1), u' ') + section.title, contents_);
    item->setData(Qt::UserRole, section.title);
  }
  text_->setAccessibleName(tr("Text of the manual"));
  text_->setOpenLinks(false);
  wanted_->setPlaceholderText(tr("Search the manual"));
  wanted_->setAccessibleName(tr("Search the manual"));
  wanted_->setClearButtonEnabled(true);
  auto* right = new QWidget;
  auto* column = new QVBoxLayout(right);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(wanted_);
  column->addWidget(text_, 1);
  column->addWidget(found_);
  found_->setWordWrap(true);
  found_->hide();
  auto* split = new QSplitter;
  split->addWidget(contents_);
  split->addWidget(right);
  split->setSizes({contents_width, manual_size.width() - contents_width});
  split->setStretchFactor(1, 1);
  split->setChildrenCollapsible(false);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(split);
  connect(contents_, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
    if (item != nullptr) show_section(item->data(Qt::UserRole).toString());
  });
  connect(text_, &QTextBrowser::anchorClicked, this, &ManualWindow::follow_link);
  connect(wanted_, &QLineEdit::returnPressed, this, [this] { find_next(true); });
  const auto key = [this](const QKeySequence& keys, const auto& does) {
    auto* action = new QAction(this);
    action->setShortcut(keys);
    connect(action, &QAction::triggered, this, does);
    addAction(action);
  };
  key(QKeySequence::Find, [this] { wanted_->setFocus(); });
  key(QKeySequence::FindNext, [this] { find_next(true); });
  key(QKeySequence::FindPrevious, [this] { find_next(false); });
  show_manual();
}

void ManualWindow::show_manual() {
  if (is_manual_shown_) return;
  text_->document()->setMarkdown(manual_text(), QTextDocument::MarkdownDialectGitHub);
  // Let even the last heading stand at the top.
  QTextFrameFormat frame = text_->document()->rootFrame()->frameFormat();
  frame.setBottomMargin(screen()->size().height());
  text_->document()->rootFrame()->setFrameFormat(frame);
  is_manual_shown_ = true;
}

void ManualWindow::show_section(const QString& title) {
  show_manual();
  for (QTextBlock block = text_->document()->begin(); block.isValid(); block = block.next()) {
    if (block.blockFormat().headingLevel() == 0 || block.text() != title) continue;
    QTextCursor cursor(block);
    text_->setTextCursor(cursor);
    const QRectF box = text_->document()->documentLayout()->blockBoundingRect(block);
    text_->verticalScrollBar()->setValue(static_cast<int>(box.top()));
    const QSignalBlocker quiet(contents_);
    for (int row = 0; row < contents_->count(); ++row)
      if (contents_->item(row)->data(Qt::UserRole).toString() == title) contents_->setCurrentRow(row);
    return;
  }
  text_->moveCursor(QTextCursor::Start);
  text_->verticalScrollBar()->setValue(0);
}

QString ManualWindow::section() const {
  QString title;
  const int top = text_->verticalScrollBar()->value();
  for (QTextBlock block = text_->document()->begin(); block.isValid(); block = block.next()) {
    if (block.blockFormat().headingLevel() == 0) continue;
    if (text_->document()->documentLayout()->blockBoundingRect(block).top() > top + 1) break;
    title = block.text();
  }
  return title;
}

void ManualWindow::follow_link(const QUrl& link) {
  found_->hide();
  if (!link.scheme().isEmpty()) {
    QDesktopServices::openUrl(link);
    return;
  }
  if (link.path().isEmpty()) {
    for (const ManualSection& section : manual_sections())
      if (section_link(section.title) == link.fragment()) show_section(section.title);
    return;
  }
  QFile file(shipped_path(link.path()));
  if (!file.open(QIODevice::ReadOnly)) {
    found_->setText(tr("%1 stands in the source of Draftscope.").arg(link.path()));
    found_->show();
    return;
  }
  text_->document()->setMarkdown(QString::fromUtf8(file.readAll()), QTextDocument::MarkdownDialectGitHub);
  text_->moveCursor(QTextCursor::Start);
  is_manual_shown_ = false;
  const QSignalBlocker quiet(contents_);
  contents_->setCurrentItem(nullptr);
}

void ManualWindow::find_next(bool forward) {
  const QString words = wanted_->text();
  if (words.isEmpty()) return;
  const auto flags = forward ? QTextDocument::FindFlags() : QTextDocument::FindBackward;
  bool is_found = text_->find(words, flags);
  if (!is_found) {
    // Wrap around.
    text_->moveCursor(forward ? QTextCursor::Start : QTextCursor::End);
    is_found = text_->find(words, flags);
  }
  found_->setText(tr("“%1” is not in the text.").arg(words));
  found_->setVisible(!is_found);
}

void ManualWindow::changeEvent(QEvent* event) {
  QDialog::changeEvent(event);
  // The text contains the colours of its links.
  if (event->type() != QEvent::PaletteChange || !is_manual_shown_) return;
  const QString shown = section();
  is_manual_shown_ = false;
  show_section(shown);
}

}  // namespace draftscope::gui

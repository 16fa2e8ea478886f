// SPDX-License-Identifier: GPL-3.0-or-later
// Tests F1 and the question marks: they open the manual at the section about what is shown.
#include "help/manual_window.h"

#include <gmock/gmock.h>

#include <QFile>
#include <QLineEdit>
#include <QListWidget>
#include <QTextBlock>
#include <QTextBrowser>
#include <QToolButton>

#include "../window_fixture.h"

namespace draftscope::gui {
namespace {

std::vector<std::string> titles() {
  std::vector<std::string> all;
  for (const ManualSection& section : manual_sections()) all.push_back(section.title.toStdString());
  return all;
}

class Manual : public ActiveWindow {
 protected:
  /// Title of the section at which the manual opens.
  std::string shown_section() {
    window_.show_manual();
    settle();
    if (window_.manual() == nullptr || !window_.manual()->isVisible()) return {};
    const QString section = window_.manual()->section();
    window_.manual()->close();
    window_.activateWindow();
    EXPECT_TRUE(QTest::qWaitForWindowActive(&window_));
    return section.toStdString();
  }
};

TEST_F(Manual, IsTheFileOfTheSource) {
  QFile file(QStringLiteral(DRAFTSCOPE_SOURCE_DIR "/gui/MANUAL.md"));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_EQ(manual_text().toStdString(), file.readAll().toStdString());
}

TEST_F(Manual, EveryViewHasASectionInIt) {
  for (const NamedView& named : window_.views()) {
    const std::string section = section_of_view(named.name).toStdString();
    EXPECT_THAT(titles(), testing::Contains(section)) << named.name.toStdString();
  }
  EXPECT_THAT(titles(), testing::Contains(section_of_view(QStringLiteral("start")).toStdString()));
}

TEST_F(Manual, OpensByKey) {
  raise(QStringLiteral("sql"));
  window_.activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  QTest::keyClick(&window_, Qt::Key_F1);
  ASSERT_NE(window_.manual(), nullptr);
  EXPECT_TRUE(window_.manual()->isVisible());
  EXPECT_EQ(window_.manual()->section(), QStringLiteral("SQL"));
}

TEST_F(Manual, OpensAtWhatHasTheFocus) {
  for (const NamedView& named : std::vector(window_.views())) {
    if (window_.pages().page_of(*named.view).isEmpty() || named.name.startsWith(u"what-if-")) continue;
    QWidget& view = raise(named.name);
    view.setFocus();
    EXPECT_EQ(shown_section(), section_of_view(named.name).toStdString()) << named.name.toStdString();
  }
  window_.close_all_recordings();
  EXPECT_EQ(shown_section(), section_of_view(QStringLiteral("start")).toStdString());
}

TEST_F(Manual, EachPanelsQuestionMarkOpensItsSection) {
  raise(QStringLiteral("confidence"));
  int asked = 0;
  for (QToolButton* button : window_.findChildren<QToolButton*>()) {
    if (button->text() != u"?" || !button->isVisible()) continue;
    button->click();
    settle();
    ASSERT_NE(window_.manual(), nullptr);
    EXPECT_THAT(titles(), testing::Contains(window_.manual()->section().toStdString()));
    EXPECT_NE(window_.manual()->section(), manual_sections().front().title);
    ++asked;
  }
  // The question marks are those of the page, the skip map, the confidences and the timeline.
  EXPECT_EQ(asked, 4);
}

TEST_F(Manual, HasItsPicturesAndGoesWhereLinksAndContentsLead) {
  (void)shown_section();
  ManualWindow& manual = *window_.manual();
  manual.show();
  auto* text = manual.findChild<QTextBrowser*>();
  int pictures = 0;
  for (QTextBlock block = text->document()->begin(); block.isValid(); block = block.next())
    for (auto part = block.begin(); !part.atEnd(); ++part)
      if (const QTextImageFormat image = part.fragment().charFormat().toImageFormat(); image.isValid()) {
        const QVariant loaded = text->document()->resource(QTextDocument::ImageResource, QUrl(image.name()));
        EXPECT_GT(loaded.value<QImage>().width(), 100) << image.name().toStdString();
        ++pictures;
      }
  EXPECT_GT(pictures, 10);
  for (const ManualSection& section : manual_sections()) {
    if (section.level != 2) continue;
    emit text->anchorClicked(QUrl(u'#' + section_link(section.title)));
    EXPECT_EQ(text->textCursor().block().text(), section.title);
  }
  emit text->anchorClicked(QUrl(QStringLiteral("../docs/concepts.md")));
  EXPECT_NE(text->document()->begin().text(), manual_sections().front().title);
  auto* contents = manual.findChild<QListWidget*>();
  contents->setCurrentRow(1);
  EXPECT_EQ(text->textCursor().block().text(), manual_sections()[1].title) << "back in the manual";
}

TEST_F(Manual, IsSearched) {
  (void)shown_section();
  ManualWindow& manual = *window_.manual();
  manual.show();
  auto* wanted = manual.findChild<QLineEdit*>();
  auto* text = manual.findChild<QTextBrowser*>();
  wanted->setText(QStringLiteral("exit layer"));
  QTest::keyClick(wanted, Qt::Key_Return);
  EXPECT_EQ(text->textCursor().selectedText().toLower(), QStringLiteral("exit layer"));
  wanted->setText(QStringLiteral("no such words as these"));
  QTest::keyClick(wanted, Qt::Key_Return);
  const auto labels = manual.findChildren<QLabel*>();
  EXPECT_TRUE(std::ranges::any_of(labels, [](const QLabel* label) {
    return label->isVisible() && label->text().contains(QStringLiteral("not in the text"));
  }));
}

}  // namespace
}  // namespace draftscope::gui

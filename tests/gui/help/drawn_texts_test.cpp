// SPDX-License-Identifier: GPL-3.0-or-later
// Checks every text that the app draws, in light and dark colours. Each is readable on its background, in
// charts and hand-painted parts too, and the texts of charts are not cut.
#include "drawn_texts.h"

#include <gmock/gmock.h>

#include <qcustomplot.h>

#include <QComboBox>
#include <QLabel>
#include <QPainter>
#include <QTabWidget>

#include "../window_fixture.h"
#include "charts/export_dialog.h"
#include "help/command_palette.h"
#include "help/manual_window.h"
#include "widgets/appearance.h"
#include "widgets/theme.h"

namespace draftscope::gui {
namespace {

constexpr double min_text_contrast = 4.5;

/// Draws one text over a block of one colour, and another on the plain background.
class TwoTexts : public QWidget {
 public:
  TwoTexts() { resize(200, 60); }

 protected:
  void paintEvent(QPaintEvent* /*event*/) override {
    QPainter painter(this);
    painter.fillRect(rect(), Qt::white);
    painter.fillRect(QRect(0, 0, 100, 30), Qt::blue);
    painter.setPen(QColor(255, 255, 255, 128));
    painter.drawText(QRect(4, 0, 90, 30), Qt::AlignVCenter, QStringLiteral("above"));
    painter.setPen(Qt::black);
    painter.drawText(QRect(4, 30, 90, 30), Qt::AlignVCenter, QStringLiteral("below"));
    painter.setClipRect(QRect(150, 0, 50, 60));
    painter.drawText(QRect(4, 30, 90, 30), Qt::AlignVCenter, QStringLiteral("clipped away"));
  }
};

TEST(DrawnTexts, HaveTheirColourAndWhatIsBehindThem) {
  TwoTexts widget;
  const std::vector<DrawnText> texts = drawn_texts(widget);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0].text, QStringLiteral("above"));
  EXPECT_EQ(texts[0].back, QColor(Qt::blue));
  EXPECT_NEAR(texts[0].ink.red(), 128, 1) << "blended with what is behind it";
  EXPECT_EQ(texts[0].ink.blue(), 255);
  EXPECT_EQ(texts[1].back, QColor(Qt::white));
  EXPECT_EQ(texts[1].ink, QColor(Qt::black));
  EXPECT_TRUE(QRect(0, 30, 100, 30).contains(texts[1].box));
}

/// A shipped recording with which every view has something to show.
class Drawn : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    ASSERT_EQ(open(std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples/early-exit.dstrace"),
              QString());
  }
  void TearDown() override { use_appearance(Appearance::light); }

  /// Visits every view in each of its choices and tabs.
  template <typename Visit>
  void visit_all(const Visit& visit) {
    for (const NamedView& named : std::vector(window_.views())) {
      raise(named.name);
      settle_answers(window_);
      visit(named.name.toStdString());
      if (named.name == u"record" || named.name == u"what-if" || named.name == u"advise") continue;
      if (auto* choice = named.view->findChild<QComboBox*>(); choice != nullptr && choice->isVisible()) {
        const int before = choice->currentIndex();
        for (int other = 0; other < choice->count(); ++other) {
          choice->setCurrentIndex(other);
          settle_answers(window_);
          visit(named.name.toStdString() + ":" + std::to_string(other));
        }
        choice->setCurrentIndex(before);
      }
    }
  }

  static void expect_legible(QWidget& widget, const std::string& place) {
    const std::vector<DrawnText> texts = drawn_texts(widget);
    EXPECT_FALSE(texts.empty()) << place;
    for (const DrawnText& text : texts)
      EXPECT_GE(contrast_of(text.ink, text.back), min_text_contrast)
          << place << ": \"" << text.text.toStdString() << "\" in " << text.ink.name().toStdString() << " on "
          << text.back.name().toStdString() << " at " << text.box.x() << ", " << text.box.y();
  }
};

TEST_F(Drawn, EveryTextOfEveryViewCanBeReadInBothLooks) {
  for (const Appearance appearance : {Appearance::light, Appearance::dark}) {
    use_appearance(appearance);
    const std::string look = appearance_name(appearance).toStdString();
    visit_all([&](const std::string& view) { expect_legible(window_, look + ", " + view); });
  }
}

TEST_F(Drawn, EveryTextOfEveryDialogueCanBeReadInBothLooks) {
  raise(QStringLiteral("compare"));
  for (const Appearance appearance : {Appearance::light, Appearance::dark}) {
    use_appearance(appearance);
    const std::string look = appearance_name(appearance).toStdString();
    ExportDialog dialogue(exportables(window_.pages()));
    dialogue.show();
    expect_legible(dialogue, look + ", export");
    window_.close_all_recordings();
    expect_legible(window_, look + ", start");
    ASSERT_EQ(open(std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples/early-exit.dstrace"),
              QString());
    raise(QStringLiteral("compare"));
  }
}

TEST_F(Drawn, WordsOfChartsAreWhole) {
  for (const char* name :
       {"compare", "compare-categories", "compare-prompts", "advise-threshold", "what-if-gpus"}) {
    QWidget& view = raise(QString::fromUtf8(name));
    settle_answers(window_);
    for (QCustomPlot* plot : view.findChildren<QCustomPlot*>()) {
      // Skip plots that are partly scrolled out of sight.
      if (plot->visibleRegion().boundingRect() != plot->rect()) continue;
      for (const DrawnText& text : drawn_texts(*plot))
        EXPECT_EQ(text.box, text.whole) << name << ": \"" << text.text.toStdString() << "\"";
    }
  }
}

}  // namespace
}  // namespace draftscope::gui

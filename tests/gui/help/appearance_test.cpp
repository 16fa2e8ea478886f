// SPDX-License-Identifier: GPL-3.0-or-later
// Tests both looks: every pair of colours is readable, and unchecked boxes and the focus can be seen. A
// window whose look changes equals one that began with it.
#include "widgets/appearance.h"

#include <gmock/gmock.h>

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QMenuBar>
#include <QRadioButton>
#include <QTextEdit>
#include <random>
#include <set>

#include "../window_fixture.h"
#include "help/command_palette.h"
#include "help/widget_mark.h"
#include "record/record_page.h"
#include "widgets/theme.h"

namespace draftscope::gui {
namespace {

constexpr double min_contrast = 4.5;

TEST(Contrast, IsThatOfWcag) {
  EXPECT_NEAR(contrast_of(Qt::black, Qt::white), 21.0, 1e-9);
  EXPECT_NEAR(contrast_of(Qt::white, Qt::white), 1.0, 1e-9);
  // The W3C's example of a contrast that just suffices.
  EXPECT_NEAR(contrast_of(QColor(0x76, 0x76, 0x76), Qt::white), 4.54, 0.01);
  EXPECT_DOUBLE_EQ(contrast_of(Qt::red, Qt::blue), contrast_of(Qt::blue, Qt::red));
}

TEST(Legible, WhateverPaletteADesktopHas) {
  std::mt19937 random(7);
  const auto color = [&] { return QColor::fromRgb(static_cast<QRgb>(random()) | 0xff000000U); };
  for (int trial = 0; trial < 300; ++trial) {
    const QColor back = color();
    const QColor text = color();
    EXPECT_GE(contrast_of(legible_on(text, back), back), min_contrast)
        << text.name().toStdString() << " on " << back.name().toStdString();
    if (contrast_of(text, back) >= min_contrast) {
      EXPECT_EQ(legible_on(text, back), text);
    }
  }
}

class Appearances : public Window {
 protected:
  void TearDown() override { use_appearance(Appearance::light); }

  void open_sample_file() { ASSERT_EQ(open(folder_ / "sample.dstrace"), QString()); }

  /// Visits each page in turn, after it has settled.
  template <typename Visit>
  void visit_pages(MainWindow& window, const Visit& visit) {
    std::set<QString> seen;
    for (const NamedView& named : std::vector(window.views())) {
      const QString page = window.pages().page_of(*named.view);
      if (page.isEmpty() || !seen.insert(page).second) continue;
      window.show_view(*named.view);
      settle_answers(window);
      visit(page);
    }
  }
};

std::string place_of(const QWidget& widget) {
  std::string path = widget.accessibleName().toStdString();
  for (const QWidget* at = &widget; at != nullptr; at = at->parentWidget())
    path = std::string(at->metaObject()->className()) + "/" + path;
  return path;
}

TEST_F(Appearances, EveryPairOfAPaletteContrasts) {
  for (const Appearance appearance : {Appearance::system, Appearance::light, Appearance::dark}) {
    use_appearance(appearance);
    const QPalette palette = QApplication::palette();
    for (const QPalette::ColorGroup group : {QPalette::Active, QPalette::Inactive, QPalette::Disabled})
      for (const TextColors& pair : text_colors())
        EXPECT_GE(contrast_of(palette.color(group, pair.text), palette.color(group, pair.back)), min_contrast)
            << appearance_name(appearance).toStdString() << " " << group << " " << pair.text << " on "
            << pair.back;
    EXPECT_EQ(is_dark(palette), appearance == Appearance::dark);
  }
}

TEST_F(Appearances, BoxesThatAreNotCheckedAreSeen) {
  constexpr double min_of_shapes = 3.0;
  for (const Appearance appearance : {Appearance::light, Appearance::dark}) {
    use_appearance(appearance);
    QCheckBox box;
    QRadioButton radio;
    for (QAbstractButton* button :
         {static_cast<QAbstractButton*>(&box), static_cast<QAbstractButton*>(&radio)})
      for (const bool is_enabled : {true, false}) {
        button->setEnabled(is_enabled);
        button->resize(40, 30);
        const QImage image = button->grab().toImage();
        const QColor back = button->palette().color(QPalette::Window);
        int clear = 0;
        for (int y = 0; y < image.height(); ++y)
          for (int x = 0; x < image.width(); ++x)
            clear += contrast_of(image.pixelColor(x, y), back) >= min_of_shapes ? 1 : 0;
        // Most of an outline with sides of thirteen pixels must be clear.
        EXPECT_GT(clear, 24) << appearance_name(appearance).toStdString() << " " << is_enabled;
      }
  }
}

TEST_F(Appearances, AreChosenInAMenuAndReachOpenWindows) {
  open_sample_file();
  const auto choose = [&](const char* words) {
    for (const MenuEntry& entry : menu_entries(*window_.menuBar()))
      if (entry.path.endsWith(QStringLiteral("Appearance")) && entry.words == QString::fromUtf8(words))
        entry.action->trigger();
    settle();
  };
  choose("Dark");
  EXPECT_TRUE(is_dark(window_.palette()));
  EXPECT_EQ(used_appearance(), Appearance::dark);
  choose("Light");
  EXPECT_FALSE(is_dark(window_.palette()));
  EXPECT_EQ(appearance_of(appearance_name(Appearance::dark)), Appearance::dark);
  EXPECT_EQ(appearance_of(QStringLiteral("of another version")), Appearance::system);
}

TEST_F(Appearances, AWindowWhoseLookIsChangedIsAsOneThatBeganWithIt) {
  open_sample_file();
  visit_pages(window_, [](const QString&) {});
  use_appearance(Appearance::dark);
  MainWindow fresh(Memory::none);
  fresh.resize(window_.size());
  fresh.show();
  QSignalSpy finished(&fresh.loader(), &RecordingLoader::finished);
  fresh.open(QString::fromStdString((folder_ / "sample.dstrace").string()));
  ASSERT_TRUE(finished.wait(20000));
  std::map<QString, QImage> expected;
  visit_pages(fresh, [&](const QString& page) { expected[page] = fresh.pages().grab().toImage(); });
  visit_pages(window_, [&](const QString& page) {
    const QImage found = window_.pages().grab().toImage();
    ASSERT_EQ(found.size(), expected[page].size());
    // A blinking cursor or the row under the focus may differ, but not a panel that kept its old colours.
    qint64 different = 0;
    for (int y = 0; y < found.height(); ++y)
      for (int x = 0; x < found.width(); ++x)
        different +=
            std::abs(found.pixelColor(x, y).lightness() - expected[page].pixelColor(x, y).lightness()) > 40;
    EXPECT_LT(static_cast<double>(different), 0.01 * found.width() * found.height()) << page.toStdString();
  });
}

TEST_F(Appearances, WhatHasTheFocusByKeyboardIsMarked) {
  open_sample_file();
  window_.activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  visit_pages(window_, [&](const QString& page) {
    std::set<const QWidget*> seen;
    for (int step = 0; step < 60; ++step) {
      QTest::keyClick(&window_, Qt::Key_Tab);
      QApplication::processEvents();
      const QWidget* focus = QApplication::focusWidget();
      ASSERT_NE(focus, nullptr);
      if (!seen.insert(focus).second) break;
      EXPECT_EQ(window_.focus_mark().mark().target(), focus) << place_of(*focus);
      if (focus->visibleRegion().isEmpty()) continue;
      EXPECT_TRUE(window_.focus_mark().mark().isVisible()) << page.toStdString() << ": " << place_of(*focus);
    }
    EXPECT_GT(seen.size(), 3U) << page.toStdString();
  });
  const QWidget* focus = QApplication::focusWidget();
  QTest::mouseClick(&view_of<QWidget>(window_, QStringLiteral("strip")), Qt::LeftButton);
  EXPECT_FALSE(window_.focus_mark().mark().isVisible()) << place_of(*focus);
}

}  // namespace
}  // namespace draftscope::gui

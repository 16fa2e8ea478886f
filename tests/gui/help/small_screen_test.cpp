// SPDX-License-Identifier: GPL-3.0-or-later
// Tests small screens: one of 1024×600, and one of 1280×800 at twice the scale, which leaves 640×400.
#include <gmock/gmock.h>

#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QLineEdit>
#include <QScrollBar>
#include <QTabBar>
#include <QTabWidget>

#include "../window_fixture.h"
#include "state/pinned_run.h"
#include "views/rounds/filter_bar.h"

namespace draftscope::gui {
namespace {

bool is_control(const QWidget& widget) {
  return qobject_cast<const QAbstractButton*>(&widget) != nullptr ||
         qobject_cast<const QComboBox*>(&widget) != nullptr ||
         qobject_cast<const QLineEdit*>(&widget) != nullptr ||
         qobject_cast<const QAbstractSpinBox*>(&widget) != nullptr;
}

std::string control_place(const QWidget& widget) {
  std::string path = widget.accessibleName().toStdString();
  if (const auto* button = qobject_cast<const QAbstractButton*>(&widget))
    path += button->text().toStdString();
  for (const QWidget* at = &widget; at != nullptr; at = at->parentWidget())
    path = std::string(at->metaObject()->className()) + "/" + path;
  return path;
}

/// Whether a widget beyond the edge of an enclosing widget can be scrolled into view.
bool can_be_reached(const QWidget& widget) {
  QRect box(QPoint(), widget.size());
  for (const QWidget* at = &widget; at->parentWidget() != nullptr && !at->isWindow();
       at = at->parentWidget()) {
    const QWidget* around = at->parentWidget();
    box.translate(at->pos());
    const auto* area = qobject_cast<const QAbstractScrollArea*>(around->parentWidget());
    const bool is_viewport = area != nullptr && area->viewport() == around;
    if (is_viewport) {
      const bool across = box.left() < 0 || box.right() >= around->width();
      const bool down = box.top() < 0 || box.bottom() >= around->height();
      if (across && area->horizontalScrollBar()->maximum() == 0) return false;
      if (down && area->verticalScrollBar()->maximum() == 0) return false;
      // After scrolling, the box lies within the viewport.
      box.moveTo(std::clamp(box.left(), 0, std::max(0, around->width() - box.width())),
                 std::clamp(box.top(), 0, std::max(0, around->height() - box.height())));
      box.setSize(box.size().boundedTo(around->size()));
      continue;
    }
    if (!around->rect().contains(box)) return false;
  }
  return true;
}

class SmallScreen : public Window, public testing::WithParamInterface<QSize> {};

TEST_P(SmallScreen, NothingIsCutOffWithoutAScrollBar) {
  const QSize room = GetParam();
  window_.resize(room);
  settle();
  EXPECT_EQ(window_.size(), room) << "the start page";
  const auto look = [&](const std::string& page) {
    for (const QWidget* widget : window_.findChildren<QWidget*>()) {
      if (!widget->isVisible() || !is_control(*widget) || widget->window() != &window_) continue;
      // A tab bar has arrows for tabs that don't fit, and a control lays out its own parts.
      if (qobject_cast<const QTabBar*>(widget->parentWidget()) != nullptr ||
          is_control(*widget->parentWidget()))
        continue;
      EXPECT_TRUE(can_be_reached(*widget)) << page << ": " << control_place(*widget);
      EXPECT_GE(widget->width(), std::min(widget->minimumSizeHint().width(), 40))
          << page << ": " << control_place(*widget);
      EXPECT_GE(widget->height(), std::min(widget->minimumSizeHint().height(), 14))
          << page << ": " << control_place(*widget);
    }
  };
  look("start");
  // A comparison of all strategies has this many runs.
  traces::make_sample_file(folder_ / "many.dstrace", {.runs = 14, .requests_per_run = 2, .max_rounds = 10});
  ASSERT_EQ(open(folder_ / "many.dstrace"), QString());
  for (const NamedView& named : std::vector(window_.views())) {
    raise(named.name);
    window_.resize(room);
    settle();
    EXPECT_EQ(window_.size(), room) << named.name.toStdString();
    look(named.name.toStdString());
    // The view has some room, or can be scrolled to.
    EXPECT_GT(named.view->width(), 60) << named.name.toStdString();
    EXPECT_GT(named.view->height(), 20) << named.name.toStdString();
  }
}

TEST_F(Window, NothingThatIsSaidMakesItLarger) {
  const QSize room(1024, 600);
  // Names and words may have any length, without a place to break them.
  const std::string name(200, 'x');
  for (int i = 0; i < 8; ++i)
    traces::write_file(folder_ / (std::to_string(i) + name + ".dstrace"), "no recording");
  const auto shown = folder_ / (name + ".dstrace");
  std::filesystem::copy_file(folder_ / "sample.dstrace", shown);
  traces::change(shown, "UPDATE runs SET specification = specification || ',note=" + name +
                            "'; UPDATE meta SET value = '0' WHERE key = 'closed_cleanly'");
  std::filesystem::copy_file(shown, folder_ / ("second" + name + ".dstrace"));
  window_.resize(room);
  window_.open(QString::fromStdString(folder_.path().string()));
  ASSERT_TRUE(QTest::qWaitFor(
      [&] { return window_.state().opened().size() == 3 && !window_.loader().is_loading(); }, 60000));
  for (const RecordingPointer& recording : std::vector(window_.state().opened()))
    if (recording->recording().path == shown) window_.state().show(recording);
  window_.pinned().pin(1);
  window_.filter().set_words(QString::fromStdString("accepted=" + name));
  settle();
  EXPECT_TRUE(is_said("no SQLite header"));
  for (const NamedView& named : std::vector(window_.views())) {
    raise(named.name);
    window_.pages().open_timeline(true);
    window_.resize(room);
    settle();
    EXPECT_EQ(window_.size(), room) << named.name.toStdString();
  }
}

INSTANTIATE_TEST_SUITE_P(Screens, SmallScreen, testing::Values(QSize(1024, 600), QSize(640, 400)),
                         [](const testing::TestParamInfo<QSize>& size) {
                           return std::to_string(size.param.width()) + "by" +
                                  std::to_string(size.param.height());
                         });

}  // namespace
}  // namespace draftscope::gui

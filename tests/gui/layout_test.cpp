// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the size of the window, and the room that views have in it.
#include <gmock/gmock.h>

#include <QLineEdit>
#include <QScreen>
#include <QSplitter>
#include <map>

#include "timeline/timeline_view.h"
#include "window/view_page.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

class Layout : public Window {
 protected:
  /// Opens a recording with as many runs as there are strategies to compare.
  void open_many_runs() {
    traces::make_sample_file(folder_ / "many.dstrace", {.runs = 14, .requests_per_run = 2, .max_rounds = 10});
    ASSERT_EQ(open(folder_ / "many.dstrace"), QString());
  }
};

TEST_F(Layout, AWindowThatNobodyResizedIsWithinTheScreen) {
  // The screen of the platform without a display is smaller than the preferred window size.
  MainWindow fresh(Memory::none);
  fresh.show();
  const QSize screen = fresh.screen()->availableSize();
  EXPECT_LE(fresh.width(), screen.width());
  EXPECT_LE(fresh.height(), screen.height());
}

TEST_F(Layout, EachPageShowsItsViewsAndNoOthers) {
  window_.resize(1280, 800);
  open_many_runs();
  std::map<QString, QStringList> views;
  for (const NamedView& named : window_.views())
    if (const QString page = window_.pages().page_of(*named.view); !page.isEmpty()) views[page] << named.name;
  EXPECT_EQ(views.size(), static_cast<std::size_t>(window_.pages().count()));
  for (const auto& [page, names] : views) {
    raise(names.front());
    for (const NamedView& named : window_.views()) {
      // Pictures in the tabs of the what-if page hide one another.
      if (named.name.startsWith(u"what-if-") || named.name.startsWith(u"advise-") ||
          named.name.startsWith(u"compare-") || named.name == u"timeline")
        continue;
      // The record page does not belong to the shown recording, so it has no strip.
      const bool is_here = names.contains(named.name) || (named.name == u"strip" && page != u"record");
      EXPECT_EQ(named.view->isVisible(), is_here) << page.toStdString() << ": " << named.name.toStdString();
      if (is_here) {
        EXPECT_GE(named.view->width(), named.view->minimumSizeHint().width()) << named.name.toStdString();
        EXPECT_GE(named.view->height(), named.view->minimumSizeHint().height()) << named.name.toStdString();
      }
    }
  }
}

TEST_F(Layout, TheTimelineIsADrawerOfItsOwnOnEachPage) {
  window_.resize(1280, 800);
  open_many_runs();
  QWidget& timeline = view_of<QWidget>(window_, QStringLiteral("timeline"));
  for (const auto& [view, is_open] : std::map<const char*, bool>{{"summary", false},
                                                                 {"breakdown", true},
                                                                 {"skip-map", true},
                                                                 {"compare", false},
                                                                 {"what-if", false},
                                                                 {"sql", false}}) {
    raise(QString::fromUtf8(view));
    EXPECT_EQ(timeline.isVisible(), is_open) << view;
  }
  window_.activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  raise(QStringLiteral("compare"));
  QTest::keyClick(&window_, Qt::Key_T);
  EXPECT_TRUE(timeline.isVisible());
  raise(QStringLiteral("skip-map"));
  QTest::keyClick(&window_, Qt::Key_T);
  EXPECT_FALSE(timeline.isVisible());
  raise(QStringLiteral("breakdown"));
  EXPECT_TRUE(timeline.isVisible()) << "other pages keep theirs";
  raise(QStringLiteral("compare"));
  EXPECT_TRUE(timeline.isVisible());
}

TEST_F(Layout, TheTimelineIsNeverHigherThanItsLanes) {
  traces::make_sample_file(folder_ / "one.dstrace", {.runs = 1, .requests_per_run = 1, .kernels = false});
  ASSERT_EQ(open(folder_ / "one.dstrace"), QString());
  auto& timeline = view_of<TimelineView>(window_, QStringLiteral("timeline"));
  for (const QSize& size : {QSize(1024, 900), QSize(1280, 1400), QSize(1920, 1900)}) {
    window_.resize(size);
    raise(QStringLiteral("skip-map"));
    window_.show_view(timeline);
    settle();
    EXPECT_LE(timeline.height(), timeline.content_height()) << size.height();
    EXPECT_GT(timeline.height(), 60) << size.height();
  }
}

TEST_F(Layout, AViewGetsAllTheRoomByKeyAndByDoubleClickAndGivesItBack) {
  window_.resize(1280, 800);
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  window_.activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  QWidget& map = raise(QStringLiteral("skip-map"));
  QWidget& confidence = view_of<QWidget>(window_, QStringLiteral("confidence"));
  QWidget& timeline = view_of<QWidget>(window_, QStringLiteral("timeline"));
  const QSize before = confidence.size();
  confidence.setFocus();
  QTest::keyClick(&window_, Qt::Key_F11);
  settle();
  EXPECT_TRUE(confidence.isVisible());
  EXPECT_FALSE(map.isVisible());
  EXPECT_FALSE(timeline.isVisible());
  EXPECT_GT(confidence.height(), 2 * before.height());
  QTest::keyClick(&window_, Qt::Key_F11);
  settle();
  EXPECT_TRUE(map.isVisible());
  EXPECT_TRUE(timeline.isVisible());
  EXPECT_EQ(confidence.size(), before);

  const auto title_of = [](QWidget& view) {
    for (QWidget* around = view.parentWidget(); around != nullptr; around = around->parentWidget())
      if (auto* panel = qobject_cast<ViewPanel*>(around)) return panel->findChild<QLabel*>();
    throw std::runtime_error("no title");
  };
  QTest::mouseDClick(title_of(map), Qt::LeftButton);
  settle();
  EXPECT_FALSE(confidence.isVisible());
  EXPECT_TRUE(map.isVisible());
  // Every other page still shows all of its views.
  raise(QStringLiteral("rounds"));
  EXPECT_TRUE(view_of<QWidget>(window_, QStringLiteral("breakdown")).isVisible());
  QTest::mouseDClick(title_of(timeline), Qt::LeftButton);
  settle();
  EXPECT_TRUE(timeline.isVisible());
  EXPECT_FALSE(view_of<QWidget>(window_, QStringLiteral("rounds")).isVisible());
  window_.show_view(confidence);
  settle();
  EXPECT_TRUE(confidence.isVisible());
  EXPECT_TRUE(map.isVisible());
}

TEST_F(Layout, IsResetAndRemembered) {
  window_.resize(1280, 800);
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  QWidget& map = raise(QStringLiteral("skip-map"));
  ViewPages& pages = window_.pages();
  const int height = map.height();
  // Find the divider between the page's rows; the map may also have a splitter for the pinned run.
  QSplitter* divider = nullptr;
  for (QWidget* around = map.parentWidget(); around != nullptr && divider == nullptr;
       around = around->parentWidget()) {
    divider = qobject_cast<QSplitter*>(around);
    if (divider != nullptr && divider->count() < 2) divider = nullptr;
  }
  ASSERT_NE(divider, nullptr);
  divider->setSizes({1, 9});
  pages.open_timeline(false);
  settle();
  EXPECT_NE(map.height(), height);
  const int dragged = map.height();
  const QVariantMap kept = pages.layout_state();
  pages.reset_layout();
  settle();
  EXPECT_EQ(map.height(), height);
  EXPECT_TRUE(pages.is_timeline_open());
  raise(QStringLiteral("sql"));
  pages.restore_layout(kept);
  settle();
  EXPECT_TRUE(map.isVisible()) << "the page, too";
  EXPECT_EQ(map.height(), dragged);
  EXPECT_FALSE(pages.is_timeline_open());
  // A layout that another version wrote changes nothing.
  pages.restore_layout({{QStringLiteral("skip-map"), 7}, {QStringLiteral("page"), QStringLiteral("gone")}});
  settle();
  EXPECT_EQ(map.height(), dragged);
}

TEST_F(Layout, AMatchThatIsSearchedForComesIntoSight) {
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  raise(QStringLiteral("summary"));
  QWidget& timeline = view_of<QWidget>(window_, QStringLiteral("timeline"));
  ASSERT_FALSE(timeline.isVisible());
  auto& search = named_widget<QLineEdit>(window_, "Search the timeline");
  search.setText(QStringLiteral("round"));
  QTest::keyClick(&search, Qt::Key_Return);
  EXPECT_TRUE(timeline.isVisible());
}

}  // namespace
}  // namespace draftscope::gui

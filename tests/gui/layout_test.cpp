// SPDX-License-Identifier: GPL-3.0-or-later
// The room that the window takes, and that views have in it.
#include <gmock/gmock.h>

#include <QScreen>

#include "window_fixture.h"

namespace draftscope::gui {
namespace {

class Layout : public Window {
 protected:
  /// As many runs as a comparison of all strategies has.
  void open_many_runs() {
    traces::make_sample_file(folder_ / "many.dstrace", {.runs = 14, .requests_per_run = 2, .max_rounds = 10});
    ASSERT_EQ(open(folder_ / "many.dstrace"), QString());
  }
};

TEST_F(Layout, AWindowThatNobodyResizedIsWithinTheScreen) {
  // The screen of the platform without a display is smaller than the size that is wanted.
  MainWindow fresh(Memory::none);
  fresh.show();
  const QSize screen = fresh.screen()->availableSize();
  EXPECT_LE(fresh.width(), screen.width());
  EXPECT_LE(fresh.height(), screen.height());
}

TEST_F(Layout, NeitherAViewNorAManyRunsRecordingMakesASmallWindowLarger) {
  const QSize small(1024, 600);
  window_.resize(small);
  settle();
  EXPECT_EQ(window_.size(), small) << "start page";
  open_many_runs();
  for (const NamedView& named : std::vector(window_.views())) {
    raise(named.name);
    window_.resize(small);
    settle();
    EXPECT_EQ(window_.size(), small) << named.name.toStdString();
  }
}

}  // namespace
}  // namespace draftscope::gui

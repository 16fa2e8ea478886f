// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the first minutes of use: the start page, the shipped samples, and the tour of the first sample.
#include "help/tour.h"

#include <gmock/gmock.h>

#include <QLayout>
#include <QListWidget>
#include <QPushButton>
#include <QToolButton>
#include <set>

#include "../window_fixture.h"
#include "help/widget_mark.h"
#include "window/start_page.h"

namespace draftscope::gui {
namespace {

class FirstRun : public Window {
 protected:
  QPushButton& button(const QString& words) {
    for (QPushButton* button : window_.findChild<StartPage*>()->findChildren<QPushButton*>())
      if (button->text().remove(u'&').startsWith(words)) return *button;
    throw std::runtime_error(words.toStdString());
  }
  QListWidget& samples() { return named_widget<QListWidget>(*window_.findChild<StartPage*>(), "Samples"); }
  /// Opens the sample in this line by a click, and waits for all of it.
  QString open_sample(int line) {
    QListWidget& list = samples();
    return wait_for_loading([&] {
      QTest::mouseClick(list.viewport(), Qt::LeftButton, Qt::NoModifier,
                        list.visualItemRect(list.item(line)).center());
    });
  }
  void start_tour() {
    ASSERT_EQ(wait_for_loading([&] { button(QStringLiteral("Tour")).click(); }), QString());
    ASSERT_TRUE(QTest::qWaitFor([&] { return window_.tour().is_under_way(); }, 20000));
    window_.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  }
};

TEST_F(FirstRun, EverySampleHasALineThatFitsAndOpensByIt) {
  const std::filesystem::path folder = std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples";
  std::set<std::string> shipped;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".dstrace") shipped.insert(file.path().filename().string());
  EXPECT_GE(shipped.size(), 3U);
  std::set<std::string> listed;
  for (const QSize& size : {QSize(1280, 800), QSize(1920, 1080)}) {
    window_.resize(size);
    settle();
    EXPECT_LE(samples().sizeHintForColumn(0), samples().viewport()->width()) << "a line is cut";
    EXPECT_GE(samples().viewport()->height(), samples().count() * samples().sizeHintForRow(0));
  }
  const int lines = samples().count();
  for (int line = 0; line < lines; ++line) {
    const QString words = samples().item(line)->text();
    const std::string name = words.section(u' ', 0, 0).toStdString();
    if (!shipped.contains(name)) continue;  // a sample of a demo, beside the build
    listed.insert(name);
    EXPECT_GE(words.section(u' ', 1).trimmed().size(), 20) << words.toStdString();
    ASSERT_EQ(open_sample(line), QString());
    ASSERT_NE(window_.state().recording(), nullptr);
    EXPECT_EQ(window_.state().recording()->name(), name);
    EXPECT_THAT(window_.state().recording()->warnings(), testing::IsEmpty());
    window_.close_all_recordings();
  }
  EXPECT_EQ(listed, shipped);
}

TEST_F(FirstRun, ASampleOfAGpuSaysNothingOfThreads) {
  for (int line = 0; line < samples().count(); ++line) {
    const bool is_of_gpu = samples().item(line)->text().startsWith(u"h200");
    ASSERT_EQ(open_sample(line), QString());
    raise(QStringLiteral("summary"));
    EXPECT_EQ(is_said("thread"), !is_of_gpu);
    window_.close_all_recordings();
  }
}

TEST_F(FirstRun, TheSampleShowsWhatThereIs) {
  ASSERT_EQ(open_sample(0), QString());
  const RecordingPointer& sample = window_.state().recording();
  ASSERT_NE(sample, nullptr);
  const traces::Recording& rows = sample->recording();
  EXPECT_LE(std::filesystem::file_size(rows.path), 1024U * 1024U);
  EXPECT_GE(rows.prompts.size(), 12U);
  EXPECT_GE(rows.runs.size(), 4U);
  std::set<std::string> categories;
  for (const traces::Prompt& prompt : rows.prompts) categories.insert(prompt.category);
  EXPECT_GE(categories.size(), 2U);
  auto reader = traces::Reader::open(rows.path);
  ASSERT_TRUE(reader);
  std::map<std::string, std::int64_t> counts;
  const auto tables = reader->row_counts();
  ASSERT_TRUE(tables);
  for (const traces::TableCount& count : *tables) counts[count.table] = count.rows;
  EXPECT_GT(counts["shadow_tokens"], 0);
  EXPECT_GT(counts["decisions"], 0);
  std::set<traces::Phase> phases;
  ASSERT_TRUE(reader->spans([&](const traces::Span& span) {
    phases.insert(span.phase);
    return true;
  }));
  for (const traces::Phase phase :
       {traces::Phase::prefill, traces::Phase::draft, traces::Phase::verify, traces::Phase::accept})
    EXPECT_TRUE(phases.contains(phase)) << static_cast<int>(phase);
  EXPECT_THAT(sample->warnings(), testing::IsEmpty());
}

TEST_F(FirstRun, TheTourGoesThroughTheFiveQuestionsByKeyboard) {
  for (const QSize& size : {QSize(1280, 800), QSize(1024, 600)}) {
    window_.close_all_recordings();
    window_.resize(size);
    start_tour();
    Tour& tour = window_.tour();
    std::set<QString> views;
    for (int step = 0; step < static_cast<int>(tour_steps().size()); ++step) {
      settle();
      ASSERT_EQ(tour.step(), step);
      EXPECT_TRUE(tour.isVisible());
      EXPECT_TRUE(window_.rect().contains(tour.geometry())) << step;
      EXPECT_GE(tour.height(), tour.layout()->minimumHeightForWidth(tour.width()))
          << step << ": its words are cut";
      ASSERT_NE(tour.marked(), nullptr) << step;
      EXPECT_TRUE(tour.marked()->isVisible()) << step;
      const auto marks = window_.findChildren<WidgetMark*>();
      EXPECT_TRUE(std::ranges::any_of(marks, [&](const WidgetMark* mark) {
        return mark->target() == tour.marked() && mark->isVisible();
      })) << step;
      // The frame around the marked widget stays below the tour's words, also after the words have moved.
      for (const QSize& other : {size - QSize(10, 10), size}) {
        window_.resize(other);
        settle();
        const QPoint corner = tour.geometry().topLeft() + QPoint(tour.width() / 2, 8);
        EXPECT_TRUE(tour.isAncestorOf(window_.childAt(corner)) || window_.childAt(corner) == &tour) << step;
        const QObjectList& order = window_.children();
        EXPECT_GT(order.indexOf(&tour),
                  order.indexOf(*std::ranges::find_if(
                      marks, [&](const WidgetMark* mark) { return mark->target() == tour.marked(); })))
            << step;
      }
      const QString view = tour_steps()[static_cast<std::size_t>(step)].view;
      views.insert(view);
      if (!view.isEmpty()) {
        EXPECT_TRUE(view_of<QWidget>(window_, view).isVisible()) << view.toStdString();
      }
      ASSERT_NE(QApplication::focusWidget(), nullptr);
      QTest::keyClick(QApplication::focusWidget(), Qt::Key_Right);
    }
    EXPECT_FALSE(tour.is_under_way()) << "after the last step";
    EXPECT_FALSE(tour.isVisible());
    EXPECT_EQ(tour.marked(), nullptr);
    for (const char* view :
         {"summary", "why", "skip-map", "confidence", "what-if", "compare", "breakdown", "timeline"})
      EXPECT_TRUE(views.contains(QString::fromUtf8(view))) << view;
  }
}

TEST_F(FirstRun, TheTourGoesBackAndIsLeft) {
  start_tour();
  Tour& tour = window_.tour();
  QTest::keyClick(&tour, Qt::Key_Left);
  EXPECT_EQ(tour.step(), 0);
  QTest::keyClick(&tour, Qt::Key_Return);
  QTest::keyClick(&tour, Qt::Key_Return);
  EXPECT_EQ(tour.step(), 2);
  QTest::keyClick(&tour, Qt::Key_Left);
  EXPECT_EQ(tour.step(), 1);
  QTest::keyClick(&tour, Qt::Key_Escape);
  EXPECT_FALSE(tour.is_under_way());
  EXPECT_TRUE(window_.state().recording() != nullptr) << "the sample stays open";
  window_.start_tour();
  EXPECT_EQ(tour.step(), 0) << "of the sample that is shown";
  window_.close_all_recordings();
  EXPECT_FALSE(tour.is_under_way());
}

}  // namespace
}  // namespace draftscope::gui

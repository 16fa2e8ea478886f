// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the timeline's lanes and their labels, in the real window.
#include <gmock/gmock.h>

#include <QLineEdit>
#include <QMouseEvent>
#include <QScrollBar>
#include <cmath>

#include "data/rounds/round_times.h"
#include "timeline/slice_label.h"
#include "timeline/timeline_bar.h"
#include "timeline/timeline_view.h"
#include "widgets/drawing.h"
#include "widgets/theme.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

class TimelineLanes : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    traces::make_sample_file(folder_ / "many.dstrace", {.runs = 14, .requests_per_run = 3, .max_rounds = 12});
    ASSERT_EQ(open(folder_ / "many.dstrace"), QString());
    raise(QStringLiteral("timeline"));
    timeline_.setFocus();
  }

  [[nodiscard]] ViewState& state() { return window_.state(); }

  /// Middle of a row's title, in coordinates of the viewport.
  [[nodiscard]] QPoint title_point(const LaneRow& row) const {
    return {30, 24 + row.top - (row.is_pinned ? 0 : timeline_.verticalScrollBar()->value()) + row.height / 2};
  }

  [[nodiscard]] std::size_t rows_of_group(std::size_t group) const {
    const auto& rows = timeline_.lanes().rows();
    return static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [&](const LaneRow& row) { return row.group == group; }));
  }

  TimelineView& timeline_ = view_of<TimelineView>(window_, QStringLiteral("timeline"));
};

TEST_F(TimelineLanes, CollapseByAClickOnTheirTitleAndByKey) {
  const auto& groups = timeline_.lanes().groups();
  const auto run = std::ranges::find(groups, ShownGroup::GroupKind::run, &ShownGroup::kind);
  ASSERT_TRUE(timeline_.lanes().is_collapsed(*run)) << "14 runs have a lane each at first";
  const auto of_run = static_cast<std::size_t>(run - groups.begin());
  EXPECT_EQ(rows_of_group(of_run), 1U);
  QTest::mouseClick(timeline_.viewport(), Qt::LeftButton, Qt::NoModifier,
                    title_point(*std::ranges::find(timeline_.lanes().rows(), of_run, &LaneRow::group)));
  EXPECT_EQ(rows_of_group(of_run), 2U);
  QTest::keyClick(&timeline_, Qt::Key_C);
  EXPECT_EQ(rows_of_group(of_run), 1U);
  EXPECT_EQ(state().range(), state().recording()->whole()) << "a click on a title moves nothing";
}

TEST_F(TimelineLanes, StayOnTopWhenTheyArePinned) {
  window_.resize(1024, 600);
  settle();
  QScrollBar& scroll = *timeline_.verticalScrollBar();
  timeline_.show_hidden_groups();
  const std::size_t last = timeline_.lanes().groups().size() - 2;
  timeline_.pin(last, true);
  ASSERT_GT(scroll.maximum(), 0);
  const LaneRow first = timeline_.lanes().rows().front();
  EXPECT_EQ(first.group, last);
  EXPECT_TRUE(first.is_pinned);
  EXPECT_EQ(first.top, 0);
  scroll.setValue(scroll.maximum());
  // A click reaches what is drawn at its place, scrolled or not.
  QTest::mouseClick(timeline_.viewport(), Qt::LeftButton, Qt::NoModifier, title_point(first));
  EXPECT_EQ(timeline_.current_row(), 0U);
  QTest::keyClick(&timeline_, Qt::Key_P);
  EXPECT_FALSE(timeline_.lanes().rows().front().is_pinned);
}

TEST_F(TimelineLanes, HideAndComeBack) {
  const int before = timeline_.content_height();
  const std::size_t rows = rows_of_group(0);
  QTest::keyClick(&timeline_, Qt::Key_Down, Qt::ControlModifier);
  ASSERT_EQ(timeline_.current_row(), 0U);
  QTest::keyClick(&timeline_, Qt::Key_H);
  EXPECT_EQ(rows_of_group(0), 0U);
  EXPECT_LT(timeline_.content_height(), before);
  QTest::keyClick(&timeline_, Qt::Key_H, Qt::ShiftModifier);
  EXPECT_EQ(rows_of_group(0), rows);
  EXPECT_EQ(timeline_.content_height(), before);
}

TEST_F(TimelineLanes, WithoutAnythingInTheTimeShownFoldAway) {
  const int before = timeline_.content_height();
  const traces::Round& round = state().recording()->round(state().run_rounds()->rounds.front());
  state().set_range({round.start_ns, round.end_ns});
  timeline_.set_folding(true);
  for (const LaneRow& row : timeline_.lanes().rows()) {
    if (row.kind != LaneRow::RowKind::lane) continue;
    const Lane& lane = state().timeline()->lanes[row.index];
    const std::size_t first = lane.slices.first_ending_after(round.start_ns);
    ASSERT_LT(first, lane.slices.size());
    EXPECT_LT(lane.slices.start_ns(first), round.end_ns) << lane.name;
  }
  EXPECT_LT(timeline_.content_height(), before);
  EXPECT_GE(timeline_.lanes().folded(), 13);
  timeline_.set_folding(false);
  EXPECT_EQ(timeline_.content_height(), before);
  timeline_.set_folding(true);
  state().show_whole();
  timeline_.set_folding(true);
  EXPECT_EQ(timeline_.content_height(), before);
}

TEST_F(TimelineLanes, HaveTitlesAsWideAsTheirEdgeIsDragged) {
  QWidget& area = *timeline_.viewport();
  const auto send = [&](QEvent::Type type, int x) {
    QMouseEvent event(type, QPointF(x, 50), area.mapToGlobal(QPointF(x, 50)),
                      type == QEvent::MouseMove ? Qt::NoButton : Qt::LeftButton,
                      type == QEvent::MouseButtonRelease ? Qt::NoButton : Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&area, &event);
  };
  const TimeRange shown = state().range();
  const int before = timeline_.header_width();
  send(QEvent::MouseButtonPress, before - 1);
  send(QEvent::MouseMove, before + 99);
  send(QEvent::MouseButtonRelease, before + 99);
  EXPECT_EQ(timeline_.header_width(), before + 100) << area.width();
  EXPECT_EQ(state().range(), shown);
  QTest::keyClick(&timeline_, Qt::Key_Less);
  EXPECT_LT(timeline_.header_width(), before + 100);
  send(QEvent::MouseButtonPress, timeline_.header_width());
  send(QEvent::MouseMove, 4000);
  send(QEvent::MouseButtonRelease, 4000);
  EXPECT_LE(timeline_.header_width(), area.width() / 2) << "lanes keep their room";
  for (int i = 0; i < 100; ++i) QTest::keyClick(&timeline_, Qt::Key_Less);
  EXPECT_GE(timeline_.header_width(), 40);
}

TEST_F(TimelineLanes, AreGoneThroughByKeysSliceBySlice) {
  QTest::keyClick(&timeline_, Qt::Key_Down, Qt::ControlModifier);
  QTest::keyClick(&timeline_, Qt::Key_Right, Qt::AltModifier);
  ASSERT_TRUE(timeline_.selected());
  const SlicePlace first = *timeline_.selected();
  QTest::keyClick(&timeline_, Qt::Key_Right, Qt::AltModifier);
  EXPECT_EQ(*timeline_.selected(), (SlicePlace{first.lane, first.slice + 1}));
  EXPECT_EQ(state().cursor().round_index,
            state().timeline()->lanes[first.lane].slices.round_index(first.slice + 1));
  QTest::keyClick(&timeline_, Qt::Key_Left, Qt::AltModifier);
  EXPECT_EQ(*timeline_.selected(), first);
  EXPECT_THAT(timeline_.accessibleDescription().toStdString(),
              testing::HasSubstr("lane decoding (host); optimise"));
  for (int i = 0; i < 3; ++i) QTest::keyClick(&timeline_, Qt::Key_Right, Qt::ShiftModifier);
  ASSERT_TRUE(state().selection());
  const std::int64_t longer = state().selection()->duration_ns();
  QTest::keyClick(&timeline_, Qt::Key_Left, Qt::ShiftModifier);
  EXPECT_LT(state().selection()->duration_ns(), longer);
  QTest::keyClick(&timeline_, Qt::Key_Escape);
  EXPECT_FALSE(state().selection());
  EXPECT_FALSE(timeline_.selected());
}

TEST_F(TimelineLanes, ThatHideAMatchAreOpened) {
  for (std::size_t group = 0; group < timeline_.lanes().groups().size(); ++group) timeline_.hide_group(group);
  ASSERT_TRUE(timeline_.lanes().rows().empty());
  ASSERT_GT(timeline_.set_search(QStringLiteral("request")), 0);
  ASSERT_TRUE(timeline_.step_match(true));
  const std::size_t lane = timeline_.selected()->lane;
  const auto& rows = timeline_.lanes().rows();
  EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const LaneRow& row) { return row.index == lane; }));
}

TEST_F(TimelineLanes, HaveALegendOfTheirColours) {
  EXPECT_THAT(timeline_.bar().legend().accessibleDescription().toStdString(),
              testing::AllOf(testing::HasSubstr("draft"), testing::HasSubstr("verify"),
                             testing::HasSubstr("prefill")));
}

TEST_F(TimelineLanes, DrawARoundAsItsPhases) {
  const auto& rounds = state().run_rounds()->rounds;
  const auto drafting = std::find_if(rounds.begin(), rounds.end(), [&](std::uint32_t index) {
    const traces::Round& round = state().recording()->round(index);
    const std::int64_t all = round.end_ns - round.start_ns;
    return round.draft_ns > all / 8 && round.verify_ns > all / 8;
  });
  ASSERT_NE(drafting, rounds.end());
  const traces::Round& round = state().recording()->round(*drafting);
  const auto all = static_cast<double>(round.end_ns - round.start_ns);
  state().set_range({round.start_ns, round.end_ns});
  const auto& rows = timeline_.lanes().rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const LaneRow& candidate) {
    return candidate.kind == LaneRow::RowKind::lane &&
           state().timeline()->lanes[candidate.index].kind == LaneKind::rounds;
  });
  ASSERT_NE(row, rows.end());
  state().set_cursor({});
  const QImage picture = timeline_.viewport()->grab().toImage();
  const double lanes = timeline_.viewport()->width() - timeline_.header_width();
  const auto color_at = [&](double share) {
    return QColor(
        picture.pixel(timeline_.header_width() + static_cast<int>(share * lanes), 24 + row->top + 1));
  };
  const bool dark = is_dark(timeline_.palette());
  EXPECT_EQ(color_at(static_cast<double>(round.draft_ns) / 2 / all), phase_color(traces::Phase::draft, dark));
  EXPECT_EQ(color_at((static_cast<double>(round.draft_ns) + static_cast<double>(round.verify_ns) / 2) / all),
            phase_color(traces::Phase::verify, dark));
}

TEST_F(TimelineLanes, AreLabelledWithWhatTellsOneSliceFromTheNext) {
  const Timeline& timeline = *state().timeline();
  const OpenedRecording& opened = *state().recording();
  bool has_layers = false;
  for (const Lane& lane : timeline.lanes)
    for (std::size_t i = 0; i < std::min<std::size_t>(lane.slices.size(), 40); ++i) {
      const SliceLabel label = slice_label(opened, timeline, lane, i);
      ASSERT_FALSE(label.lengths.isEmpty());
      EXPECT_EQ(label.lengths.front(), label.words.size());
      for (qsizetype k = 1; k < label.lengths.size(); ++k) EXPECT_LT(label.lengths[k], label.lengths[k - 1]);
      const std::string words = label.words.toStdString();
      if (lane.kind == LaneKind::rounds) {
        EXPECT_THAT(words, testing::ContainsRegex("^#[0-9]+( [0-9]+/[0-9]+\\+1)? [0-9.]+ (n|µ|m)?s$"));
      } else if (lane.kind == LaneKind::requests) {
        EXPECT_THAT(words, testing::ContainsRegex("^q[0-9]+(\\.[0-9]+)?·[0-9]+ (coding|qa|summarization) "));
      } else if (timeline.names[lane.slices.name(i)] == "layer") {
        has_layers = true;
        EXPECT_THAT(words, testing::ContainsRegex("^L[0-9]+ [0-9.]+ (n|µ|m)?s$"));
      }
    }
  EXPECT_TRUE(has_layers);
}

TEST_F(TimelineLanes, NameKernelsByTheirOperationFirst) {
  Timeline timeline;
  timeline.names = {"qkv: ProductKernel<Bf16>", "[memcpy HtoD]"};
  Lane lane;
  lane.slices.add({.time = {0, 19'000}, .name = 0, .layer = 12});
  lane.slices.add({.time = {20'000, 21'000}, .name = 1});
  const SliceLabel kernel = slice_label(*state().recording(), timeline, lane, 0);
  EXPECT_EQ(kernel.words.toStdString(), "L12 qkv 19.0 µs ProductKernel<Bf16>");
  ASSERT_EQ(kernel.lengths.size(), 4);
  EXPECT_EQ(kernel.words.left(kernel.lengths[1]).toStdString(), "L12 qkv 19.0 µs ProductKernel");
  EXPECT_EQ(kernel.words.left(kernel.lengths[2]).toStdString(), "L12 qkv 19.0 µs");
  EXPECT_EQ(kernel.words.left(kernel.lengths[3]).toStdString(), "L12 qkv");
  EXPECT_EQ(slice_label(*state().recording(), timeline, lane, 1).words.toStdString(),
            "[memcpy HtoD] 1.00 µs");
}

TEST_F(TimelineLanes, LabelDraftStepsWithTheirToken) {
  const OpenedRecording& opened = *state().recording();
  const auto& rounds = opened.recording().rounds;
  const auto round = std::find_if(rounds.begin(), rounds.end(), [&](const traces::Round& candidate) {
    return candidate.drafted >= 2 &&
           candidate.accepted >= 2;  // the draft is a chain at least up to two tokens
  });
  ASSERT_NE(round, rounds.end());
  const auto index = static_cast<std::uint32_t>(round - rounds.begin());
  Timeline timeline;
  timeline.names = {"draft step"};
  Lane lane;
  for (const std::int64_t start : {100, 200})
    lane.slices.add({.time = {start, start + 50}, .round_index = index, .phase = traces::Phase::draft});
  for (const std::size_t step : {0U, 1U}) {
    const traces::DraftToken& token = opened.draft_tokens(index)[step];
    EXPECT_THAT(slice_label(opened, timeline, lane, step).words.toStdString(),
                testing::AllOf(testing::HasSubstr(QString::number(token.confidence, 'f', 2).toStdString()),
                               testing::HasSubstr(std::to_string(token.token))));
  }
}

TEST(LabelFonts, ChooseTheLongestBeginningThatFitsAndCutTheShortest) {
  const LabelFont font{QFont()};
  const SliceLabel label{QStringLiteral("#41 4/4+1 723 µs"), {16, 9, 3}};
  const auto width_of = [&](qsizetype letters) { return font.width(label.words.left(letters)); };
  for (int width = 0; width < 200; ++width) {
    const QString fitting = font.fitting(label, width);
    EXPECT_LE(font.width(fitting), width);
    const auto longest = std::find_if(label.lengths.begin(), label.lengths.end(),
                                      [&](qsizetype letters) { return width_of(letters) <= width; });
    if (longest != label.lengths.end()) {
      EXPECT_EQ(fitting, label.words.left(*longest));
    } else {
      EXPECT_TRUE(fitting.isEmpty()) << "three letters without the middle say nothing";
    }
  }
  EXPECT_NEAR(font.width(label.words), QFontMetrics(QFont()).horizontalAdvance(label.words), 6);
  const QString name = QStringLiteral("splitKreduce_kernel");
  for (int width = 0; width < font.width(name); ++width) {
    const QString fitting = font.fitting({name, {name.size()}}, width);
    EXPECT_LE(font.width(fitting), width);
    if (fitting.isEmpty()) continue;
    const QStringList ends = fitting.split(u'…');
    ASSERT_EQ(ends.size(), 2);
    EXPECT_TRUE(name.startsWith(ends[0]) && name.endsWith(ends[1])) << fitting.toStdString();
    EXPECT_GE(ends[0].size() + ends[1].size(), 5) << fitting.toStdString();
  }
}

TEST(LabelFonts, KeepWholeWordsBeforePartsOfOne) {
  const LabelFont font{QFont()};
  const QString name = QStringLiteral("output projection norm");
  const SliceLabel label{name, {name.size()}};
  const auto at = [&](const QString& shown) { return font.fitting(label, font.width(shown)); };
  for (const QString& shown : {name, QStringLiteral("output projection…"), QStringLiteral("output…")})
    EXPECT_EQ(at(shown), shown);
  EXPECT_EQ(at(QStringLiteral("output…pr")), QStringLiteral("output…"));
  EXPECT_FALSE(at(QStringLiteral("outpu…")).endsWith(u'…')) << "no word fits";
}

TEST(LabelFonts, DrawWhatALayoutDrawsInTheInkOfEachPlace) {
  const QFont font;
  const LabelFont letters(font);
  const auto drawn = [&](const auto& draw) {
    QImage image(300, 24, QImage::Format_RGB32);
    image.fill(Qt::gray);
    QPainter painter(&image);
    painter.setFont(font);
    draw(painter);
    return image;
  };
  // These words have no pairs of letters that a layout would kern.
  const QString words = QStringLiteral("#41 4/4+1 723 µs");
  const auto with_inks = [&](std::vector<LabelInk> inks) {
    return drawn([&](QPainter& painter) {
      LabelBatch batch(painter, letters);
      batch.add({3, 17}, words, inks);
      batch.draw();
    });
  };
  const QImage black = with_inks({{300, Qt::black}});
  EXPECT_EQ(black, drawn([&](QPainter& painter) { painter.drawText(3, 17, words); }));
  const QImage white = with_inks({{300, Qt::white}});
  const QImage both = with_inks({{60, Qt::black}, {300, Qt::white}});
  const int letter = letters.width(QStringLiteral("#")) + 2;
  EXPECT_EQ(both.copy(0, 0, 60 - letter, 24), black.copy(0, 0, 60 - letter, 24));
  EXPECT_EQ(both.copy(60 + letter, 0, 200, 24), white.copy(60 + letter, 0, 200, 24));
  // These letters need a layout.
  const QString other = QStringLiteral("日本語 0.93");
  EXPECT_EQ(drawn([&](QPainter& painter) {
              LabelBatch batch(painter, letters);
              batch.add({3, 17}, other, std::vector<LabelInk>{{300, Qt::black}});
              batch.draw();
            }),
            drawn([&](QPainter& painter) { painter.drawText(3, 17, other); }));
}

TEST(LabelInks, CanBeReadOnEveryPhase) {
  const auto luminance = [](const QColor& color) {
    const auto linear = [](double channel) {
      return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
  };
  for (int phase = 0; phase < traces::phase_count; ++phase)
    for (const bool dark : {false, true})
      for (int depth = 0; depth <= 5; ++depth) {
        QColor back = phase_color(static_cast<traces::Phase>(phase), dark);
        back = dark ? back.darker(100 + 14 * depth) : back.lighter(100 + 12 * depth);
        const double a = luminance(back) + 0.05;
        const double b = luminance(ink_on(back)) + 0.05;
        EXPECT_GE(std::max(a, b) / std::min(a, b), 4.5) << phase << " " << dark;
      }
}

}  // namespace
}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the real window without a display: opening, selecting, zooming, playing, comparing, damaged files,
// pictures.
#include <gmock/gmock.h>

#include <QComboBox>
#include <QImage>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>
#include <QWheelEvent>

#include "timeline/timeline_view.h"
#include "views/compare_view.h"
#include "views/replay/replay_view.h"
#include "window/snapshot.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

TEST_F(Window, OpensARecordingAndShowsItsFirstDraftingRun) {
  EXPECT_EQ(open(folder_ / "sample.dstrace"), QString());
  ViewState& state = window_.state();
  ASSERT_NE(state.recording(), nullptr);
  ASSERT_NE(state.timeline(), nullptr);
  EXPECT_FALSE(state.run_rounds()->run->is_baseline);
  EXPECT_EQ(state.range(), state.recording()->whole());
  EXPECT_THAT(window_.windowTitle().toStdString(), testing::HasSubstr("sample.dstrace"));
}

TEST_F(Window, ASelectedRowMovesTheCursorAndTheCursorSelectsTheRow) {
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  ViewState& state = window_.state();
  auto* table = raise(QStringLiteral("rounds")).findChild<QTableView*>();
  ASSERT_NE(table, nullptr);
  table->setCurrentIndex(table->model()->index(5, 0));
  EXPECT_EQ(state.cursor().round_index, state.run_rounds()->rounds[5]);
  state.go_to_round(state.run_rounds()->rounds[2]);
  EXPECT_EQ(table->currentIndex().row(), 2);
}

TEST_F(Window, NeverShowsTimeOutsideTheRecording) {
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  ViewState& state = window_.state();
  const TimeRange whole = state.recording()->whole();
  for (const TimeRange asked :
       {TimeRange{whole.start_ns - 1000000, whole.end_ns + 1000000},
        TimeRange{whole.end_ns, whole.end_ns + 50}, TimeRange{whole.start_ns, whole.start_ns}}) {
    state.set_range(asked);
    EXPECT_GE(state.range().start_ns, whole.start_ns);
    EXPECT_LE(state.range().end_ns, whole.end_ns);
    EXPECT_GT(state.range().duration_ns(), 0);
  }
}

TEST_F(Window, ThePlayerGoesThroughTheTextAndMovesEveryCursor) {
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  ViewState& state = window_.state();
  auto& replay = view_of<ReplayView>(window_, QStringLiteral("replay"));
  for (const NamedView& named : window_.views())
    if (named.name == u"replay") window_.show_view(*named.view);
  QApplication::processEvents();
  Player& player = replay.player();
  ASSERT_GT(replay.text().tokens.size(), 3U);
  player.seek(0);
  QSignalSpy moved(&state, &ViewState::cursor_changed);
  player.advance(player.duration_ns());
  EXPECT_EQ(state.cursor().token_index, replay.text().tokens.size() - 1);
  EXPECT_FALSE(player.is_playing());
  EXPECT_FALSE(moved.isEmpty());
  player.seek(0);
  player.step_round(1);
  const std::uint32_t first = state.cursor().round_index;
  player.step_round(1);
  EXPECT_NE(state.cursor().round_index, first);
  player.step_round(-1);
  EXPECT_EQ(state.cursor().round_index, first);
  player.step_token(1);
  player.step_token(-1);
  EXPECT_EQ(state.cursor().round_index, first);
}

TEST_F(Window, ComparesRunsOfTwoRecordings) {
  ASSERT_EQ(open(folder_ / "sample.dstrace"), QString());
  traces::make_sample_file(folder_ / "other.dstrace",
                           {.seed = 5, .runs = 2, .requests_per_run = 4, .max_rounds = 60});
  ASSERT_EQ(open(folder_ / "other.dstrace"), QString());
  auto& view = view_of<CompareView>(window_, QStringLiteral("compare"));
  ASSERT_EQ(window_.state().opened().size(), 2U);
  std::vector<ComparedRun> runs;
  for (const RecordingPointer& recording : window_.state().opened()) runs.push_back({recording, 1});
  QSignalSpy compared(&view, &CompareView::compared);
  view.set_runs(runs, 0);
  ASSERT_TRUE(compared.wait(10000));
  EXPECT_EQ(view.model().rowCount(), 2);
  EXPECT_EQ(view.model().comparison().settings.size(), 1U);
}

TEST_F(Window, ShowsWhatThereIsOfACutOffRecording) {
  const std::string whole = traces::read_file(folder_ / "sample.dstrace");
  traces::write_file(folder_ / "cut.dstrace", whole.substr(0, whole.size() / 2));
  // The window shows a line that says why not, or what is left, and never crashes.
  open(folder_ / "cut.dstrace");
  std::filesystem::copy_file(folder_ / "sample.dstrace", folder_ / "unclosed.dstrace");
  traces::change(folder_ / "unclosed.dstrace",
                 "UPDATE meta SET value = '0' WHERE key = 'closed_cleanly'; UPDATE requests SET end_ns = 0 "
                 "WHERE id = 1");
  EXPECT_EQ(open(folder_ / "unclosed.dstrace"), QString());
  EXPECT_TRUE(is_said("not closed cleanly"));
  std::filesystem::copy_file(folder_ / "sample.dstrace", folder_ / "empty.dstrace");
  traces::change(folder_ / "empty.dstrace",
                 "DELETE FROM draft_tokens; DELETE FROM decisions; DELETE FROM kernels; DELETE FROM spans; "
                 "DELETE FROM rounds");
  EXPECT_EQ(open(folder_ / "empty.dstrace"), QString());
}

TEST_F(Window, ShowsTheOverviewFirstAndKeepsWhatWasZoomedTo) {
  ViewState& state = window_.state();
  std::vector<bool> had_rows;
  TimeRange zoomed;
  QObject::connect(&state, &ViewState::recording_changed, &window_, [&] {
    had_rows.push_back(state.recording()->has_rows());
    if (had_rows.back()) return;
    EXPECT_GT(state.recording()->round_count(), 0U);
    EXPECT_FALSE(state.timeline()->lanes.empty());
    const TimeRange whole = state.range();
    state.set_range({whole.start_ns + whole.duration_ns() / 4, whole.end_ns - whole.duration_ns() / 4});
    zoomed = state.range();
  });
  EXPECT_EQ(open(folder_ / "sample.dstrace"), QString());
  EXPECT_THAT(had_rows, testing::ElementsAre(false, true));
  EXPECT_EQ(state.range(), zoomed);
  EXPECT_EQ(state.opened().size(), 1U);
  EXPECT_NE(state.cursor().round_index, no_index);
}

TEST_F(Window, EveryViewBearsARecordingWhoseRoundsHaveNotBeenRead) {
  ViewState& state = window_.state();
  int previews = 0;
  QObject::connect(&state, &ViewState::timeline_changed, &window_, [&] {
    if (state.recording()->has_rows()) return;
    ++previews;
    for (const NamedView& named : window_.views()) {
      window_.show_view(*named.view);
      EXPECT_FALSE(named.view->grab().isNull());
      QTest::mouseClick(named.view, Qt::LeftButton, Qt::NoModifier, named.view->rect().center());
      for (const Qt::Key key : {Qt::Key_Right, Qt::Key_Left, Qt::Key_End, Qt::Key_W, Qt::Key_F})
        QTest::keyClick(named.view, key);
      EXPECT_FALSE(named.view->grab().isNull());
    }
    for (std::size_t run = 0; run < state.recording()->runs().size(); ++run) state.set_run(run);
  });
  EXPECT_EQ(open(folder_ / "sample.dstrace"), QString());
  EXPECT_EQ(previews, 1);
  EXPECT_TRUE(state.recording()->has_rows());
  for (const NamedView& named : window_.views()) EXPECT_TRUE(named.view->isEnabled());
}

TEST_F(Window, ShowsARecordingOfAnOlderVersionWithoutAnOverview) {
  std::filesystem::copy_file(std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "tests/traces/version_4.dstrace",
                             folder_ / "old.dstrace");
  traces::change(folder_ / "old.dstrace", "DELETE FROM meta WHERE key = 'overview_column_ns'");
  QSignalSpy shown(&window_.state(), &ViewState::recording_changed);
  EXPECT_EQ(open(folder_ / "old.dstrace"), QString());
  EXPECT_EQ(shown.count(), 1);
  EXPECT_FALSE(window_.state().recording()->recording().rounds.empty());
}

QToolButton* cancel_button(MainWindow& window) {
  for (QToolButton* button : window.findChildren<QToolButton*>())
    if (button->isVisible() && button->text() == QStringLiteral("Cancel")) return button;
  return nullptr;
}

TEST_F(Window, TheVeryFirstOpeningCanBeCancelled) {
  EXPECT_EQ(cancel_button(window_), nullptr);
  QSignalSpy finished(&window_.loader(), &RecordingLoader::finished);
  window_.open(QString::fromStdString((folder_ / "sample.dstrace").string()));
  ASSERT_NE(cancel_button(window_), nullptr);
  cancel_button(window_)->click();
  EXPECT_EQ(finished.count(), 1);
  QTest::qWait(100);
  EXPECT_FALSE(window_.loader().is_loading());
  EXPECT_EQ(window_.state().recording(), nullptr);
  EXPECT_EQ(cancel_button(window_), nullptr);
  EXPECT_EQ(open(folder_ / "sample.dstrace"), QString());
  EXPECT_NE(window_.state().recording(), nullptr);
}

TEST_F(Window, CancelledBehindTheOverviewItSaysSoAndKeepsIt) {
  QObject::connect(&window_.state(), &ViewState::recording_changed, &window_, [&] {
    if (!window_.state().recording()->has_rows())
      QMetaObject::invokeMethod(
          &window_, [&] { window_.cancel_opening(); }, Qt::QueuedConnection);
  });
  window_.open(QString::fromStdString((folder_ / "sample.dstrace").string()));
  EXPECT_TRUE(QTest::qWaitFor(
      [&] { return window_.state().recording() != nullptr && !window_.loader().is_loading(); }, 20000));
  QTest::qWait(100);
  ASSERT_NE(window_.state().recording(), nullptr);
  if (!window_.state().recording()->has_rows()) {  // a small file may have been read before it was cancelled
    EXPECT_TRUE(window_.state().opened().empty());
    EXPECT_TRUE(is_said("cancelled"));
  }
}

TEST_F(Window, OpensSeveralFilesAndFoldersAndShowsTheFirst) {
  std::filesystem::create_directory(folder_ / "more");
  traces::make_sample_file(folder_ / "more/b.dstrace", {.seed = 5});
  traces::make_sample_file(folder_ / "more/a.dstrace", {.seed = 6});
  traces::write_file(folder_ / "broken.dstrace", "no recording");
  std::vector<std::string> shown;
  QObject::connect(&window_.state(), &ViewState::recording_changed, &window_,
                   [&] { shown.push_back(window_.state().recording()->name()); });
  QSignalSpy failed(&window_.loader(), &RecordingLoader::failed);
  QStringList paths;
  for (const char* name : {"broken.dstrace", "sample.dstrace", "more"})
    paths << QString::fromStdString((folder_ / name).string());
  window_.open(paths);
  EXPECT_TRUE(QTest::qWaitFor(
      [&] { return window_.state().opened().size() == 3 && !window_.loader().is_loading(); }, 10000));
  ASSERT_EQ(window_.state().opened().size(), 3U);
  EXPECT_EQ(failed.count(), 1);
  EXPECT_THAT(shown, testing::Each("sample.dstrace"));
  EXPECT_EQ(window_.state().recording()->name(), "sample.dstrace");
  EXPECT_EQ(window_.state().opened()[1]->name(), "a.dstrace");
  EXPECT_EQ(window_.state().opened()[2]->name(), "b.dstrace");
  window_.state().show(window_.state().opened()[2]);
  EXPECT_EQ(window_.windowTitle().contains(QStringLiteral("b.dstrace")), true);
  EXPECT_NE(window_.state().timeline(), nullptr);
}

class Snapshots : public testing::TestWithParam<std::tuple<std::string, int, bool>> {};

TEST_P(Snapshots, ShowMoreThanOneColour) {
  const auto& [view, scale, dark] = GetParam();
  const traces::TestFolder folder;
  traces::make_sample_file(folder / "sample.dstrace", {.runs = 3, .requests_per_run = 4, .max_rounds = 60});
  const auto output = folder / "picture.png";
  const auto done = render_snapshot({.view = QString::fromStdString(view),
                                     .files = {QString::fromStdString((folder / "sample.dstrace").string())},
                                     .output = QString::fromStdString(output.string()),
                                     .size = QStringLiteral("900x500"),
                                     .scale = QString::number(scale),
                                     .dark = dark});
  ASSERT_TRUE(done) << done.error().message;
  const QImage picture(QString::fromStdString(output.string()));
  EXPECT_EQ(picture.size(), QSize(900, 500) * scale);
  std::set<QRgb> colors;
  for (int y = 0; y < picture.height(); y += 3)
    for (int x = 0; x < picture.width(); x += 3) colors.insert(picture.pixel(x, y));
  EXPECT_GT(colors.size(), 4U);
  use_fixed_look(false);
}

std::vector<std::string> all_views() {
  std::vector<std::string> names;
  for (const QString& name : snapshot_names()) names.push_back(name.toStdString());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Views, Snapshots,
                         testing::Combine(testing::ValuesIn(all_views()), testing::Values(1, 2),
                                          testing::Bool()),
                         [](const auto& parameters) {
                           std::string name = std::get<0>(parameters.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + (std::get<1>(parameters.param) == 2 ? "Twice" : "Once") +
                                  (std::get<2>(parameters.param) ? "Dark" : "Light");
                         });

}  // namespace
}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
// Tests three tasks of a user who has opened a recording, beside those of what_if/eight_tasks_test.cpp. Each
// leads from the first page to the answer in at most three clicks or keys. The answer is on screen, in words
// and figures that the library computes.
#include <gmock/gmock.h>

#include <QComboBox>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QTableView>
#include <set>

#include "charts/export_dialog.h"
#include "data/details/run_comparison.h"
#include "data/rounds/round_times.h"
#include "drawn_texts.h"
#include "models/rounds_model.h"
#include "models/runs_model.h"
#include "views/comparison_charts.h"
#include "views/decisions/skip_map.h"
#include "widgets/time_text.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

/// All texts of an SVG picture, in the order in which they were drawn, with single spaces between.
std::string words_of_svg(const QByteArray& bytes) {
  static const QRegularExpression text(QStringLiteral("<text[^>]*>([^<]*)</text>"));
  QStringList words;
  for (auto match = text.globalMatch(QString::fromUtf8(bytes)); match.hasNext();) {
    QString drawn = match.next().captured(1);
    drawn.replace(QStringLiteral("&lt;"), QStringLiteral("<"));
    drawn.replace(QStringLiteral("&gt;"), QStringLiteral(">"));
    drawn.replace(QStringLiteral("&quot;"), QStringLiteral("\""));
    drawn.replace(QStringLiteral("&amp;"), QStringLiteral("&"));
    words << drawn;
  }
  return words.join(u' ').simplified().toStdString();
}

QByteArray content_of(const QString& path) {
  QFile file(path);
  EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << path.toStdString();
  return file.readAll();
}

/// A task at the sizes of a small and of a common screen.
class Task : public Window, public testing::WithParamInterface<QSize> {
 protected:
  void SetUp() override {
    Window::SetUp();
    window_.resize(GetParam());
    std::filesystem::copy_file(
        std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples/early-exit.dstrace",
        folder_ / "demo.dstrace");
    ASSERT_EQ(open(folder_ / "demo.dstrace"), QString());
    window_.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
    see();
  }
  void TearDown() override { EXPECT_LE(actions_, 3) << "clicks and keys"; }

  [[nodiscard]] const OpenedRecording& opened() { return *window_.state().recording(); }
  [[nodiscard]] std::size_t run_called(const std::string& beginning) {
    const auto& runs = opened().runs();
    const auto found = std::ranges::find_if(
        runs, [&](const RunRounds& run) { return run.run->specification.starts_with(beginning); });
    if (found == runs.end()) throw std::runtime_error(beginning);
    return static_cast<std::size_t>(found - runs.begin());
  }

  /// Paints the window with the workers' results.
  void see() {
    for (int turn = 0; turn < 2; ++turn) {
      (void)window_.grab();
      settle();
    }
  }
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    ++actions_;
    QWidget* focus = QApplication::focusWidget();
    QTest::keyClick(focus == nullptr ? &window_ : focus, key, modifiers);
    see();
  }
  void click(QWidget& widget, const QPoint& at) {
    ++actions_;
    ASSERT_TRUE(widget.isVisible());
    ASSERT_TRUE(widget.rect().contains(at));
    QTest::mouseClick(&widget, Qt::LeftButton, Qt::NoModifier, at);
    see();
  }
  /// Clicks the row of a run in the table of the first page.
  void click_run(std::size_t run) {
    auto& table = *view_of<QWidget>(window_, QStringLiteral("summary")).findChild<QTableView*>();
    const std::string wanted = opened().runs()[run].run->specification;
    for (int row = 0; row < table.model()->rowCount(); ++row) {
      const QModelIndex cell = table.model()->index(row, RunsModel::run);
      if (cell.data().toString().toStdString() == wanted)
        return click(*table.viewport(), table.visualRect(cell).center());
    }
    FAIL() << wanted;
  }

  int actions_ = 0;
};

TEST_P(Task, WhichLayersAreSkippedAndHowDoesThatChange) {
  const std::size_t run = run_called("clasp");
  click_run(run);
  press(Qt::Key_3, Qt::ControlModifier);
  auto& map = view_of<SkipMap>(window_, QStringLiteral("skip-map"));
  ASSERT_TRUE(map.isVisible());
  // Number of rounds in which each sublayer was skipped.
  std::vector<double> skipped;
  double drafting = 0.0;
  for (const std::uint32_t round_index : opened().runs()[run].rounds) {
    const traces::LayerSet* set = opened().layer_set(round_index);
    if (set == nullptr) continue;
    ++drafting;
    skipped.resize(2 * static_cast<std::size_t>(set->n_layers));
    for (std::size_t sublayer = 0; sublayer < skipped.size(); ++sublayer)
      skipped[sublayer] += (set->skipped[sublayer / 8] >> (sublayer % 8) & 1) != 0 ? 1.0 : 0.0;
  }
  ASSERT_GT(drafting, 0.0);
  const std::string seen = words_on_screen(map);
  EXPECT_THAT(seen,
              testing::AllOf(testing::HasSubstr("attention runs"), testing::HasSubstr("skipped"),
                             testing::HasSubstr("share that skipped it"), testing::HasSubstr("layer 0")));
  // The lengths of the bars beside the map are these shares of 150 pixels, with the first layer at the
  // bottom.
  const QImage picture = map.grab().toImage();
  const int left = map.width() - 190 + 9;
  const auto rows = static_cast<double>(skipped.size());
  constexpr int margin = 26;  // above and below the map
  const QColor base = map.palette().color(QPalette::Base);
  const int area_top = margin;
  const int area_bottom = picture.height() - 1 - margin;
  ASSERT_GT(area_bottom - area_top, static_cast<int>(skipped.size()));
  std::set<int> lengths;
  for (std::size_t sublayer = 0; sublayer < skipped.size(); ++sublayer) {
    const int y = area_bottom -
                  static_cast<int>((static_cast<double>(sublayer) + 0.5) / rows * (area_bottom - area_top));
    int length = 0;
    while (length < 160 && picture.pixelColor(left + 1 + length, y) != base) ++length;
    EXPECT_NEAR(length, skipped[sublayer] / drafting * 150.0, 2.0) << sublayer;
    lengths.insert(length);
  }
  EXPECT_GT(lengths.size(), 1U) << "layers differ";
  // The key M shows the change: the share of nearby rounds.
  map.setFocus();
  press(Qt::Key_M);
  EXPECT_THAT(words_on_screen(map), testing::HasSubstr("skipped by none to all of"));
  EXPECT_NE(map.grab().toImage(), picture);
}

TEST_P(Task, StrategiesSideBySideAndAFigureForAPaper) {
  press(Qt::Key_5, Qt::ControlModifier);
  const AllRuns all = all_runs({window_.state().recording()}, {window_.state().recording(), 0});
  const std::string seen = words_on_screen(window_);
  for (const RunStanding& standing : all.runs) {
    EXPECT_THAT(seen,
                testing::HasSubstr(standing.run.recording->runs()[standing.run.run].run->specification));
    if (standing.ratio) {
      EXPECT_THAT(seen, testing::HasSubstr(speedup_text(standing.ratio->value).toStdString()));
    }
  }
  press(Qt::Key_E, Qt::ControlModifier);
  auto* dialog = qobject_cast<ExportDialog*>(QApplication::activeModalWidget());
  ASSERT_NE(dialog, nullptr);
  const QString name = forest_chart(all, {}).name;
  EXPECT_THAT(words_on_screen(*dialog), testing::HasSubstr(name.toStdString()));
  const auto labels = dialog->findChildren<QLabel*>();
  EXPECT_TRUE(std::ranges::any_of(labels, [](const QLabel* label) { return !label->pixmap().isNull(); }));
  const QString path = dialog->file();
  EXPECT_EQ(QFileInfo(path).path(), QString::fromStdString(folder_.path().string()))
      << "beside the recording";
  EXPECT_TRUE(path.endsWith(u".pdf"));
  press(Qt::Key_Return);
  EXPECT_EQ(QApplication::activeModalWidget(), nullptr);
  EXPECT_LE(actions_, 3);
  const QByteArray figure = content_of(path);
  EXPECT_TRUE(figure.startsWith("%PDF-"));
  EXPECT_TRUE(figure.trimmed().endsWith("%%EOF"));
  // The width is that of one column of a paper, in points.
  const qsizetype box = figure.indexOf("/MediaBox [0 0 ");
  ASSERT_GT(box, 0);
  constexpr int points_per_inch = 72;
  EXPECT_NEAR(figure.mid(box).split(' ')[3].toDouble(), single_column_inches * points_per_inch, 1.0);
  EXPECT_THAT(words_on_screen(window_), testing::HasSubstr("Written: " + path.toStdString()));
  // The SVG has the same content as text that this test can read: a row per run, and the axis. Long names are
  // cut in the middle in so narrow a figure.
  actions_ = 0;
  window_.activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  press(Qt::Key_E, Qt::ControlModifier);
  dialog = qobject_cast<ExportDialog*>(QApplication::activeModalWidget());
  ASSERT_NE(dialog, nullptr);
  dialog->findChild<QComboBox*>(QStringLiteral("format"))->setCurrentIndex(1);
  const QString picture = dialog->file();
  ASSERT_TRUE(picture.endsWith(u".svg"));
  press(Qt::Key_Return);
  const std::string drawn = words_of_svg(content_of(picture));
  for (const RunStanding& standing : all.runs)
    EXPECT_THAT(drawn, testing::HasSubstr(standing.run.row().specification.substr(0, 6)));
  EXPECT_THAT(drawn, testing::HasSubstr("tokens/s over the baseline"));
}

TEST_P(Task, WhereDidTheTimeOfThisRoundGo) {
  const std::size_t run = run_to_open(opened());
  ASSERT_EQ(window_.state().run(), run) << "the fastest that drafts";
  press(Qt::Key_2, Qt::ControlModifier);
  auto& table = *view_of<QWidget>(window_, QStringLiteral("rounds")).findChild<QTableView*>();
  constexpr int row = 4;
  const std::uint32_t round_index = table.model()->index(row, 0).data(RoundsModel::round_role).toUInt();
  click(*table.viewport(), table.visualRect(table.model()->index(row, 1)).center());
  EXPECT_EQ(window_.state().cursor().round_index, round_index);
  const traces::Round& round = opened().round(round_index);
  const std::string number = std::to_string(opened().number_in_run(round_index));
  EXPECT_THAT(words_on_screen(window_), testing::HasSubstr("at round " + number));
  // The table beside the columns has the round's own times and the usual ones.
  QWidget& breakdown = view_of<QWidget>(window_, QStringLiteral("breakdown"));
  ASSERT_TRUE(breakdown.isVisible());
  const RoundTimes times(opened(), run);
  const RoundPercentiles usual = times.percentiles(0, times.rounds());
  const std::string seen = words_on_screen(breakdown);
  EXPECT_THAT(seen, testing::HasSubstr("#" + number + " mean share p50 p95 p99"));
  const auto row_of = [&](const std::string& part, std::int64_t here_ns, const PartPercentiles& of) {
    const std::string here = duration_text(here_ns).toStdString();
    const std::string median = duration_text(of.p50_ns).toStdString();
    EXPECT_THAT(seen, testing::ContainsRegex(" " + part + " " + here + " [^#]* " + median + " "));
  };
  row_of("draft", round.draft_ns, usual[static_cast<std::size_t>(RoundPart::draft)]);
  row_of("verify", round.verify_ns, usual[static_cast<std::size_t>(RoundPart::verify)]);
  row_of("round", round.end_ns - round.start_ns, usual[round_parts]);
}

INSTANTIATE_TEST_SUITE_P(Screens, Task, testing::Values(QSize(1280, 800), QSize(1920, 1080)),
                         [](const testing::TestParamInfo<QSize>& size) {
                           return std::to_string(size.param.width()) + "by" +
                                  std::to_string(size.param.height());
                         });

}  // namespace
}  // namespace draftscope::gui

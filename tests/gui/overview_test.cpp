// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the overview in the real window: a table of runs with marks and bars, and the explanation of the
// chosen run's speed.
#include <gmock/gmock.h>

#include <QComboBox>
#include <QHeaderView>
#include <QPushButton>
#include <QRegularExpression>
#include <QTableView>

#include "models/rounds_model.h"
#include "views/run_cells.h"
#include "views/summary_view.h"
#include "views/why_card.h"
#include "widgets/time_text.h"
#include "window/view_rows.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

class Overview : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    std::filesystem::copy_file(
        std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples/early-exit.dstrace",
        folder_ / "real.dstrace");
    ASSERT_EQ(open(folder_ / "real.dstrace"), QString());
    raise(QStringLiteral("summary"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return card_.diagnosis() != nullptr; }, 30000));
  }

  [[nodiscard]] QTableView& table() { return *summary_.findChild<QTableView*>(); }
  /// Raw numbers of a column, from top to bottom.
  [[nodiscard]] std::vector<double> numbers(int column) {
    std::vector<double> list;
    for (int row = 0; row < table().model()->rowCount(); ++row)
      list.push_back(table().model()->index(row, column).data(RunsModel::value_role).toDouble());
    return list;
  }

  SummaryView& summary_ = view_of<SummaryView>(window_, QStringLiteral("summary"));
  WhyCard& card_ = view_of<WhyCard>(window_, QStringLiteral("why"));
};

TEST_F(Overview, RunsStandWithTheFastestFirstAndSortByEveryColumn) {
  const int speed = RunsModel::column_of("tokens_per_second");
  EXPECT_THAT(numbers(speed), testing::WhenSortedBy(std::greater<>(), testing::ContainerEq(numbers(speed))));
  for (int column = 1; column < table().model()->columnCount(); ++column) {
    table().sortByColumn(column, Qt::AscendingOrder);
    const QModelIndex first = table().model()->index(0, column);
    const QModelIndex last = table().model()->index(table().model()->rowCount() - 1, column);
    const QVariant a = first.data(RunsModel::sort_role);
    const QVariant b = last.data(RunsModel::sort_role);
    if (a.typeId() == QMetaType::Double) {
      EXPECT_LE(a.toDouble(), b.toDouble()) << column;
    }
  }
}

TEST_F(Overview, ARowIsTheRunThatEveryViewShowsHoweverTheTableIsSorted) {
  for (const int column :
       {RunsModel::column_of("tokens_per_second"), RunsModel::column_of("acceptance_rate")}) {
    table().sortByColumn(column, Qt::AscendingOrder);
    for (int row = 0; row < table().model()->rowCount(); ++row) {
      table().setCurrentIndex(table().model()->index(row, 0));
      EXPECT_EQ(window_.state().run_rounds()->run->specification,
                table().model()->index(row, RunsModel::run).data().toString().toStdString());
    }
    for (std::size_t run = 0; run < window_.state().recording()->runs().size(); ++run) {
      window_.state().set_run(run);
      EXPECT_EQ(table().currentIndex().siblingAtColumn(RunsModel::run).data().toString().toStdString(),
                window_.state().run_rounds()->run->specification);
    }
  }
}

TEST_F(Overview, MarksOfAllRunsAndTheLineOfVanillaAreOnOneAxis) {
  RunsModel runs;
  runs.set_recording(window_.state().recording());
  for (const RunSpan span : {RunSpan::whole, RunSpan::decoding}) {
    const SpeedupScale scale = speedup_scale(runs, span);
    EXPECT_GT(scale.share(1.0), 0.0);
    EXPECT_LT(scale.share(1.0), 1.0);
    int marks = 0;
    for (int row = 0; row < runs.rowCount(); ++row) {
      const std::optional<double> speedup = speedup_of(runs, row, span);
      EXPECT_EQ(speedup.has_value(), !runs.is_baseline(row));
      if (!speedup) continue;
      ++marks;
      EXPECT_GT(scale.share(*speedup), 0.0);
      EXPECT_LT(scale.share(*speedup), 1.0);
      const simulator::Speedup& ratio = *runs.figures(row)->speedup;
      const auto& interval = span == RunSpan::whole ? ratio.interval : ratio.decode_interval;
      ASSERT_TRUE(interval.has_value());
      EXPECT_LE(interval->low, *speedup);
      EXPECT_GE(interval->high, *speedup);
      EXPECT_GT(scale.share(interval->low), 0.0);
      EXPECT_LT(scale.share(interval->high), 1.0);
    }
    EXPECT_EQ(marks, 3);
  }
}

TEST_F(Overview, SwitchesToDecodingAloneAndStaysSorted) {
  const int whole = RunsModel::column_of("tokens_per_second");
  const int decoding = RunsModel::column_of("decode_tokens_per_second");
  EXPECT_FALSE(table().isColumnHidden(whole));
  EXPECT_TRUE(table().isColumnHidden(decoding));
  settle();
  const QImage before = table().viewport()->grab().toImage();
  auto* span = summary_.findChild<QComboBox*>();
  span->setCurrentIndex(1);
  settle();
  EXPECT_TRUE(table().isColumnHidden(whole));
  EXPECT_FALSE(table().isColumnHidden(decoding));
  EXPECT_TRUE(table().isColumnHidden(RunsModel::column_of("speedup.value")));
  EXPECT_FALSE(table().isColumnHidden(RunsModel::column_of("speedup.decode_value")));
  EXPECT_THAT(numbers(decoding),
              testing::WhenSortedBy(std::greater<>(), testing::ContainerEq(numbers(decoding))));
  EXPECT_NE(table().viewport()->grab().toImage(), before);
  for (const int column : {decoding, RunsModel::column_of("speedup.decode_value")})
    EXPECT_GT(table().columnWidth(column), 40);
  span->setCurrentIndex(0);
  settle();
  EXPECT_EQ(table().viewport()->grab().toImage(), before);
}

TEST_F(Overview, SaysTheSentencesOfExplainOfTheRunThatIsShown) {
  const auto measured = simulator::measure_recording(folder_ / "real.dstrace");
  ASSERT_TRUE(measured);
  const std::vector<simulator::Diagnosis> expected = simulator::explain(*measured);
  ASSERT_EQ(expected.size(), 3U);
  std::set<std::string> different;
  for (std::size_t run = 0; run < window_.state().recording()->runs().size(); ++run) {
    window_.state().set_run(run);
    const std::string words = card_.words().toStdString();
    different.insert(words);
    const auto diagnosis = std::ranges::find_if(expected, [&](const simulator::Diagnosis& candidate) {
      return candidate.run->specification == window_.state().run_rounds()->run->specification;
    });
    if (diagnosis == expected.end()) {
      EXPECT_THAT(words, testing::HasSubstr("vanilla decoding"));
      continue;
    }
    EXPECT_THAT(words, testing::HasSubstr(sentence_text(diagnosis->summary).toStdString()));
    for (const simulator::Finding& finding : diagnosis->findings) {
      EXPECT_THAT(words, testing::HasSubstr(sentence_text(finding.sentence).toStdString()));
      const bool is_found = finding.row != &simulator::finding_table().back();
      EXPECT_EQ(is_found,
                words.find(sentence_text(finding.cost_sentence).toStdString()) != std::string::npos);
    }
  }
  EXPECT_EQ(different.size(), 4U);
}

TEST_F(Overview, AsksTheSimulatorWhenItIsToldTo) {
  auto* ask = card_.findChild<QPushButton*>();
  // A run without findings has nothing to ask.
  for (std::size_t run = 0; run < window_.state().recording()->runs().size() && !ask->isVisible(); ++run)
    window_.state().set_run(run);
  ASSERT_TRUE(ask->isVisible());
  QSignalSpy explained(&card_, &WhyCard::explained);
  ask->click();
  EXPECT_FALSE(ask->isEnabled());
  ASSERT_TRUE(explained.wait(120000));
  EXPECT_EQ(card_.diagnosis()->remedies, Remedies::simulated);
  EXPECT_FALSE(ask->isVisible());
  bool is_simulated = false;
  for (const simulator::Finding& finding : card_.diagnosis()->of(window_.state().run())->findings)
    if (!finding.simulation.empty()) {
      is_simulated = true;
      EXPECT_THAT(card_.words().toStdString(),
                  testing::HasSubstr(sentence_text(finding.simulation).toStdString()));
    }
  EXPECT_TRUE(is_simulated);
}

TEST_F(Overview, ViewsThatFindingsNameAreLinksToThem) {
  static const QRegularExpression link(QStringLiteral("href='view:([^']+)'"));
  simulator::Diagnosis diagnosis = *card_.diagnosis()->of(window_.state().run());
  const simulator::Figures& figures =
      window_.state().recording()->measured().figures.runs[window_.state().run()].all;
  std::size_t links = 0;
  for (const simulator::FindingRow& row : simulator::finding_table()) {
    if (&row == &simulator::finding_table().back()) continue;
    diagnosis.findings = {{.row = &row}};
    const QString text = why_text(diagnosis, figures, Remedies::named);
    std::size_t here = 0;
    for (auto found = link.globalMatch(text); found.hasNext(); ++here) {
      const QString title = found.next().captured(1);
      EXPECT_NE(std::ranges::find(view_rows(), title,
                                  [](const ViewRow& of) { return QString::fromUtf8(of.section); }),
                view_rows().end())
          << title.toStdString();
    }
    EXPECT_EQ(here, static_cast<std::size_t>(QString::fromStdString(std::string(row.look)).count(u"view ")))
        << row.key;
    links += here;
  }
  EXPECT_GT(links, 5U);
  emit card_.view_asked(QStringLiteral("Text replay"));
  EXPECT_TRUE(view_of<QWidget>(window_, QStringLiteral("replay")).isVisible());
}

TEST_F(Overview, ABarLeadsToTheRoundsBehindIt) {
  auto* bars = card_.findChild<WaterfallBars*>();
  ASSERT_GT(bars->steps().size(), 3U);
  for (std::size_t place = 0; place < bars->steps().size(); ++place) {
    raise(QStringLiteral("why"));
    const TokenTime what = bars->steps()[place].what;
    bars->setFocus();
    QSignalSpy asked(bars, &WaterfallBars::chosen);
    for (std::size_t up = 0; up < bars->steps().size(); ++up) QTest::keyClick(bars, Qt::Key_Up);
    for (std::size_t down = 0; down < place; ++down) QTest::keyClick(bars, Qt::Key_Down);
    QTest::keyClick(bars, Qt::Key_Return);
    ASSERT_EQ(asked.size(), 1);
    EXPECT_EQ(asked.front().front().value<TokenTime>(), what);
    QWidget& rounds = view_of<QWidget>(window_, QStringLiteral("rounds"));
    ASSERT_TRUE(rounds.isVisible());
    auto* shown = rounds.findChild<QTableView*>();
    EXPECT_EQ(shown->currentIndex().row(), 0);
    EXPECT_EQ(shown->model()->index(0, 0).data(RoundsModel::round_role).toUInt(),
              window_.state().cursor().round_index);
    const int column = shown->horizontalHeader()->sortIndicatorSection();
    const double first = shown->model()->index(0, column).data(RoundsModel::value_role).toDouble();
    for (int row = 1; row < shown->model()->rowCount(); ++row)
      ASSERT_GE(first, shown->model()->index(row, column).data(RoundsModel::value_role).toDouble());
  }
}

TEST_F(Overview, ForgetsWhatItSaidWhenTheRecordingGoes) {
  const std::weak_ptr<const OpenedRecording> recording = window_.state().recording();
  window_.close_recording();
  EXPECT_EQ(card_.diagnosis(), nullptr);
  EXPECT_TRUE(QTest::qWaitFor([&] { return recording.expired(); }, 10000));
}

}  // namespace
}  // namespace draftscope::gui

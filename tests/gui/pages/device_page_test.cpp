// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the page of the device in the real window, with recordings of an H200 and without a device.
#include <draftscope/simulator/analysis/device_table.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <cmath>

#include "../../value_of.h"
#include "charts/chart_pane.h"
#include "charts/chart_plot.h"
#include "views/device/device_view.h"
#include "widgets/time_text.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

using simulator::DeviceNames;

class DevicePage : public Window {
 protected:
  DeviceView& view() { return view_of<DeviceView>(window_, QStringLiteral("device")); }
  void open_sample() {
    const std::filesystem::path path =
        std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples/h200-smollm2-node.dstrace";
    ASSERT_EQ(open(path), QString());
    raise(QStringLiteral("device"));
    wait();
  }
  void wait() {
    ASSERT_TRUE(QTest::qWaitFor([&] { return view().is_settled(); }, 20000));
    settle();
  }
  QComboBox& choice(const char* name) { return named_widget<QComboBox>(view(), name); }
  QString cell(int row, int column) { return view().rows().index(row, column).data().toString(); }
  int name_column() { return view().rows().columnCount() - 1; }
};

TEST(DeviceRows, HaveACellPerColumnAndNoNumberForADash) {
  simulator::DeviceTimeline timeline;
  timeline.names = {"gate up"};
  for (const std::optional<double> occupancy : {std::optional<double>(), std::optional(0.5)}) {
    DeviceAnswer answer;
    answer.table = {.busy_ns = 7, .rows = {{.own_ns = 7, .occupancy = occupancy}}};
    EXPECT_EQ(device_rows(timeline, answer).front().size(), device_columns(answer).size());
    answer.beside.emplace().names = {{.name = "only the other has it"}};
    const auto rows = device_rows(timeline, answer);
    ASSERT_EQ(rows.size(), 2U);
    for (const std::vector<DeviceCell>& row : rows) {
      EXPECT_EQ(row.size(), device_columns(answer).size());
      for (const DeviceCell& cell : row)
        EXPECT_EQ(cell.value.isValid(), cell.text != QStringLiteral("–")) << cell.text.toStdString();
    }
  }
}

TEST_F(DevicePage, HasTheRowsOfTheShownRunLongestFirst) {
  open_sample();
  ASSERT_TRUE(view().answer());
  const DeviceAnswer& answer = *view().answer();
  const auto run = static_cast<std::uint32_t>(window_.state().run());
  EXPECT_EQ(answer.asked.question.run, run);
  ASSERT_GT(view().rows().rowCount(), 5);
  EXPECT_EQ(view().rows().rowCount(), static_cast<int>(answer.table.rows.size()));
  double before = 1.0;
  for (int row = 0; row < view().rows().rowCount(); ++row) {
    const double share = view().rows().index(row, share_column).data(DeviceCells::value_role).toDouble();
    EXPECT_LE(share, before);
    before = share;
  }
  // The page and the report count the same.
  traces::Reader reader = value_of(traces::Reader::open(std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) /
                                                        "traces/samples/h200-smollm2-node.dstrace"));
  const traces::Recording recording = value_of(reader.recording());
  const auto timeline = value_of(simulator::read_device_timeline(reader, recording));
  const auto selection =
      simulator::select_device(timeline, recording, {.range = {}, .run = run, .phase = {}});
  EXPECT_EQ(simulator::device_table(timeline, selection, DeviceNames::operations).busy_ns,
            answer.table.busy_ns);
}

TEST_F(DevicePage, FindsAnOperationWithItsDurations) {
  open_sample();
  view().find(QStringLiteral("gate"));
  wait();
  ASSERT_EQ(view().rows().rowCount(), 1);
  EXPECT_EQ(cell(0, name_column()), QStringLiteral("gate up"));
  int charts = 0;
  for (ChartPane* pane : view().findChildren<ChartPane*>())
    charts += pane->plot().chart().name.startsWith(u"gate up") && !pane->plot().chart().empty() ? 1 : 0;
  EXPECT_EQ(charts, 3) << "open times, by layer, by round";
  view().find(QStringLiteral("no such name"));
  EXPECT_EQ(view().rows().rowCount(), 0);
  view().find({});
  EXPECT_GT(view().rows().rowCount(), 5);
}

TEST_F(DevicePage, ComparesWithThePinnedRun) {
  open_sample();
  const int columns = view().rows().columnCount();
  view().compare_with(1);
  wait();
  EXPECT_EQ(view().rows().columnCount(), columns + 4);
  EXPECT_TRUE(view().answer()->beside);
  view().compare_with({});
  wait();
  EXPECT_EQ(view().rows().columnCount(), columns);
}

TEST_F(DevicePage, ComparesWithARunOfAnotherOpenRecording) {
  const std::filesystem::path samples = std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples";
  for (const char* name : {"early-exit.dstrace", "h200-smollm2-graph.dstrace"})
    ASSERT_EQ(open(samples / name), QString());
  open_sample();
  const auto choose = [&](const char* of) {
    QComboBox& other = choice("Run to compare with");
    other.setCurrentIndex(
        other.findText(QStringLiteral("compared with %1: vanilla").arg(QString::fromUtf8(of))));
    ASSERT_GT(other.currentIndex(), 0) << of;
    wait();
  };
  window_.state().set_run(0);
  choose("h200-smollm2-graph.dstrace");
  ASSERT_TRUE(view().answer()->beside);
  const DeviceBeside& beside = *view().answer()->beside;
  EXPECT_TRUE(beside.there.has_device);
  // The names of both stand in the table, each with its time of a token.
  const auto rows = static_cast<int>(view().answer()->table.rows.size());
  EXPECT_GT(view().rows().rowCount(), rows) << "graphs are launched in one of both";
  traces::Reader reader = value_of(traces::Reader::open(samples / "h200-smollm2-graph.dstrace"));
  const traces::Recording recording = value_of(reader.recording());
  const auto timeline = value_of(simulator::read_device_timeline(reader, recording));
  const auto times = simulator::token_times(recording, 0, &timeline, DeviceNames::operations);
  for (const simulator::TokenTime& time : times.operations) {
    int found = 0;
    for (int row = 0; row < view().rows().rowCount(); ++row)
      if (cell(row, name_column()) == QString::fromStdString(time.name) &&
          cell(row, name_column() - 3) == duration_text(std::llround(time.ns)))
        ++found;
    EXPECT_EQ(found, 1) << time.name;
  }
  EXPECT_TRUE(is_said("under vanilla of h200-smollm2-graph.dstrace"));
  // A recording without a device has its phases.
  choose("early-exit.dstrace");
  EXPECT_FALSE(view().answer()->beside->there.has_device);
  EXPECT_TRUE(is_said("which has no times of a device"));
  window_.close_other_recordings();
  wait();
  EXPECT_FALSE(view().answer()->beside) << "a closed recording is compared with no more";
}

TEST_F(DevicePage, AnswersOnlyThePhaseOrTheRange) {
  open_sample();
  const std::int64_t whole_ns = view().answer()->table.busy_ns;
  choice("Phase").setCurrentIndex(1 + static_cast<int>(traces::Phase::verify));
  wait();
  EXPECT_LT(view().answer()->table.busy_ns, whole_ns);
  choice("What a row is").setCurrentIndex(1);
  wait();
  EXPECT_EQ(view().answer()->asked.by, DeviceNames::kernels);
}

TEST_F(DevicePage, ShowsTheLongestInTheTimeline) {
  open_sample();
  QSignalSpy asked(&view(), &DeviceView::time_asked);
  for (QPushButton* button : view().findChildren<QPushButton*>())
    if (button->text().contains(u"longest")) button->click();
  ASSERT_EQ(asked.count(), 1);
  const TimeRange shown = window_.state().range();
  EXPECT_LT(shown.duration_ns(), 1'000'000);
}

TEST_F(DevicePage, SaysWhyThereIsNothingOfAProcessor) {
  ASSERT_EQ(open(std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples/early-exit.dstrace"),
            QString());
  raise(QStringLiteral("device"));
  wait();
  EXPECT_FALSE(view().answer());
  QStringList said;
  for (const QLabel* label : view().findChildren<QLabel*>()) said << label->text();
  EXPECT_TRUE(said.join(u' ').contains(QStringLiteral("was made on a CPU")));
}

}  // namespace
}  // namespace draftscope::gui

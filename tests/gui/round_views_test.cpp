// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the views of rounds in the real window: their modes, the keyboard, and what the replay says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QComboBox>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTableWidget>
#include <QTextEdit>
#include <algorithm>
#include <cmath>

#include "charts/chart_pane.h"
#include "charts/figure_file.h"
#include "drawn_texts.h"
#include "views/replay/replay_view.h"
#include "widgets/appearance.h"
#include "widgets/background_job.h"
#include "widgets/drawing.h"
#include "widgets/table_cells.h"
#include "window_fixture.h"

namespace draftscope::gui {
namespace {

/// Fills a table with numbers and texts: some cells are too narrow, some have no text, and one row is
/// selected.
void fill_table(QTableWidget& table) {
  constexpr int rows = 12;
  constexpr int columns = 5;
  table.setRowCount(rows);
  table.setColumnCount(columns);
  table.setAlternatingRowColors(true);
  table.setWordWrap(false);
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      const QString text = column == 0   ? QStringLiteral("question %1 · %2").arg(row / 3).arg(row)
                           : column == 1 ? QStringLiteral("−%1.5 µs").arg(row * row * row)
                           : column == 2 ? QString(3 * row, u'g')
                           : column == 3 ? QStringLiteral("%1 %").arg(row)
                                         : QString();
      auto* item = new QTableWidgetItem(text);
      const Qt::Alignment side = column % 2 == 0 ? Qt::AlignLeft : Qt::AlignRight;
      item->setData(Qt::TextAlignmentRole, static_cast<int>(side | Qt::AlignVCenter));
      table.setItem(row, column, item);
    }
  table.setSelectionBehavior(QAbstractItemView::SelectRows);
  table.setCurrentCell(4, 1);
  table.resize(480, 420);
}

class RoundViews : public Window {
 protected:
  void open(const traces::SampleOptions& options, const std::string& change = {}) {
    const std::filesystem::path file = folder_ / ("sample" + std::to_string(++files_) + ".dstrace");
    traces::make_sample_file(file, options);
    if (!change.empty()) traces::change(file, change);
    ASSERT_EQ(Window::open(file), QString());
  }

  /// Paints a view, waits for its workers, and paints it again.
  static QImage picture(QWidget& shown) {
    (void)shown.grab();
    settle();
    return shown.grab().toImage();
  }

  int files_ = 0;
};

TEST(MarkPictures, AreWhatIsDrawnOnWholePixels) {
  const auto draw = [](QPainter& painter, std::size_t kind, const QPointF& at) {
    painter.setPen(QPen(Qt::black, 1.4));
    painter.setBrush(kind == 0 ? QBrush(Qt::red) : QBrush(Qt::NoBrush));
    painter.drawEllipse(at, 3.6, 3.6);
  };
  const auto blank = [] {
    QImage image(40, 40, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::white);
    return image;
  };
  for (const std::size_t kind : {0U, 1U})
    for (const double x : {10.0, 10.4, 20.9})
      for (const double y : {12.0, 17.6}) {
        QImage as_picture = blank();
        {
          QPainter painter(&as_picture);
          MarkPictures(painter, 2, 4.6, draw).paint(kind, {x, y});
        }
        QImage drawn = blank();
        {
          QPainter painter(&drawn);
          painter.setRenderHint(QPainter::Antialiasing);
          draw(painter, kind, {std::floor(x) + 0.5, std::floor(y) + 0.5});
        }
        int most = 0;
        for (int row = 0; row < drawn.height(); ++row)
          for (int column = 0; column < drawn.width(); ++column)
            most = std::max(most,
                            std::abs(qGray(drawn.pixel(column, row)) - qGray(as_picture.pixel(column, row))));
        // A picture rounds overlapping colours twice.
        EXPECT_LE(most, 3) << kind << " " << x << " " << y;
        EXPECT_NE(as_picture, blank());
      }
}

TEST(TextCell, IsWhatTheStyleDraws) {
  for (const Appearance appearance : {Appearance::dark, Appearance::light}) {
    use_appearance(appearance);
    const std::string name = appearance_name(appearance).toStdString();
    QTableWidget table;
    fill_table(table);
    const QImage by_style = table.grab().toImage();
    table.setItemDelegate(new TextCell(&table));
    for (int frame = 0; frame < 2; ++frame)  // the second frame draws from cached text layouts
      EXPECT_EQ(table.grab().toImage(), by_style) << name << ", frame " << frame;
    QFont larger = table.font();
    larger.setPointSizeF(larger.pointSizeF() * 1.4);
    table.setFont(larger);
    const QImage large = table.grab().toImage();
    table.setItemDelegate(new QStyledItemDelegate(&table));
    EXPECT_EQ(table.grab().toImage(), large) << name << ", larger letters";
  }
}

TEST(TextCell, IsAsWideAndHighAsTheStyleSays) {
  QTableWidget table;
  fill_table(table);
  const auto sizes_by = [&](QStyledItemDelegate* delegate) {
    table.setItemDelegate(delegate);
    std::vector<int> sizes;
    for (const bool is_large : {false, true}) {
      QFont font = table.font();
      font.setPointSizeF(is_large ? 17.3 : 10.0);
      table.setFont(font);
      table.resizeColumnsToContents();
      table.resizeRowsToContents();
      for (int column = 0; column < table.columnCount(); ++column) sizes.push_back(table.columnWidth(column));
      for (int row = 0; row < table.rowCount(); ++row) sizes.push_back(table.rowHeight(row));
    }
    return sizes;
  };
  const std::vector<int> by_style = sizes_by(new QStyledItemDelegate(&table));
  EXPECT_EQ(sizes_by(new TextCell(&table)), by_style);
}

TEST_F(RoundViews, SwitchByKeyToEachOfTheirPictures) {
  open({.runs = 2, .requests_per_run = 3, .max_rounds = 40});
  for (const QString& name : {QStringLiteral("skip-map"), QStringLiteral("breakdown")}) {
    QWidget& shown = raise(name);
    const auto* choice = shown.findChild<QComboBox*>();
    ASSERT_NE(choice, nullptr);
    EXPECT_FALSE(choice->accessibleName().isEmpty());
    EXPECT_NE(choice->focusPolicy() & Qt::TabFocus, 0);
    std::vector<QImage> pictures;
    for (int i = 0; i < choice->count(); ++i) {
      EXPECT_EQ(choice->currentIndex(), i);
      pictures.push_back(picture(shown));
      QTest::keyClick(&shown, Qt::Key_M);
    }
    EXPECT_EQ(choice->currentIndex(), 0);
    for (std::size_t i = 1; i < pictures.size(); ++i) EXPECT_NE(pictures[i], pictures[i - 1]) << i;
    EXPECT_EQ(picture(shown), pictures.front());
  }
}

TEST_F(RoundViews, StayWithWhatTheyShowWhenTheRunOrTheRecordingChanges) {
  open({.runs = 3, .requests_per_run = 3, .max_rounds = 40});
  QWidget& shown = raise(QStringLiteral("breakdown"));
  auto* choice = shown.findChild<QComboBox*>();
  choice->setCurrentIndex(1);
  const QImage before = picture(shown);
  window_.state().set_run(2);
  EXPECT_EQ(choice->currentIndex(), 1);
  EXPECT_NE(picture(shown), before);
  window_.state().show(nullptr);
  (void)picture(shown);
}

TEST_F(RoundViews, SayWhatToRecordWhereThereAreNoLayers) {
  open({.runs = 2, .requests_per_run = 2, .max_rounds = 20},
       "DELETE FROM kernels; DELETE FROM spans WHERE depth > 0");
  QWidget& shown = raise(QStringLiteral("skip-map"));
  shown.findChild<QComboBox*>()->setCurrentIndex(2);
  (void)picture(shown);
  EXPECT_THAT(shown.accessibleDescription().toStdString(), testing::HasSubstr("--level layers"));
  shown.findChild<QComboBox*>()->setCurrentIndex(0);
  (void)picture(shown);
  EXPECT_THAT(shown.accessibleDescription().toStdString(), testing::HasSubstr("rounds draft"));
}

TEST_F(RoundViews, ReplayTellsTheRanksOfATokenAndTheCaretGoesToIt) {
  open({.runs = 2, .requests_per_run = 3, .max_rounds = 40});
  auto& replay = *qobject_cast<ReplayView*>(&raise(QStringLiteral("replay")));
  ViewState& state = window_.state();
  const auto& requests = state.recording()->recording().requests;
  // In the sample only the baseline's requests have shadow tokens.
  for (std::size_t request = 0; request < requests.size(); ++request) {
    if (requests[request].tokens.size() < 3) continue;
    QSignalSpy read(&replay, &ReplayView::ranks_read);
    const bool is_another = state.cursor().request_index != request;
    state.go_to_token(request, 2);
    if (is_another) {
      ASSERT_TRUE(read.wait(10000));
    }
    const bool is_baseline = requests[request].run_id == state.recording()->runs()[0].run->id;
    EXPECT_THAT(replay.token_text(2).toStdString(),
                testing::HasSubstr(is_baseline ? "exit layer" : "--shadow"));
  }
  auto* document = replay.findChild<QTextEdit*>();
  document->setFocus();
  const auto token_at = [&](int position) {
    QTextCursor caret(document->document());
    caret.setPosition(position);
    document->setTextCursor(caret);
    QTest::keyClick(document, Qt::Key_Return);
    return state.cursor().token_index;
  };
  const std::size_t first = token_at(0);
  const std::size_t last = token_at(document->document()->characterCount() - 2);
  EXPECT_LT(first, last);
  EXPECT_EQ(token_at(0), first);
}

TEST_F(RoundViews, ReplayGivesNoTimeOfATokenWhoseTimeIsUnknown) {
  open({.runs = 2, .requests_per_run = 3, .max_rounds = 40}, "UPDATE requests SET first_token_ns = 0");
  const auto& replay = *qobject_cast<ReplayView*>(&raise(QStringLiteral("replay")));
  const auto& requests = window_.state().recording()->recording().requests;
  const auto request =
      std::ranges::find_if(requests, [](const traces::Request& of) { return of.tokens.size() > 1; });
  ASSERT_NE(request, requests.end());
  window_.state().go_to_token(static_cast<std::size_t>(request - requests.begin()), 1);
  EXPECT_THAT(replay.token_text(0).toStdString(), testing::Not(testing::HasSubstr("there after")));
  EXPECT_THAT(replay.token_text(1).toStdString(), testing::HasSubstr("there after"));
}

TEST(BackgroundJob, ReportsOnTheMainThreadUnlessItWasDropped) {
  int reports = 0;
  BackgroundJob job;
  const auto counting = [&](const BackgroundJob::ShouldContinue&) -> BackgroundJob::Apply {
    return [&] { ++reports; };
  };
  job.start(counting);
  EXPECT_TRUE(job.is_running());
  EXPECT_TRUE(QTest::qWaitFor([&] { return reports == 1; }));
  EXPECT_FALSE(job.is_running());
  job.start(counting);
  job.cancel();
  job.start(counting);
  EXPECT_TRUE(QTest::qWaitFor([&] { return reports == 2; }));
  QTest::qWait(20);
  EXPECT_EQ(reports, 2);
}

TEST(BackgroundJob, EndsWhileItsWorkIsUnderWay) {
  std::atomic<bool> was_told = false;
  {
    BackgroundJob job;
    job.start([&](const BackgroundJob::ShouldContinue& should_continue) -> BackgroundJob::Apply {
      while (should_continue()) QThread::msleep(1);
      was_told = true;
      return [] { FAIL(); };
    });
  }
  EXPECT_TRUE(was_told);
  QApplication::processEvents();
}

TEST_F(RoundViews, AreFiguresForPapersWithTheirData) {
  open({.runs = 2, .requests_per_run = 3, .max_rounds = 40});
  window_.state().set_run(1);
  const auto figure = [&](const char* name) {
    QWidget& shown = raise(QString::fromUtf8(name));
    (void)picture(shown);
    for (const PlacedFigure& source : figure_sources(shown))
      if (source.widget == &shown) return source.source->figure();
    return Chart();
  };
  const OpenedRecording& opened = *window_.state().recording();
  const auto& rounds = window_.state().run_rounds()->rounds;
  // The columns times their numbers of rounds give the time of all rounds.
  const Chart breakdown = figure("breakdown");
  ASSERT_FALSE(breakdown.empty());
  double shown_ms = 0.0;
  double all_ms = 0.0;
  for (const auto& row : breakdown.table.rows)
    for (std::size_t part = 2; part < row.size(); ++part)
      shown_ms += row[1].toDouble() * row[part].toDouble();
  for (const std::uint32_t index : rounds)
    all_ms += 1e-6 * static_cast<double>(opened.round(index).end_ns - opened.round(index).start_ns);
  EXPECT_NEAR(shown_ms, all_ms, 1e-6 * all_ms);
  // There is a point per token that has a confidence.
  const Chart confidence = figure("confidence");
  ASSERT_EQ(confidence.panels.size(), 2U);
  std::size_t tokens = 0;
  for (const std::uint32_t index : rounds)
    for (const traces::DraftToken& token : opened.draft_tokens(index))
      tokens += std::isnan(token.confidence) ? 0 : 1;
  EXPECT_EQ(confidence.table.rows.size(), tokens);
  // There is a row per layer, with its share of the rounds that draft.
  const Chart skipped = figure("skip-map");
  ASSERT_FALSE(skipped.empty());
  double drafting = 0.0;
  double first = 0.0;
  for (const std::uint32_t index : rounds)
    if (const traces::LayerSet* set = opened.layer_set(index); set != nullptr) {
      ++drafting;
      first += (set->skipped[0] & 1) != 0 ? 1.0 : 0.0;
      EXPECT_EQ(skipped.table.rows.size(), static_cast<std::size_t>(set->n_layers));
    }
  EXPECT_NEAR(skipped.table.rows.front()[1].toDouble(), first / drafting, 1e-12);
  for (const Chart* chart : {&breakdown, &confidence, &skipped}) {
    const QString path = QString::fromStdString((folder_ / "figure.svg").string());
    const auto written = write_figure(*chart, {}, path);
    EXPECT_TRUE(written) << written.error().message;
  }
}

TEST_F(RoundViews, CountsOfManyDraftPositionsAreNotDrawnOverOneAnother) {
  for (const int positions : {3, 6, 10, 14, 30}) {
    open({.runs = 2, .requests_per_run = 3, .max_rounds = 200, .max_drafted = positions});
    for (const int width : {1000, 1400}) {
      window_.resize(width, 900);
      QWidget& confidence = raise(QStringLiteral("confidence"));
      (void)picture(confidence);
      const std::vector<DrawnText> texts = drawn_texts(confidence);
      int counts = 0;
      for (std::size_t i = 0; i < texts.size(); ++i) {
        bool is_number = false;
        (void)texts[i].text.toInt(&is_number);
        counts += is_number && texts[i].box.left() > confidence.width() - 160 ? 1 : 0;
        for (std::size_t j = i + 1; j < texts.size(); ++j) {
          const QRect both =
              texts[i].whole &
              texts[j].whole;  // includes clipped parts, since a cut-off text is an overlap too
          EXPECT_FALSE(both.width() > 2 && both.height() > 6)
              << positions << ": \"" << texts[i].text.toStdString() << "\" and \""
              << texts[j].text.toStdString() << "\"";
        }
      }
      if (positions == 3) {
        EXPECT_GE(counts, 3) << width << ": " << words_on_screen(confidence);
      }
    }
  }
}

}  // namespace
}  // namespace draftscope::gui

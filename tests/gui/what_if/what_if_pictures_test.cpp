// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of the what-if page in little room: they scroll, and nothing of them is cut.
#include <gmock/gmock.h>

#include <QApplication>
#include <QBuffer>
#include <QImage>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QSvgGenerator>

#include "what_if/answer_bars.h"
#include "what_if/pictures/bar_rows.h"
#include "what_if/pictures/heat_map_plot.h"
#include "what_if/pictures/picture_pane.h"
#include "what_if/pictures/roofline_plot.h"

namespace draftscope::gui {
namespace {

bool is_ink(const QImage& image, int x, int y) {
  return qGray(image.pixel(x, y)) < 140;
}

/// Dark pixels of columns from `left` on.
int ink(const QImage& image, int left) {
  int count = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = left; x < image.width(); ++x) count += is_ink(image, x, y) ? 1 : 0;
  return count;
}

/// A pane of the page that is far too low.
class LowPane {
 public:
  explicit LowPane(WhatIfPicture* picture) : pane_(picture, QStringLiteral("a picture")) {
    pane_.resize(500, 90);
    pane_.show();
    QApplication::processEvents();
  }
  [[nodiscard]] bool scrolls() const {
    const auto* area = pane_.findChild<QScrollArea*>();
    return area != nullptr && area->verticalScrollBar()->maximum() > 0;
  }

 private:
  PicturePane pane_;
};

TEST(WhatIfPictures, EveryRowOfBarsIsAsHighAsItsWords) {
  auto* bars = new BarRows;
  std::vector<BarRow> rows;
  for (int i = 0; i < 12; ++i)
    rows.push_back(
        {.name = QStringLiteral("row %1").arg(i), .value = 1.0 + 0.1 * i, .numbers = {QStringLiteral("1")}});
  bars->set_rows(QStringLiteral("title"), {QStringLiteral("speedup")}, rows,
                 {QStringLiteral("one"), QStringLiteral("two")});
  const LowPane pane(bars);
  EXPECT_TRUE(pane.scrolls());
  EXPECT_GE(bars->height(), (12 + 2 + 1) * bars->fontMetrics().height());
  // The last footnote stands above the lower edge.
  const QImage image = bars->grab().toImage();
  int last = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < 60; ++x)
      if (is_ink(image, x, y)) last = y;
  EXPECT_GT(last, image.height() - 30);
  EXPECT_LT(last, image.height() - 2);
}

TEST(WhatIfPictures, TheRooflinesLegendIsWholeInALowPane) {
  simulator::Roofline roofline{.bytes_per_ns = 10.0, .flops_per_ns = 200.0};
  for (int operation = 0; operation < 7; ++operation)
    for (const std::int32_t rows : {1, 5})
      roofline.points.push_back({.operation = static_cast<speculation::Operation>(operation),
                                 .rows = rows,
                                 .flops = 1e6 * rows,
                                 .bytes = 1e6,
                                 .ns = 2e5});
  auto* plot = new RooflinePlot;
  plot->set_roofline(roofline, QStringLiteral("t"));
  constexpr int legend = 178;  // of the picture's right side
  const LowPane pane(plot);
  EXPECT_TRUE(pane.scrolls());
  const QImage low = plot->grab().toImage();
  RooflinePlot tall;
  tall.set_roofline(roofline, QStringLiteral("t"));
  tall.resize(low.width(), 700);
  const QImage whole = tall.grab().toImage();
  EXPECT_GT(ink(whole, whole.width() - legend), 500);
  EXPECT_EQ(ink(low, low.width() - legend), ink(whole, whole.width() - legend));
}

TEST(WhatIfPictures, TheHeatMapsLegendIsWholeInALowPane) {
  HeatMap map{.exits = 3, .lengths = 3};
  for (std::int32_t exit = 1; exit <= 3; ++exit)
    for (std::int32_t gamma = 1; gamma <= 3; ++gamma)
      map.cells.push_back({.exit = exit, .gamma = gamma, .speedup = 0.7 + 0.1 * exit + 0.05 * gamma});
  const auto signs = [&](HeatMapPlot& plot) {
    const QImage image = plot.grab().toImage();
    // The five lowest signs, each 18 pixels high, end where the ink does.
    int last = 0;
    for (int y = 0; y < image.height(); ++y)
      for (int x = image.width() - 134; x < image.width(); ++x)
        if (is_ink(image, x, y)) last = y;
    return ink(image.copy(0, last - 84, image.width(), 85), image.width() - 134);
  };
  auto* plot = new HeatMapPlot;
  plot->set_map(map, QStringLiteral("t"));
  const LowPane pane(plot);
  EXPECT_TRUE(pane.scrolls());
  HeatMapPlot tall;
  tall.set_map(map, QStringLiteral("t"));
  tall.resize(500, 600);
  // A word has a hundred pixels; edges may fall between two of them.
  EXPECT_GT(signs(tall), 500);
  EXPECT_NEAR(signs(*plot), signs(tall), 8);
}

TEST(WhatIfPictures, AHeatMapThatWasKeptLooksAsOneThatIsDrawnAnew) {
  const auto map_of = [](double slowest) {
    HeatMap map{.exits = 4, .lengths = 5};
    for (std::int32_t exit = 1; exit <= 4; ++exit)
      for (std::int32_t gamma = 1; gamma <= 5; ++gamma)
        map.cells.push_back({.exit = exit, .gamma = gamma, .speedup = slowest + 0.1 * exit + 0.05 * gamma});
    map.cells[3].refusal = "none";
    return map;
  };
  struct Shown {
    HeatMap map;
    QSize size;
    HeatMapMarks marks;
    bool is_stale = false;
    QPalette palette;
  };
  HeatMapPlot kept;
  const auto show = [](HeatMapPlot& plot, const Shown& shown) {
    plot.setPalette(shown.palette);
    plot.resize(shown.size);
    plot.set_marks(shown.marks);
    plot.set_stale(shown.is_stale);
    return plot.grab().toImage();
  };
  Shown shown{.map = map_of(0.7), .size = {600, 400}, .marks = {.recorded = {}, .current = {}}};
  const auto expect_same = [&](const char* what) {
    HeatMapPlot fresh;
    fresh.set_map(shown.map, QStringLiteral("t"));
    EXPECT_EQ(show(kept, shown), show(fresh, shown)) << what;
  };
  kept.set_map(shown.map, QStringLiteral("t"));
  expect_same("first");
  shown.marks.current = {2, 3};
  expect_same("a mark");
  shown.is_stale = true;
  expect_same("dimmed");
  shown.is_stale = false;
  shown.marks.current = {4, 1};
  shown.size = {700, 500};
  expect_same("another size");
  shown.palette.setColor(QPalette::Base, QColor(20, 20, 20));
  shown.palette.setColor(QPalette::WindowText, Qt::white);
  expect_same("other colours");
  shown.map = map_of(0.75);
  kept.set_map(shown.map, QStringLiteral("t"));
  expect_same("another map");
}

TEST(WhatIfPictures, BarsThatWereKeptLookAsThoseThatAreDrawnAnew) {
  const auto fill = [](BarRows& bars, double value) {
    bars.set_rows(QStringLiteral("t"), {QStringLiteral("speedup")},
                  {{.name = QStringLiteral("a"), .value = value, .numbers = {QStringLiteral("1.3")}},
                   {.name = QStringLiteral("b"), .value = 1.7, .before = value, .low = 1.5, .high = 1.8}},
                  {QStringLiteral("below")});
  };
  BarRows kept;
  double value = 1.3;
  QPalette palette;
  QSize size(600, 400);
  QFont font = kept.font();
  bool is_stale = false;
  const auto show = [&](BarRows& bars) {
    bars.setPalette(palette);
    bars.setFont(font);
    bars.resize(size);
    bars.set_stale(is_stale);
    return bars.grab().toImage();
  };
  const auto expect_same = [&](const char* what) {
    BarRows fresh;
    fill(fresh, value);
    EXPECT_EQ(show(kept), show(fresh)) << what;
  };
  fill(kept, value);
  expect_same("first");
  is_stale = true;
  expect_same("dimmed");
  is_stale = false;
  expect_same("clear again");
  value = 1.5;
  fill(kept, value);
  expect_same("other numbers");
  size = {700, 450};
  expect_same("another size");
  font.setPointSizeF(font.pointSizeF() * 1.3);
  expect_same("larger letters");
  palette.setColor(QPalette::Base, QColor(20, 20, 20));
  expect_same("other colours");
}

TEST(WhatIfPictures, AFileHasTheNumbersOfAHeatMapAsText) {
  HeatMap map{.exits = 1, .lengths = 1};
  map.cells.push_back({.exit = 1, .gamma = 1, .speedup = 1.37});
  HeatMapPlot plot;
  plot.resize(600, 400);
  plot.set_map(map, QStringLiteral("t"));
  QBuffer file;
  file.open(QIODevice::WriteOnly);
  QSvgGenerator generator;
  generator.setOutputDevice(&file);
  generator.setSize(plot.size());
  {
    QPainter painter(&generator);
    plot.render(&painter);
  }
  EXPECT_THAT(file.data().toStdString(), testing::HasSubstr(">1.37<"));
  EXPECT_THAT(file.data().toStdString(), testing::Not(testing::HasSubstr("<image")));
}

TEST(WhatIfPictures, NumbersBesideTheGaugesAreWhole) {
  auto answer = std::make_shared<WhatIfAnswer>();
  answer->prediction.vanilla_tokens_per_second = 2000.0;
  answer->rate.min_drafted.value = 25180.0;
  answer->rate.max_drafted.emplace();
  answer->rate.max_drafted->value = 25320.0;
  answer->prediction.speedup.min_drafted.total.value = 1.26;
  AnswerBars bars;
  bars.set_answer(answer);
  bars.resize(std::max(900, bars.minimumSizeHint().width()), 128);
  const QImage image = bars.grab().toImage();
  QFont large = bars.font();
  large.setBold(true);
  large.setPointSizeF(1.5 * large.pointSizeF());
  const QString words = QStringLiteral("25180–25320 tokens/s");
  const int width = QFontMetrics(large).horizontalAdvance(words);
  ASSERT_GT(width, 195) << "long enough";
  // The last letter is there.
  int last = 0;
  for (int x = 10 + width - 8; x < 10 + width + 2; ++x)
    for (int y = 4; y < 40; ++y) last += is_ink(image, x, y) ? 1 : 0;
  EXPECT_GT(last, 8);
}

}  // namespace
}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
// Tests pictures of the what-if page in little room: they scroll, and nothing in them is cut.
#include <gmock/gmock.h>

#include <QApplication>
#include <QImage>
#include <QScrollArea>
#include <QScrollBar>

#include "charts/chart_plot.h"
#include "what_if/answer_bars.h"
#include "what_if/pictures/picture_charts.h"
#include "what_if/pictures/picture_pane.h"

namespace draftscope::gui {
namespace {

bool is_ink(const QImage& image, int x, int y) {
  return qGray(image.pixel(x, y)) < 140;
}

TEST(WhatIfPictures, ALowPaneScrolls) {
  simulator::Roofline roofline{.bytes_per_ns = 10.0, .flops_per_ns = 200.0};
  for (int operation = 0; operation < 7; ++operation)
    for (const std::int32_t rows : {1, 5})
      roofline.points.push_back({.operation = static_cast<speculation::Operation>(operation),
                                 .rows = rows,
                                 .flops = 1e6 * rows,
                                 .bytes = 1e6,
                                 .ns = 2e5});
  PicturePane pane(QStringLiteral("a picture"));
  pane.set_picture(QStringLiteral("title"), roofline_chart(roofline), QStringLiteral("one\ntwo"));
  pane.resize(500, 90);
  pane.show();
  QApplication::processEvents();
  const auto* area = pane.findChild<QScrollArea*>();
  ASSERT_NE(area, nullptr);
  EXPECT_GT(area->verticalScrollBar()->maximum(), 0);
  EXPECT_GE(pane.plot().height(), pane.plot().minimumHeight());
}

TEST(WhatIfPictures, AHeatMapSaysWhatEachOfItsCellsIs) {
  HeatMap map{.exits = 2, .lengths = 3};
  for (std::int32_t exit = 1; exit <= 2; ++exit)
    for (std::int32_t gamma = 1; gamma <= 3; ++gamma)
      map.cells.push_back({.exit = exit, .gamma = gamma, .strategy = "a", .speedup = exit + 0.1 * gamma});
  map.cells[1].refusal = "none";
  const Chart chart =
      heat_map_chart(map, QStringLiteral("t"), {{.strategy = "b", .exit = 2, .gamma = 3}}, 8.0);
  EXPECT_EQ(chart.scale_limit, 8.0) << "the scale only grows";
  EXPECT_LT(heat_map_chart(map, QStringLiteral("t"), {}, 1.0).scale_limit, 8.0);
  const std::vector<ChartCell>& cells = chart.panels.front().cells;
  EXPECT_FALSE(cells[1].speedup);
  EXPECT_EQ(cells[1].words, QStringLiteral("a: no answer\nnone"));
  const ChartCell& fastest = cells.back();
  EXPECT_TRUE(fastest.is_marked);
  EXPECT_EQ(fastest.row, 0) << "long drafts on top";
  EXPECT_EQ(fastest.text, QStringLiteral("2.30"));
  EXPECT_THAT(fastest.words.toStdString(), testing::HasSubstr("recorded: b"));
  // Exits and lengths without any answer have no place.
  for (const std::size_t cell : {0U, 2U, 4U}) map.cells[cell].refusal = "none";
  const Chart answered =
      heat_map_chart(map, QStringLiteral("t"), {{.exit = 2, .gamma = 3}, {.exit = 1}}, 8.0);
  EXPECT_EQ(answered.x.names, QStringList{QStringLiteral("2")});
  EXPECT_EQ(answered.panels.front().y.names, QStringList({QStringLiteral("3"), QStringLiteral("1")}));
  EXPECT_EQ(answered.panels.front().cells.size(), 2U);
  EXPECT_EQ(answered.panels.front().series.front().y, std::vector<double>{0.0});
}

TEST(WhatIfPictures, NumbersBesideTheGaugesAreWhole) {
  auto answer = std::make_shared<WhatIfAnswer>();
  answer->prediction.vanilla_tokens_per_second = 2000.0;
  answer->prediction.rate.min_drafted.value = 25180.0;
  answer->prediction.rate.max_drafted.emplace();
  answer->prediction.rate.max_drafted->value = 25320.0;
  answer->prediction.speedup.min_drafted.value = 1.26;
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
  // The last letter is visible.
  int last = 0;
  for (int x = 10 + width - 8; x < 10 + width + 2; ++x)
    for (int y = 4; y < 40; ++y) last += is_ink(image, x, y) ? 1 : 0;
  EXPECT_GT(last, 8);
}

}  // namespace
}  // namespace draftscope::gui

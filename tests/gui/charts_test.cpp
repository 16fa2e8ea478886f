// SPDX-License-Identifier: GPL-3.0-or-later
// Tests charts as data, as drawings, and as files.
#include <gmock/gmock.h>

#include <QClipboard>
#include <QFile>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <algorithm>
#include <random>

#include "charts/chart_places.h"
#include "charts/chart_plot.h"
#include "charts/export_dialog.h"
#include "charts/figure_file.h"
#include "charts/table_file.h"
#include "named_widget.h"
#include "sample.h"
#include "settle.h"
#include "small_disk.h"
#include "widgets/plot_style.h"

namespace draftscope::gui {
namespace {

Chart some_chart(unsigned seed, bool has_values_along_x) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> value(0.5, 2.0);
  Chart chart{.name = QStringLiteral("some chart"), .x = {.label = QStringLiteral("the horizontal")}};
  ChartPanel panel{.y = {.label = QStringLiteral("the vertical")}, .has_values_along_x = has_values_along_x};
  for (std::size_t series = 0; series < 3; ++series) {
    ChartSeries& made = panel.series.emplace_back();
    made.name = QStringLiteral("series number %1").arg(series);
    made.color = series;
    for (int point = 0; point < 7; ++point) {
      made.x.push_back(value(random));
      made.y.push_back(value(random));
      chart.table.rows.push_back({made.name, made.x.back(), made.y.back()});
    }
  }
  chart.table.columns = QStringList{QStringLiteral("series"), QStringLiteral("x"), QStringLiteral("y")};
  chart.panels.push_back(panel);
  return chart;
}

TEST(ChartPlaces, ArrowsMeetEveryPointOfASeriesInTheOrderOfItsKeys) {
  for (unsigned seed = 1; seed <= 20; ++seed)
    for (const bool along_x : {false, true}) {
      const Chart chart = some_chart(seed, along_x);
      const ChartSeries& series = chart.panels[0].series[1];
      const std::vector<double>& keys = along_x ? series.y : series.x;
      const auto first = static_cast<std::size_t>(std::ranges::min_element(keys) - keys.begin());
      ChartPlace place{0, 1, first};
      std::vector<double> met{keys[first]};
      for (std::size_t step = 1; step < keys.size(); ++step) {
        place = next_place(chart, place, along_x ? Qt::Key_Down : Qt::Key_Right);
        met.push_back(keys[place.point]);
      }
      std::vector<double> sorted = keys;
      std::ranges::sort(sorted);
      EXPECT_EQ(met, sorted);
      EXPECT_EQ(next_place(chart, place, along_x ? Qt::Key_Down : Qt::Key_Right), place) << "the end stays";
      const ChartPlace other = next_place(chart, place, along_x ? Qt::Key_Right : Qt::Key_Down);
      EXPECT_EQ(other.series, 2U);
      EXPECT_TRUE(is_in(chart, other));
      EXPECT_FALSE(words_of(chart, other).isEmpty());
    }
}

TEST(ChartPlot, IsPlottedOnceWhenItIsSeenHoweverOftenItChangedBefore) {
  ChartPlot plot(QStringLiteral("some chart"));
  plot.setFocusPolicy(Qt::NoFocus);  // a focus would draw a frame around the plot
  plot.set_chart(some_chart(1, false));
  plot.resize(400, 300);
  plot.show();
  settle();
  QSignalSpy plotted(&plot, &QCustomPlot::afterReplot);
  for (const QSize& size : {QSize(500, 300), QSize(500, 420), QSize(640, 420)}) plot.resize(size);
  EXPECT_EQ(plotted.size(), 0);
  const auto picture_of = [](const QSize& size) {
    ChartPlot fresh(QStringLiteral("some chart"));
    fresh.resize(size);
    fresh.set_chart(some_chart(1, false));
    return fresh.grab().toImage();
  };
  EXPECT_EQ(plot.grab().toImage(), picture_of(plot.size()));
  EXPECT_EQ(plotted.size(), 1);
  settle();
  plot.set_chart(some_chart(2, false));
  plot.set_chart(some_chart(3, false));
  settle();
  EXPECT_EQ(plotted.size(), 2);
  plot.hide();
  plot.set_chart(some_chart(2, false));
  plot.set_chart(some_chart(1, false));
  settle();
  EXPECT_EQ(plotted.size(), 2) << "nobody sees it";
  plot.show();
  EXPECT_EQ(plot.grab().toImage(), picture_of(plot.size()));
}

TEST(ChartColors, AreTheSameOnBothSidesOfOneAndFurtherApartFurtherOut) {
  for (const bool dark : {false, true}) {
    const QColor middle = diverging_color(1.0, 2.0, dark);
    int last_fast = 0;
    int last_slow = 0;
    const auto apart = [&](const QColor& color) {
      return std::abs(color.red() - middle.red()) + std::abs(color.green() - middle.green()) +
             std::abs(color.blue() - middle.blue());
    };
    for (const double speedup : {1.1, 1.3, 1.6, 2.0}) {
      const int fast = apart(diverging_color(speedup, 2.0, dark));
      const int slow = apart(diverging_color(1.0 / speedup, 2.0, dark));
      EXPECT_GT(fast, last_fast);
      EXPECT_GT(slow, last_slow);
      last_fast = fast;
      last_slow = slow;
    }
    EXPECT_EQ(diverging_color(5.0, 2.0, dark), diverging_color(2.0, 2.0, dark)) << "the scale ends";
    // Values below 1 are orange, and values above it are blue.
    EXPECT_GT(diverging_color(0.5, 2.0, dark).red(), diverging_color(0.5, 2.0, dark).blue());
    EXPECT_GT(diverging_color(2.0, 2.0, dark).blue(), diverging_color(2.0, 2.0, dark).red());
  }
  for (const double speedup : {0.2, 0.9, 1.0, 1.3, 5.0}) {
    EXPECT_GE(scale_limit_for(speedup), std::max(speedup, 1.0 / speedup));
    EXPECT_EQ(scale_limit_for(speedup), scale_limit_for(1.0 / speedup));
  }
}

class FigureFiles : public testing::Test {
 protected:
  [[nodiscard]] QString path(const char* name) const {
    return QString::fromStdString((folder_ / name).string());
  }
  [[nodiscard]] QByteArray written(const char* name, const FigureOptions& options = {}) const {
    const auto done = write_figure(chart_, options, path(name));
    EXPECT_TRUE(done) << done.error().message;
    QFile file(path(name));
    EXPECT_TRUE(file.open(QIODevice::ReadOnly));
    return file.readAll();
  }

  Chart chart_ = some_chart(3, false);
  traces::TestFolder folder_;
};

TEST_F(FigureFiles, HaveTheSizeThatIsAskedFor) {
  for (const double width : {single_column_inches, double_column_inches}) {
    const FigureOptions options{.width_inches = width, .dots_per_inch = 150};
    (void)written("a.png", options);
    const QImage image(path("a.png"));
    EXPECT_NEAR(image.width(), width * 150, 2.0);
    EXPECT_NEAR(image.dotsPerMeterX(), 150 * 39.37, 60);
    const QByteArray pdf = written("a.pdf", options);
    ASSERT_TRUE(pdf.startsWith("%PDF"));
    const auto box = QRegularExpression(QStringLiteral("/MediaBox \\[0 0 ([0-9.]+) ([0-9.]+)"))
                         .match(QString::fromLatin1(pdf));
    ASSERT_TRUE(box.hasMatch());
    EXPECT_NEAR(box.captured(1).toDouble(), width * 72, 1.0);
    EXPECT_NEAR(box.captured(2).toDouble(), image.height() / 150.0 * 72, 1.0);
    const auto view = QRegularExpression(QStringLiteral("viewBox=\"0 0 ([0-9.]+) ([0-9.]+)"))
                          .match(QString::fromUtf8(written("a.svg", options)));
    ASSERT_TRUE(view.hasMatch());
    EXPECT_NEAR(view.captured(1).toDouble(), width * 72, 1.0);
  }
}

TEST_F(FigureFiles, HaveALegendNamesOfAxesAndLettersOfTheSizeThatIsAskedFor) {
  for (const double points : {6.0, 11.0}) {
    const QString svg = QString::fromUtf8(written("a.svg", {.width_inches = 7.0, .font_points = points}));
    for (const char* words : {"series number 0", "series number 2", "the horizontal", "the vertical"})
      EXPECT_TRUE(svg.contains(QLatin1String(words))) << words;
    EXPECT_TRUE(svg.contains(QStringLiteral("font-size=\"%1\"").arg(points))) << points;
    EXPECT_FALSE(svg.contains(QStringLiteral("<image"))) << "lines and letters, no pixels";
  }
  const QString bare = QString::fromUtf8(written("b.svg", {.has_legend = false}));
  EXPECT_FALSE(bare.contains(QStringLiteral("series number 0")));
  EXPECT_TRUE(bare.contains(QStringLiteral("the horizontal")));
}

TEST_F(FigureFiles, AreBlackOnWhiteWhateverTheWindowHas) {
  const QColor light = figure_image(chart_, {}).pixelColor(0, 0);
  const QColor dark = figure_image(chart_, {.is_dark = true}).pixelColor(0, 0);
  EXPECT_EQ(light, QColor(Qt::white));
  EXPECT_LT(dark.lightness(), 60);
}

TEST_F(FigureFiles, HoldThePlottedDataWhole) {
  const QString csv = QString::fromUtf8(written("a.csv"));
  const QStringList lines = csv.split(QStringLiteral("\r\n"), Qt::SkipEmptyParts);
  ASSERT_EQ(static_cast<std::size_t>(lines.size()), chart_.table.rows.size() + 1);
  for (std::size_t row = 0; row < chart_.table.rows.size(); ++row) {
    const QStringList cells = lines[static_cast<qsizetype>(row) + 1].split(u',');
    EXPECT_EQ(cells[1].toDouble(), chart_.table.rows[row][1].toDouble()) << "every digit";
  }
}

TEST_F(FigureFiles, LatexAndMarkdownKeepTheirColumnsWhateverStandsInCells) {
  std::mt19937_64 random(7);
  const QString signs = QStringLiteral("ab1 &%$#_{}\\~^|×α–");
  ChartTable table{{QStringLiteral("a & b"), QStringLiteral("x|y"), QStringLiteral("n")}, {}};
  for (int row = 0; row < 60; ++row) {
    QString text;
    for (int i = 0; i < 8; ++i) text += signs[static_cast<qsizetype>(random() % signs.size())];
    table.rows.push_back({text, row % 3 == 0 ? QVariant() : QVariant(text), 0.5 * row});
  }
  const auto unescaped = [](const QString& line, QChar sign) {
    int count = 0;
    for (qsizetype i = 0; i < line.size(); ++i)
      if (line[i] == sign && (i == 0 || line[i - 1] != u'\\')) ++count;
    return count;
  };
  const QString latex = latex_of(table);
  int rows = 0;
  for (const QString& line : latex.split(u'\n')) {
    if (!line.endsWith(QStringLiteral("\\\\"))) continue;
    ++rows;
    EXPECT_EQ(unescaped(line, u'&'), 2) << line.toStdString();
    EXPECT_EQ(unescaped(line, u'{'), unescaped(line, u'}')) << line.toStdString();
    EXPECT_EQ(unescaped(line, u'%'), 0);
  }
  EXPECT_EQ(rows, 61);
  EXPECT_TRUE(latex.contains(QStringLiteral("{llr}")));
  const QStringList markdown = markdown_of(table).split(u'\n', Qt::SkipEmptyParts);
  ASSERT_EQ(markdown.size(), 62);
  for (const QString& line : markdown) EXPECT_EQ(unescaped(line, u'|'), 4) << line.toStdString();
}

TEST_F(FigureFiles, SayInOneLineWhatCantBeWrittenAndLeaveNothingBehind) {
  const auto refused = [&](const Chart& chart, const FigureOptions& options, const QString& to,
                           const char* words) {
    const auto done = write_figure(chart, options, to);
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message, testing::HasSubstr(words));
    EXPECT_EQ(done.error().message.find('\n'), std::string::npos);
    EXPECT_LT(done.error().message.size(), 300U);
  };
  refused(chart_, {}, path("a.gif"), ".pdf, .svg, .png");
  refused(chart_, {}, path("nowhere/a.pdf"), "nowhere");
  refused(chart_, {.width_inches = 400.0}, path("a.pdf"), "width");
  refused(chart_, {.font_points = 1.0}, path("a.pdf"), "letters");
  refused(chart_, {.dots_per_inch = 5}, path("a.png"), "dots");
  refused(chart_, {.width_inches = 40.0, .dots_per_inch = 1200}, path("a.png"), "at most 32767 a side");
  refused({}, {}, path("a.png"), "no figure");
  refused(chart_, {}, QStringLiteral("/dev/full"), "/dev/full");
  {
    const SmallDisk disk;
    for (const char* name : {"a.pdf", "a.svg", "a.png", "a.csv", "a.tex", "a.md"})
      refused(chart_, {}, path(name), name);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(FigureFiles, AreDrawnAtEveryEndOfEverySetting) {
  for (const double width : {1.0, 40.0})
    for (const double points : {4.0, 48.0})
      for (const char* name : {"a.pdf", "a.svg", "a.png"}) {
        const FigureOptions options{.width_inches = width, .font_points = points, .dots_per_inch = 30};
        const auto written = write_figure(chart_, options, path(name));
        ASSERT_TRUE(written) << written.error().message;
        if (std::string_view(name) == "a.png") {
          EXPECT_EQ(QImage(path(name)).width(), static_cast<int>(30 * width));
        }
      }
}

/// A matrix of speedups with names as long as a specification's.
Chart matrix(int rows, int columns) {
  Chart chart{.name = QStringLiteral("matrix")};
  ChartPanel& panel = chart.panels.emplace_back();
  for (int column = 0; column < columns; ++column) chart.x.names << QStringLiteral("category %1").arg(column);
  for (int row = 0; row < rows; ++row) {
    panel.y.names << QStringLiteral("quantised:weights=q4_0,gamma=%1").arg(row);
    for (int column = 0; column < columns; ++column)
      panel.cells.push_back({.column = column,
                             .row = row,
                             .speedup = 1.24,
                             .text = QStringLiteral("1.24×"),
                             .is_marked = row == 0,
                             .is_uncertain = column % 2 == 1});
  }
  chart.note = QStringLiteral("Framed: the fastest. Dashed: its lead may be chance.");
  return chart;
}

TEST_F(FigureFiles, NumbersOfAMatrixAreWholeOrLeftOutAndTheDialogueTakesTheRoomThatTheyNeed) {
  for (const int rows : {2, 9, 19})
    for (const int columns : {1, 2, 5, 8}) {
      chart_ = matrix(rows, columns);
      const bool is_wide = needs_both_columns(chart_);
      const ExportDialog dialog({exportable(chart_)});
      EXPECT_EQ(dialog.options().width_inches, is_wide ? double_column_inches : single_column_inches);
      for (const double width : {single_column_inches, double_column_inches}) {
        const QString svg = QString::fromUtf8(written("a.svg", {.width_inches = width}));
        EXPECT_TRUE(svg.contains(QStringLiteral("Dashed:"))) << "what a mark means is in the figure";
        const qsizetype numbers = svg.count(QStringLiteral(">1.24×<"));
        EXPECT_TRUE(numbers == 0 || numbers == rows * columns) << rows << " × " << columns;
        if (width == single_column_inches) {
          EXPECT_EQ(numbers == 0, is_wide) << rows << " × " << columns;
        }
      }
    }
  EXPECT_FALSE(needs_both_columns(matrix(4, 2)));
  EXPECT_TRUE(needs_both_columns(matrix(19, 5)));
}

TEST_F(FigureFiles, TheDialogueWritesWhatItShows) {
  ExportDialog dialog(
      {exportable(chart_),
       Exportable{.name = QStringLiteral("table"), .data = chart_.table, .shown_data = chart_.table}});
  auto* kind = &named_widget<QComboBox>(dialog, "Column width");
  auto* which = &named_widget<QComboBox>(dialog, "Figure");
  auto* format = &named_widget<QComboBox>(dialog, "Format");
  EXPECT_EQ(dialog.options().width_inches, single_column_inches);
  kind->setCurrentIndex(1);
  EXPECT_EQ(dialog.options().width_inches, double_column_inches);
  named_widget<QDoubleSpinBox>(dialog, "Width").setValue(5.0);
  EXPECT_EQ(kind->currentIndex(), 2) << "neither of a paper's";
  EXPECT_TRUE(dialog.write(path("a.pdf")));
  EXPECT_EQ(format->count(), 6);
  which->setCurrentIndex(1);
  EXPECT_EQ(format->count(), 3) << "a table is no picture";
  format->setCurrentIndex(1);
  named_widget<QPushButton>(dialog, "Copy").click();
  EXPECT_EQ(QApplication::clipboard()->text(), latex_of(chart_.table));
  const auto labels = dialog.findChildren<QLabel*>();
  EXPECT_TRUE(std::ranges::any_of(labels, [&](const QLabel* label) {
    return label->text() == latex_of(chart_.table);
  })) << "the preview is the text that is written";
  EXPECT_TRUE(dialog.write(path("a.tex")));
  EXPECT_FALSE(dialog.write(path("nowhere/a.tex")));
  EXPECT_TRUE(named_widget<QLabel>(dialog, "What went wrong").text().contains(QStringLiteral("nowhere")));
}

}  // namespace
}  // namespace draftscope::gui

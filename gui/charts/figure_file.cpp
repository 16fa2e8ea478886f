// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure_file.h"

#include <qcustomplot.h>
#include <QBuffer>
#include <QFileInfo>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <cmath>

#include "charts/chart_drawing.h"
#include "charts/table_file.h"
#include "widgets/plot_style.h"

namespace draftscope::gui {

namespace {

constexpr double points_per_inch = 72.0;
/// Qt cannot draw into larger pictures.
constexpr int max_side_pixels = 32767;

QFont font_of(const FigureOptions& options) {
  QFont font;
  font.setPixelSize(std::max(1, static_cast<int>(std::lround(options.font_points))));
  font.setHintingPreference(QFont::PreferNoHinting);
  return font;
}

/// Charts are laid out in points, so that letters have the requested size.
QSize size_of(const Chart& chart, const FigureOptions& options) {
  const double width = options.width_inches * points_per_inch;
  const double needed = min_chart_height(chart, font_of(options), static_cast<int>(width));
  constexpr double flat = 0.62;
  const bool has_rows = !chart.panels.empty() && !chart.panels.front().y.names.isEmpty();
  const double pleasant = flat * std::min(options.width_inches, 5.0) * points_per_inch;
  return {static_cast<int>(std::lround(width)),
          static_cast<int>(std::lround(has_rows ? needed : std::max(needed, pleasant)))};
}

QSize pixels_of(const Chart& chart, const FigureOptions& options) {
  return (QSizeF(size_of(chart, options)) * (options.dots_per_inch / points_per_inch)).toSize();
}

QPalette palette_of(const FigureOptions& options) {
  if (!options.is_dark) return paper_palette();
  QPalette palette(QColor(0x24, 0x27, 0x2b));
  palette.setColor(QPalette::Base, QColor(0x1b, 0x1d, 0x20));
  palette.setColor(QPalette::WindowText, QColor(0xe6, 0xe6, 0xe6));
  return palette;
}

void paint_figure(const Chart& chart, const FigureOptions& options, QPaintDevice& device, double scale,
                  bool is_vector) {
  const QSize size = size_of(chart, options);
  QCustomPlot plot;
  plot.resize(size);
  draw_chart(plot, chart,
             {.palette = palette_of(options),
              .font = font_of(options),
              .size = size,
              .has_legend = options.has_legend});
  QCPPainter painter;
  painter.begin(&device);
  painter.setMode(QCPPainter::pmVectorized, is_vector);
  painter.setMode(QCPPainter::pmNoCaching);
  painter.setMode(QCPPainter::pmNonCosmetic);
  painter.scale(scale, scale);
  painter.fillRect(QRect(QPoint(0, 0), size), palette_of(options).color(QPalette::Base));
  plot.toPainter(&painter, size.width(), size.height());
}

void write_pdf(const Chart& chart, const FigureOptions& options, QIODevice& into) {
  QPdfWriter writer(&into);
  constexpr int dots_per_inch = 1200;
  writer.setResolution(dots_per_inch);
  writer.setPageSize(QPageSize(QSizeF(size_of(chart, options)), QPageSize::Point, {}, QPageSize::ExactMatch));
  writer.setPageMargins(QMarginsF());
  writer.setTitle(chart.name);
  paint_figure(chart, options, writer, dots_per_inch / points_per_inch, true);
}

void write_svg(const Chart& chart, const FigureOptions& options, QIODevice& into) {
  QSvgGenerator generator;
  const QSize size = size_of(chart, options);
  generator.setOutputDevice(&into);
  generator.setResolution(static_cast<int>(points_per_inch));
  generator.setSize(size);
  generator.setViewBox(QRect(QPoint(0, 0), size));
  generator.setTitle(chart.name);
  paint_figure(chart, options, generator, 1.0, true);
}

Result<void> check_options(const FigureOptions& options) {
  const auto check = [](const char* what, double value, double min, double max) -> Result<void> {
    if (value >= min && value <= max) return {};
    return fail("figure: found {} {}, expected {} to {}", what, value, min, max);
  };
  DRAFTSCOPE_TRY(check("a width in inches of", options.width_inches, 1.0, 40.0));
  DRAFTSCOPE_TRY(check("letters in points of", options.font_points, 4.0, 48.0));
  return check("dots per inch of", options.dots_per_inch, 30, 1200);
}

Result<void> write_png(const Chart& chart, const FigureOptions& options, QIODevice& into) {
  const QSize pixels = pixels_of(chart, options);
  if (std::max(pixels.width(), pixels.height()) > max_side_pixels)
    return fail(
        "figure: found {} x {} pixels, expected at most {} a side: fewer dots per inch, or a smaller one",
        pixels.width(), pixels.height(), max_side_pixels);
  const QImage image = figure_image(chart, options);
  if (image.isNull() || !image.save(&into, "PNG"))
    return fail("figure: found no memory for {} x {} pixels, expected fewer", pixels.width(),
                pixels.height());
  return {};
}

}  // namespace

bool needs_both_columns(const Chart& chart) {
  const FigureOptions narrow;
  const bool has_cells = !chart.panels.empty() && !chart.panels.front().cells.empty();
  return has_cells &&
         !shows_numbers(chart, {.palette = {}, .font = font_of(narrow), .size = size_of(chart, narrow)});
}

QImage figure_image(const Chart& chart, const FigureOptions& options) {
  const QSize pixels = pixels_of(chart, options);
  if (std::max(pixels.width(), pixels.height()) > max_side_pixels) return {};
  QImage image(pixels, QImage::Format_RGB32);
  if (image.isNull()) return image;
  constexpr double inches_per_metre = 39.3701;
  image.setDotsPerMeterX(static_cast<int>(options.dots_per_inch * inches_per_metre));
  image.setDotsPerMeterY(static_cast<int>(options.dots_per_inch * inches_per_metre));
  image.fill(palette_of(options).color(QPalette::Base));
  paint_figure(chart, options, image, options.dots_per_inch / points_per_inch, false);
  return image;
}

Result<void> write_figure(const Chart& chart, const FigureOptions& options, const QString& path) {
  if (is_table_path(path)) return write_table(chart.table, path);
  if (chart.empty()) return fail("{}: found no figure to draw, expected one", path.toStdString());
  DRAFTSCOPE_TRY(check_options(options));
  const QString ending = QFileInfo(path).suffix().toLower();
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  if (ending == u"pdf")
    write_pdf(chart, options, buffer);
  else if (ending == u"svg")
    write_svg(chart, options, buffer);
  else if (ending == u"png")
    DRAFTSCOPE_TRY(write_png(chart, options, buffer));
  else
    return fail("{}: found the ending \"{}\", expected .pdf, .svg, .png, .csv, .tex or .md",
                path.toStdString(), ending.toStdString());
  return write_whole(bytes, path);
}

namespace {

void render_svg(QWidget& view, QIODevice& into) {
  QSvgGenerator generator;
  generator.setOutputDevice(&into);
  generator.setSize(view.size());
  generator.setViewBox(QRect(QPoint(0, 0), view.size()));
  generator.setTitle(view.accessibleName());
  generator.setDescription(view.accessibleDescription());
  QPainter painter(&generator);
  view.render(&painter);
}

void render_pdf(QWidget& view, QIODevice& into) {
  QPdfWriter writer(&into);
  constexpr int dots_per_inch = 96;
  writer.setResolution(dots_per_inch);
  writer.setPageSize(QPageSize(QSizeF(view.size()) / dots_per_inch, QPageSize::Inch));
  writer.setPageMargins(QMarginsF());
  writer.setTitle(view.accessibleName());
  QPainter painter(&writer);
  view.render(&painter);
}

}  // namespace

Result<void> write_picture(QWidget& view, const QString& path) {
  const QString ending = QFileInfo(path).suffix().toLower();
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  if (ending == u"png") {
    if (!view.grab().save(&buffer, "PNG"))
      return fail("{}: found a view of {} x {} pixels, expected some to draw", path.toStdString(),
                  view.width(), view.height());
  } else if (ending == u"svg") {
    render_svg(view, buffer);
  } else if (ending == u"pdf") {
    render_pdf(view, buffer);
  } else {
    return fail("{}: found the ending \"{}\", expected .png, .svg or .pdf", path.toStdString(),
                ending.toStdString());
  }
  return write_whole(bytes, path);
}

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "picture_export.h"

#include <QBuffer>
#include <QFileInfo>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>

#include "charts/table_file.h"

namespace draftscope::gui {

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

Result<void> write_csv(const QAbstractItemModel& model, const QString& path) {
  return write_whole(csv_of(raw_table(model)).toUtf8(), path);
}

}  // namespace draftscope::gui

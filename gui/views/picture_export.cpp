// SPDX-License-Identifier: GPL-3.0-or-later
#include "picture_export.h"

#include <draftscope/base/atomic_file.h>

#include <QBuffer>
#include <QFileInfo>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>

namespace draftscope::gui {

namespace {

Result<void> write_whole(const QByteArray& bytes, const QString& path) {
  DRAFTSCOPE_TRY_ASSIGN(AtomicFile file, AtomicFile::create(path.toStdString()));
  file.write({bytes.constData(), static_cast<std::size_t>(bytes.size())});
  return file.commit();
}

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

QString field(const QVariant& value) {
  QString text =
      value.typeId() == QMetaType::Double ? QString::number(value.toDouble(), 'g', 17) : value.toString();
  if (text.contains(u',') || text.contains(u'"') || text.contains(u'\n') || text.contains(u'\r'))
    text = u'"' + text.replace(u'"', QStringLiteral("\"\"")) + u'"';
  return text;
}

}  // namespace

Result<void> write_picture(QWidget& view, const QString& path) {
  const QString ending = QFileInfo(path).suffix().toLower();
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  if (ending == u"png") {
    view.grab().save(&buffer, "PNG");
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
  QString text;
  const auto line = [&](auto cell) {
    for (int column = 0; column < model.columnCount(); ++column) {
      if (column > 0) text += u',';
      text += field(cell(column));
    }
    text += QStringLiteral("\r\n");
  };
  line([&](int column) { return model.headerData(column, Qt::Horizontal, Qt::DisplayRole); });
  for (int row = 0; row < model.rowCount(); ++row)
    line([&](int column) {
      const QModelIndex index = model.index(row, column);
      QVariant raw = index.data(Qt::UserRole);
      if (raw.isValid()) return raw;
      QVariant shown = index.data(Qt::DisplayRole);
      return shown.toString() == QStringLiteral("–") ? QVariant() : shown;
    });
  const QByteArray bytes = text.toUtf8();
  return write_whole(bytes, path);
}

}  // namespace draftscope::gui

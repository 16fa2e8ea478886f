// SPDX-License-Identifier: GPL-3.0-or-later
#include "table_file.h"

#include <draftscope/base/atomic_file.h>

#include <QAction>
#include <QClipboard>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHeaderView>
#include <QTableView>
#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace draftscope::gui {

namespace {

template <typename Cell>
ChartTable table_of(const QAbstractItemModel& model, const std::vector<int>& columns, const Cell& cell) {
  ChartTable table;
  for (const int column : columns)
    table.columns << model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
  table.rows.reserve(static_cast<std::size_t>(model.rowCount()));
  for (int row = 0; row < model.rowCount(); ++row) {
    std::vector<QVariant>& values = table.rows.emplace_back();
    for (const int column : columns) values.push_back(cell(model.index(row, column)));
  }
  return table;
}

/// Columns that the table shows, from the left.
std::vector<int> shown_columns(const QTableView& table) {
  std::vector<int> columns;
  const QHeaderView& header = *table.horizontalHeader();
  for (int place = 0; place < header.count(); ++place)
    if (!header.isSectionHidden(header.logicalIndex(place))) columns.push_back(header.logicalIndex(place));
  return columns;
}

QVariant shown_value(const QModelIndex& index) {
  const QVariant whole = index.data(Qt::EditRole);
  const bool is_text = whole.typeId() == QMetaType::QString;
  const QVariant shown = is_text ? whole : index.data(Qt::DisplayRole);
  return shown.toString() == QStringLiteral("–") ? QVariant() : shown;
}

QVariant raw_value(const QModelIndex& index) {
  const QVariant raw = index.data(Qt::UserRole);
  return raw.isValid() ? raw : shown_value(index);
}

bool is_number(const QVariant& value) {
  return value.typeId() == QMetaType::Double;
}

QString csv_field(const QVariant& value) {
  QString text = is_number(value) ? QString::number(value.toDouble(), 'g', 17) : value.toString();
  if (text.contains(u',') || text.contains(u'"') || text.contains(u'\n') || text.contains(u'\r'))
    text = u'"' + text.replace(u'"', QStringLiteral("\"\"")) + u'"';
  return text;
}

/// Text of a value for people; a dash for a missing value.
QString read_text(const QVariant& value) {
  if (!value.isValid()) return QStringLiteral("–");
  return is_number(value) ? QString::number(value.toDouble(), 'g', 4) : value.toString().simplified();
}

struct LatexSign {
  char16_t sign;
  const char* latex;
};
constexpr std::array<LatexSign, 17> latex_signs{{{u'\\', "\\textbackslash{}"},
                                                 {u'~', "\\textasciitilde{}"},
                                                 {u'^', "\\textasciicircum{}"},
                                                 {u'|', "\\textbar{}"},
                                                 {u'–', "--"},
                                                 {u'…', "\\ldots{}"},
                                                 {u'µ', "$\\mu$"},
                                                 {u'−', "$-$"},
                                                 {u'×', "$\\times$"},
                                                 {u'·', "$\\cdot$"},
                                                 {u'<', "$<$"},
                                                 {u'>', "$>$"},
                                                 {u'≥', "$\\geq$"},
                                                 {u'α', "$\\alpha$"},
                                                 {u'γ', "$\\gamma$"},
                                                 {u'τ', "$\\tau$"},
                                                 {u'Δ', "$\\Delta$"}}};

QString latex_field(const QString& text) {
  QString escaped;
  for (const QChar sign : text) {
    const auto* found = std::ranges::find(latex_signs, sign.unicode(), &LatexSign::sign);
    if (found != latex_signs.end())
      escaped += QString::fromLatin1(found->latex);
    else if (QStringLiteral("&%$#_{}").contains(sign))
      escaped += QStringLiteral("\\") + sign;
    else
      escaped += sign;
  }
  return escaped;
}

/// Columns whose present values are all numbers; they are aligned right.
std::vector<bool> number_columns(const ChartTable& table) {
  if (!table.are_numbers.empty()) return table.are_numbers;
  std::vector<bool> are_numbers(static_cast<std::size_t>(table.columns.size()), !table.rows.empty());
  for (const std::vector<QVariant>& row : table.rows)
    for (std::size_t column = 0; column < are_numbers.size(); ++column) {
      bool is_numeric = is_number(row[column]) || row[column].typeId() == QMetaType::Int;
      if (!is_numeric) row[column].toString().remove(u'×').remove(u'%').trimmed().toDouble(&is_numeric);
      if (row[column].isValid() && !is_numeric) are_numbers[column] = false;
    }
  return are_numbers;
}

}  // namespace

ChartTable shown_table(const QTableView& table) {
  const std::vector<int> columns = shown_columns(table);
  const QAbstractItemModel& model = *table.model();
  ChartTable made = table_of(model, columns, shown_value);
  for (const int column : columns) {
    const QVariant alignment = model.index(0, column).data(Qt::TextAlignmentRole);
    made.are_numbers.push_back(static_cast<Qt::Alignment>(alignment.toInt()).testFlag(Qt::AlignRight));
  }
  return made;
}

ChartTable raw_shown_table(const QTableView& table) {
  return table_of(*table.model(), shown_columns(table), raw_value);
}

ChartTable raw_table(const QAbstractItemModel& model) {
  std::vector<int> columns(static_cast<std::size_t>(model.columnCount()));
  std::iota(columns.begin(), columns.end(), 0);
  return table_of(model, columns, raw_value);
}

QString csv_of(const ChartTable& table) {
  QString text;
  const auto line = [&](const auto& cells) {
    bool is_first = true;
    for (const auto& cell : cells) {
      if (!is_first) text += u',';
      text += csv_field(cell);
      is_first = false;
    }
    text += QStringLiteral("\r\n");
  };
  line(table.columns);
  for (const std::vector<QVariant>& row : table.rows) line(row);
  return text;
}

QString latex_of(const ChartTable& table) {
  const std::vector<bool> are_numbers = number_columns(table);
  QString columns;
  for (const bool is_numeric : are_numbers) columns += is_numeric ? u'r' : u'l';
  QString text = QStringLiteral("% \\usepackage{booktabs}\n\\begin{tabular}{%1}\n\\toprule\n").arg(columns);
  QStringList cells;
  for (const QString& column : table.columns) cells << latex_field(column);
  text += cells.join(QStringLiteral(" & ")) + QStringLiteral(" \\\\\n\\midrule\n");
  for (const std::vector<QVariant>& row : table.rows) {
    cells.clear();
    for (const QVariant& value : row) cells << latex_field(read_text(value));
    text += cells.join(QStringLiteral(" & ")) + QStringLiteral(" \\\\\n");
  }
  return text + QStringLiteral("\\bottomrule\n\\end{tabular}\n");
}

QString markdown_of(const ChartTable& table) {
  const auto line = [](const QStringList& cells) {
    return QStringLiteral("| %1 |\n").arg(cells.join(QStringLiteral(" | ")));
  };
  const auto escaped = [](QString cell) { return cell.replace(u'|', QStringLiteral("\\|")); };
  QStringList cells;
  for (const QString& column : table.columns) cells << escaped(column);
  QString text = line(cells);
  cells.clear();
  for (const bool is_numeric : number_columns(table))
    cells << (is_numeric ? QStringLiteral("---:") : QStringLiteral("---"));
  text += line(cells);
  for (const std::vector<QVariant>& row : table.rows) {
    cells.clear();
    for (const QVariant& value : row) cells << escaped(read_text(value));
    text += line(cells);
  }
  return text;
}

bool is_table_path(const QString& path) {
  const QString ending = QFileInfo(path).suffix().toLower();
  return ending == u"csv" || ending == u"tex" || ending == u"md";
}

QString text_of_table(const ChartTable& table, const QString& ending) {
  if (ending == u"tex") return latex_of(table);
  return ending == u"md" ? markdown_of(table) : csv_of(table);
}

Result<void> write_table(const ChartTable& table, const QString& path) {
  const QString ending = QFileInfo(path).suffix().toLower();
  if (!is_table_path(path))
    return fail("{}: found the ending \"{}\", expected .csv, .tex or .md", path.toStdString(),
                ending.toStdString());
  return write_whole(text_of_table(table, ending).toUtf8(), path);
}

Result<void> write_whole(const QByteArray& bytes, const QString& path) {
  DRAFTSCOPE_TRY_ASSIGN(AtomicFile file, AtomicFile::create(path.toStdString()));
  file.write({bytes.constData(), static_cast<std::size_t>(bytes.size())});
  return file.commit();
}

namespace {

void copy_selected(const QTableView& table) {
  std::map<int, std::map<int, QString>> rows;  // [row][place of the column on screen]
  for (const QModelIndex& index : table.selectionModel()->selectedIndexes())
    if (!table.isColumnHidden(index.column())) {
      // Qt::EditRole has the whole text where a cell shows only its beginning.
      const QVariant whole = index.data(Qt::EditRole);
      rows[index.row()][table.horizontalHeader()->visualIndex(index.column())] =
          (whole.isValid() ? whole : index.data(Qt::DisplayRole)).toString();
    }
  QStringList lines;
  if (!rows.empty() && rows.begin()->second.size() > 1) {
    const QHeaderView& header = *table.horizontalHeader();
    QStringList names;
    for (const auto& [place, text] : rows.begin()->second)
      names << table.model()->headerData(header.logicalIndex(place), Qt::Horizontal).toString();
    lines << names.join(u'\t');
  }
  for (const auto& [row, cells] : rows) {
    QStringList texts;
    for (const auto& [column, text] : cells) texts << text;
    lines << texts.join(u'\t');
  }
  if (!lines.isEmpty()) QGuiApplication::clipboard()->setText(lines.join(u'\n'));
}

}  // namespace

void offer_copying(QTableView& table) {
  // Arrow keys go from cell to cell; Tab leaves the table, as it leaves every control.
  table.setTabKeyNavigation(false);
  auto* copy = new QAction(QTableView::tr("Copy"), &table);
  copy->setShortcut(QKeySequence::Copy);
  copy->setShortcutContext(Qt::WidgetShortcut);
  QObject::connect(copy, &QAction::triggered, &table, [&table] { copy_selected(table); });
  table.addAction(copy);
  table.setContextMenuPolicy(Qt::ActionsContextMenu);
  for (const bool is_latex : {true, false}) {
    auto* whole = new QAction(
        is_latex ? QTableView::tr("Copy table as LaTeX") : QTableView::tr("Copy table as Markdown"), &table);
    QObject::connect(whole, &QAction::triggered, &table, [&table, is_latex] {
      const ChartTable shown = shown_table(table);
      QGuiApplication::clipboard()->setText(is_latex ? latex_of(shown) : markdown_of(shown));
    });
    table.addAction(whole);
  }
}

}  // namespace draftscope::gui

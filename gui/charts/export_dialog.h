// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Asks for the format of a figure or a table for a paper and for its file, previews it, and writes or copies
// it.

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <vector>

#include "charts/figure_file.h"

class QTableView;

namespace draftscope::gui {

/// A chart, or a table alone.
struct Exportable {
  QString name;
  Chart chart;            ///< empty = only the table
  ChartTable data;        ///< Raw values, for CSV.
  ChartTable shown_data;  ///< Values as people read them, for LaTeX and Markdown.
};
[[nodiscard]] Exportable exportable(const Chart& chart);
/// The columns that the table shows.
[[nodiscard]] Exportable exportable(const QTableView& table);
/// Charts, and tables with rows, that are visible in the widget; charts first.
[[nodiscard]] std::vector<Exportable> exportables(const QWidget& widget);

/// Suggests a path beside the recording, or in the current folder if the recording's is not writable. The
/// name joins the recording's and the figure's, with a number if the file exists.
[[nodiscard]] QString suggested_file(const QString& recording_path, const QString& figure,
                                     const QString& ending);

class ExportDialog : public QDialog {
  Q_OBJECT

 public:
  /// `what` is not empty. Suggested file names begin with the name of `recording_path`.
  explicit ExportDialog(std::vector<Exportable> what, const QString& recording_path = {},
                        QWidget* parent = nullptr);

  [[nodiscard]] FigureOptions options() const;
  /// The chosen path, with an ending.
  [[nodiscard]] QString file() const;
  /// Writes the chosen figure or table in the format that the path's ending names. The dialogue shows an
  /// error, too.
  Result<void> write(const QString& path);

 signals:
  /// The dialogue has written the file.
  void written(const QString& path);

 private:
  void lay_out();
  void choose_what();
  void suggest_file();
  void browse();
  /// Asks before a file is replaced.
  void export_file();
  void show_preview();
  /// Puts a table's text on the clipboard.
  void copy_text();
  /// Text of the chosen table in the chosen format; empty for a picture.
  [[nodiscard]] QString table_text() const;
  [[nodiscard]] const Exportable& chosen() const;

  std::vector<Exportable> what_;
  QString recording_path_;
  QString to_replace_;  ///< A file for which the Browse dialogue has confirmed that it may be replaced.
  QComboBox* which_ = new QComboBox;
  QComboBox* format_ = new QComboBox;
  QComboBox* width_kind_ = new QComboBox;
  QDoubleSpinBox* width_ = new QDoubleSpinBox;
  QDoubleSpinBox* font_ = new QDoubleSpinBox;
  QCheckBox* legend_ = new QCheckBox(tr("&legend"));
  QLineEdit* file_ = new QLineEdit;
  QLabel* preview_ = new QLabel;
  QLabel* problem_ = new QLabel;
  QPushButton* copy_ = new QPushButton(tr("Co&py"));
};

/// Asks in a window whose file path is the recording's, and reports in its status bar what was written.
void ask_and_export(std::vector<Exportable> what, QWidget& parent);

}  // namespace draftscope::gui

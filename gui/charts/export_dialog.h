// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Asks for the form of a figure or a table for a paper and for its file, shows the figure as it will be, and
// writes it.

#include <QDialog>
#include <vector>

#include "charts/figure_file.h"

class QAbstractItemModel;
class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QSpinBox;

namespace draftscope::gui {

/// A chart, or a table alone.
struct Exportable {
  QString name;
  Chart chart;            ///< empty: only the table is there
  ChartTable data;        ///< raw, for CSV
  ChartTable shown_data;  ///< as it is read, for LaTeX and Markdown
};
[[nodiscard]] Exportable exportable(const Chart& chart);
[[nodiscard]] Exportable exportable(const QString& name, const QAbstractItemModel& model);
/// Charts and tables with rows that can be seen in the widget, charts first.
[[nodiscard]] std::vector<Exportable> exportables(const QWidget& widget);

/// A name for a file beside the recording, or in the current folder where that can't be written to: the
/// recording's name and the figure's, with a number if there is such a file.
[[nodiscard]] QString suggested_file(const QString& recording_path, const QString& figure,
                                     const QString& ending);

class ExportDialog : public QDialog {
  Q_OBJECT

 public:
  /// At least one. `recording_path` is what file names are suggested after.
  explicit ExportDialog(std::vector<Exportable> what, const QString& recording_path = {},
                        QWidget* parent = nullptr);

  [[nodiscard]] FigureOptions options() const;
  /// The chosen path, with an ending.
  [[nodiscard]] QString file() const;
  /// Writes what is chosen, in the form that the path's ending names. What went wrong stands in the dialogue,
  /// too.
  Result<void> write(const QString& path);

 signals:
  /// The dialogue is through: there is such a file.
  void written(const QString& path);

 private:
  void lay_out();
  void choose_what();
  void suggest_file();
  void browse();
  /// Asks first where a file would be replaced.
  void export_file();
  void show_preview();
  [[nodiscard]] const Exportable& chosen() const;

  std::vector<Exportable> what_;
  QString recording_path_;
  QString to_replace_;  ///< a file of which Browse has asked whether it may be replaced
  QComboBox* which_;
  QComboBox* format_;
  QComboBox* width_kind_;
  QDoubleSpinBox* width_;
  QDoubleSpinBox* height_;
  QDoubleSpinBox* font_;
  QSpinBox* dots_;
  QCheckBox* legend_;
  QCheckBox* light_;
  QLineEdit* file_;
  QLabel* preview_;
  QLabel* problem_;
};

/// Asks within a window whose file path is the recording's, and says in its status bar what was written.
void ask_and_export(std::vector<Exportable> what, QWidget& parent);

}  // namespace draftscope::gui

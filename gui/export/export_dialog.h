// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Asks for the form of a figure or a table for a paper, shows the figure as it will be, and writes it.

#include <QDialog>
#include <vector>

#include "export/figure_file.h"

class QAbstractItemModel;
class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
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

class ExportDialog : public QDialog {
  Q_OBJECT

 public:
  /// At least one.
  explicit ExportDialog(std::vector<Exportable> what, QWidget* parent = nullptr);

  [[nodiscard]] FigureOptions options() const;
  /// Writes what is chosen, in the form that the path's ending names. What went wrong stands in the dialogue,
  /// too.
  Result<void> write(const QString& path);

 private:
  void lay_out();
  void choose_what();
  void choose_file();
  void show_preview();
  [[nodiscard]] const Exportable& chosen() const;

  std::vector<Exportable> what_;
  QComboBox* which_;
  QComboBox* format_;
  QComboBox* width_kind_;
  QDoubleSpinBox* width_;
  QDoubleSpinBox* height_;
  QDoubleSpinBox* font_;
  QSpinBox* dots_;
  QCheckBox* legend_;
  QCheckBox* light_;
  QLabel* preview_;
  QLabel* problem_;
};

void ask_and_export(std::vector<Exportable> what, QWidget& parent);

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Editor of one parameter of a strategy, made from its row in the catalogue: a box of choices, or a line that
// shows the default while it is empty. Integers step with the arrow keys; files and folders have a button to
// browse.

#include <draftscope/speculation/catalogue/strategy_catalogue.h>
#include <QString>
#include <QWidget>
#include <cstdint>

class QComboBox;
class QLineEdit;

namespace draftscope::gui {

class ParameterEdit : public QWidget {
  Q_OBJECT

 public:
  explicit ParameterEdit(speculation::ParameterRow row, QWidget* parent = nullptr);

  [[nodiscard]] const speculation::ParameterRow& row() const { return row_; }
  /// Shows a value without a signal; empty shows the default. `n_layers` is the model's, 0 = unknown.
  void set_value(const QString& value, std::int32_t n_layers);
  /// Value as entered; empty = the default.
  [[nodiscard]] QString value() const;

 signals:
  void edited();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void make_choice();
  void make_line();
  void browse();
  void step(int by);

  speculation::ParameterRow row_;
  std::int32_t n_layers_ = 0;
  QComboBox* choice_ = nullptr;  ///< Null if the editor is a line.
  QLineEdit* line_ = nullptr;
};

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A picture with its numbers below, which can be hidden, and the same as a chart for files.

#include <QWidget>

#include "charts/chart.h"
#include "what_if/questions/numbers_model.h"

class QTableView;

namespace draftscope::gui {

class ExportButton;
class WhatIfPicture;

class PicturePane : public QWidget {
  Q_OBJECT

 public:
  /// Takes ownership of the picture.
  PicturePane(WhatIfPicture* picture, const QString& name, QWidget* parent = nullptr);

  /// The chart's table has the numbers.
  void set_chart(Chart chart);
  void show_numbers(bool shown);
  /// Shows a message in place of picture and numbers.
  void set_message(const QString& words);
  [[nodiscard]] const NumbersModel& numbers() const { return numbers_; }
  [[nodiscard]] const WhatIfPicture& picture() const { return *picture_; }

 private:
  WhatIfPicture* picture_;
  Chart chart_;
  ExportButton* export_;
  NumbersModel numbers_;
  QTableView* table_;
};

}  // namespace draftscope::gui

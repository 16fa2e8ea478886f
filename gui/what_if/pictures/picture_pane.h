// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A chart between a title and notes, or a message in their place.

#include <QLabel>
#include <QWidget>

#include "charts/chart_pane.h"

namespace draftscope::gui {

class ChartPlot;

/// Words on what belongs to an older question, while the new one is being answered.
[[nodiscard]] QString words_of_older_question();

class PicturePane : public QWidget {
  Q_OBJECT

 public:
  explicit PicturePane(const QString& name, QWidget* parent = nullptr);

  void set_picture(const QString& title, Chart chart, const QString& notes);
  /// Shows words in place of the picture.
  void set_message(const QString& words);
  [[nodiscard]] const QString& message() const { return message_; }
  /// Marks the picture as one of an older question.
  void set_stale(bool is_stale);
  [[nodiscard]] bool is_stale() const { return is_stale_; }
  [[nodiscard]] ChartPlot& plot() const { return chart_->plot(); }

 private:
  void show_chart(const QString& title, Chart chart, const QString& notes);

  QLabel* title_ = new QLabel;
  ChartPane* chart_;
  QLabel* notes_ = new QLabel;
  QLabel* age_ = new QLabel;
  QString message_;
  bool is_stale_ = false;
};

}  // namespace draftscope::gui

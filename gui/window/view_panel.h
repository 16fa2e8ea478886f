// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A view with its title above it, where it shares a page. A double click on the title, or the button at its
// end, maximises the view; the button before that opens the manual's section about it.

#include <QWidget>

class QLabel;
class QToolButton;

namespace draftscope::gui {

class ViewPanel : public QWidget {
  Q_OBJECT

 public:
  /// Takes ownership of the view. Without a title there is no bar.
  ViewPanel(const QString& title, QWidget* view, QWidget* parent = nullptr);

  [[nodiscard]] QWidget& view() const { return *view_; }
  /// Height of the bar with the title.
  [[nodiscard]] int bar_height() const;
  /// Updates the button, whose text says what a click would do.
  void show_maximised(bool is_maximised);

 signals:
  void maximise_requested();
  void help_requested();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void draw_sign();

  QWidget* view_;
  QWidget* bar_ = nullptr;  ///< null without a title
  QToolButton* button_ = nullptr;
  QString title_;
  bool is_maximised_ = false;
};

}  // namespace draftscope::gui

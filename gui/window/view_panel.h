// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A view with its title above it, where it shares a page with others. A double click on the title, or the
// button at its end, asks for all of the page; the one before it, for what the manual says of the view.

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
  /// Says on the button what it would do.
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

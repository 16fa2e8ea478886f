// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Notices above the views: errors, and warnings about the shown recording. A notice stays until it is
// dismissed or no longer true.

#include <QCheckBox>
#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QStringList>

namespace draftscope::gui {

class NoticeBar : public QFrame {
  Q_OBJECT

 public:
  explicit NoticeBar(QWidget* parent = nullptr);

  /// Adds one line about an error, below the existing lines.
  void add_error(const QString& words);
  void clear_errors();

  /// Button beside the notice that reads the recording again, once or as it grows.
  enum class Offer : std::uint8_t { nothing, reload };
  /// Sets the notice about the shown recording; empty removes it.
  void set_notice(const QString& words, Offer offer = Offer::nothing);
  /// Sets the switch that follows the recording, without a signal.
  void set_following(bool is_on) { follow_->setChecked(is_on); }

 signals:
  void reload_requested();
  void follow_toggled(bool is_on);

 private:
  void show_text();
  void dismiss();

  QStringList errors_;
  QString notice_;
  Offer offer_ = Offer::nothing;
  QLabel* words_ = new QLabel;
  QCheckBox* follow_ = new QCheckBox(tr("Follo&w"));
  QPushButton* reload_ = new QPushButton(tr("Re&load"));
};

}  // namespace draftscope::gui

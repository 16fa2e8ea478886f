// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The texts of a race side by side, each as far as its run has come, in the colours of the text replay.

#include <QStringList>
#include <QWidget>
#include <vector>

#include "data/replay/replayed_text.h"
#include "data/run_comparison/race.h"

class QHBoxLayout;
class QTextEdit;

namespace draftscope::gui {

class RaceTexts : public QWidget {
  Q_OBJECT

 public:
  explicit RaceTexts(QWidget* parent = nullptr);

  /// One a run, with its name.
  void set_texts(std::vector<ReplayedText> texts, const QStringList& names);
  /// One place a text.
  void show_places(const std::vector<RacePlace>& places);
  /// Text that can be seen of a run.
  [[nodiscard]] QString seen(std::size_t run) const;

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void write();
  void cover(std::size_t run);

  struct Column {
    QWidget* whole = nullptr;
    QTextEdit* text = nullptr;
    std::vector<int> ends;  ///< [token] place in the document behind it
    std::size_t token = 0;  ///< the last that is there
  };
  std::vector<ReplayedText> texts_;
  QStringList names_;
  std::vector<Column> columns_;
  QHBoxLayout* row_;
};

}  // namespace draftscope::gui

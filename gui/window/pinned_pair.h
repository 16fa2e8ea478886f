// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A view of the shown run. While another run is pinned, its view stands below or beside it, with the run's
// name, a choice of another run and a button that unpins it.

#include <QWidget>
#include <functional>

#include "state/pinned_run.h"

class QComboBox;
class QSplitter;

namespace draftscope::gui {

class PinnedPair : public QWidget {
  Q_OBJECT

 public:
  /// Takes ownership of the view. `make` makes the pinned run's view, with a state of its own, when a run is
  /// first pinned.
  PinnedPair(PinnedRun& pinned, Qt::Orientation orientation, QWidget* view,
             std::function<QWidget*(ViewState&)> make, QWidget* parent = nullptr);

  /// View of the pinned run; null while no run is pinned.
  [[nodiscard]] QWidget* pinned_view() const { return pinned_.is_pinned() ? other_view_ : nullptr; }

 private:
  void follow();
  void make_other();

  PinnedRun& pinned_;
  QWidget* view_;
  std::function<QWidget*(ViewState&)> make_;
  QSplitter* split_;
  QWidget* other_ = nullptr;  ///< Second view with its bar.
  QWidget* other_view_ = nullptr;
  QComboBox* runs_ = nullptr;
};

}  // namespace draftscope::gui

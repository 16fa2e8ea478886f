// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A second run of the shown recording, held fast beside whatever run is shown: a view state of its own whose
// range and cursor are at the same prompts, repeats and tokens, each following the other. It stays while
// pages and runs change, and goes with the recording.
//
// On the main thread only.

#include "state/view_state.h"

namespace draftscope::gui {

class PinnedRun : public QObject {
  Q_OBJECT

 public:
  /// `shown` must outlive this.
  explicit PinnedRun(ViewState& shown, QObject* parent = nullptr);

  [[nodiscard]] bool is_pinned() const { return pinned_.recording() != nullptr; }
  /// State for views of the pinned run; without a recording while none is pinned.
  [[nodiscard]] ViewState& state() { return pinned_; }
  /// Index into OpenedRecording::runs(). Nothing without a recording that has its rows, or such a run.
  void pin(std::size_t run_index);
  void unpin();

 signals:
  /// A run is pinned, another one, or none any more.
  void changed();

 private:
  void take_recording();
  void follow_range(ViewState& from, ViewState& to);
  void follow_cursor(ViewState& from, ViewState& to);

  ViewState& shown_;
  ViewState pinned_;
  bool is_following_ = false;  ///< one of the two just moves the other
};

}  // namespace draftscope::gui

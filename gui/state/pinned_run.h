// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A second run of the shown recording, pinned beside whatever run is shown. It has a separate view state;
// range and cursor of both states follow each other, by prompt, repeat and token. It stays while pages and
// runs change, and is closed with the recording.
//
// Used on the main thread only.

#include "state/view_state.h"

namespace draftscope::gui {

class PinnedRun : public QObject {
  Q_OBJECT

 public:
  /// `shown` must outlive this.
  explicit PinnedRun(ViewState& shown, QObject* parent = nullptr);

  [[nodiscard]] bool is_pinned() const { return pinned_.recording() != nullptr; }
  /// State for views of the pinned run; it has no recording while no run is pinned.
  [[nodiscard]] ViewState& state() { return pinned_; }
  /// Pins a run, by index into OpenedRecording::runs(). Does nothing without this run, or without a recording
  /// with its rows.
  void pin(std::size_t run_index);
  void unpin();

 signals:
  /// A run was pinned, replaced or unpinned.
  void changed();

 private:
  void take_recording();
  void follow_range(ViewState& from, ViewState& to);
  void follow_cursor(ViewState& from, ViewState& to);

  ViewState& shown_;
  ViewState pinned_;
  bool is_following_ = false;  ///< Whether one state is just moving the other.
};

}  // namespace draftscope::gui

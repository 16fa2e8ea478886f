// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One request of all compared runs, aligned by output token: the race (when each token was there), where each
// run gains or loses along the text, the texts as they come, and how the rounds' times are spread.

#include <QWidget>

#include "data/run_comparison/run_comparison.h"
#include "state/view_state.h"

class QComboBox;

namespace draftscope::gui {

class ChartPane;
class RacePlayer;
class RaceTexts;

class RaceView : public QWidget {
  Q_OBJECT

 public:
  explicit RaceView(ViewState& state, QWidget* parent = nullptr);

  /// `comparison` must stay until the next is set. `spreads` has one a run.
  void set_comparison(const RunsComparison& comparison, std::size_t baseline,
                      const std::vector<RoundTimeSpread>& spreads);

 private:
  void lay_out();
  void list_requests();
  void show_request();
  /// The one that is aligned; null if the runs share none.
  [[nodiscard]] const AlignedRequest* aligned_request() const;
  void mark_race();
  void mark_cursor();

  ViewState& state_;
  const RunsComparison* comparison_ = nullptr;
  std::size_t baseline_ = 0;
  QComboBox* requests_;
  RacePlayer* player_;
  ChartPane* race_;
  ChartPane* spread_;
  RaceTexts* texts_;
};

}  // namespace draftscope::gui

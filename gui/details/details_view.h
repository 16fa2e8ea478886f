// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Details of the selection in the timeline: the slice, the round, and the range of time by name and as a
// flame graph. Without a selection they are about the cursor's round and the visible time. A worker computes
// them once the page is visible.

#include <QComboBox>
#include <QLabel>
#include <QStackedWidget>
#include <QTableView>
#include <QTextBrowser>
#include <QWidget>
#include <optional>

#include "data/details/range_profile.h"
#include "data/details/round_details.h"
#include "data/details/slice_details.h"
#include "details/flame_graph.h"
#include "details/names_model.h"
#include "state/view_state.h"
#include "widgets/background_job.h"

class QUrl;

namespace draftscope::gui {

class TimelineView;

class DetailsView : public QWidget {
  Q_OBJECT

 public:
  enum class Page : std::uint8_t { slice, round, names, flame_graph };

  /// Both must outlive the view.
  DetailsView(ViewState& state, TimelineView& timeline, QWidget* parent = nullptr);

  [[nodiscard]] Page page() const { return static_cast<Page>(choice_->currentIndex()); }
  void show_page(Page page) { choice_->setCurrentIndex(static_cast<int>(page)); }
  /// The text of the page; empty on pages without text.
  [[nodiscard]] QString words() const { return is_about_range() ? QString() : words_->toPlainText(); }
  /// The profile that the range pages show; null while it is computed.
  [[nodiscard]] const RangeProfile* profile() const { return profile_ ? &*profile_ : nullptr; }
  [[nodiscard]] FlameGraph& flame_graph() { return *flame_graph_; }

 signals:
  void close_requested();
  /// Something was selected in the timeline.
  void asked_for();
  void round_asked(std::uint32_t round_index);
  void run_asked(std::size_t run_index);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] QWidget* make_head();
  [[nodiscard]] QWidget* make_table();
  void connect_state();
  /// Marks the page and its content as out of date.
  void forget();
  void start();
  void start_slice();
  void start_round();
  void start_profile();
  void show_slice(const std::optional<SliceDetails>& details);
  void show_round(const std::optional<RoundDetails>& details);
  void show_profile(std::optional<RangeProfile> profile);
  [[nodiscard]] bool is_about_range() const { return page() >= Page::names; }
  /// The selected slice, or the cursor's round.
  [[nodiscard]] std::optional<SlicePlace> slice() const;
  /// The selected range, or the visible time.
  [[nodiscard]] TimeRange range() const { return state_.selection().value_or(state_.range()); }
  [[nodiscard]] QString range_words(std::int64_t duration_ns) const;
  void follow_link(const QUrl& url);

  ViewState& state_;
  TimelineView& timeline_;
  QComboBox* choice_ = new QComboBox;
  QLabel* title_ = new QLabel;
  QStackedWidget* pages_ = new QStackedWidget;
  QTextBrowser* words_ = new QTextBrowser;
  NamesModel names_;
  QTableView* table_ = new QTableView;
  QLabel* meaning_;  ///< Line below the table that says what its columns count.
  FlameGraph* flame_graph_ = new FlameGraph;
  std::optional<RangeProfile> profile_;
  bool is_stale_ = true;
  BackgroundJob job_;
};

}  // namespace draftscope::gui

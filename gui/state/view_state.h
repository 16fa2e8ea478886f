// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// State that all views share: the recording, the run, the visible range of time, the selected range, and the
// cursor on a round and a token. One object owns it. Views request changes here and follow its signals, never
// each other. Changes of the range can be undone and redone.
//
// Used on the main thread only.

#include <QObject>
#include <QUndoStack>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "data/lanes/timeline.h"
#include "data/opened_recording.h"

namespace draftscope::gui {

struct Cursor {
  std::uint32_t round_index = no_index;  ///< Index into Recording::rounds.
  std::size_t request_index = 0;         ///< Index into Recording::requests.
  std::size_t token_index = 0;           ///< Token of the request's output.

  friend bool operator==(const Cursor&, const Cursor&) = default;
};

class ViewState : public QObject {
  Q_OBJECT

 public:
  explicit ViewState(QObject* parent = nullptr);

  using TimelinePointer = std::shared_ptr<const Timeline>;

  /// Adds an open recording and shows it. It replaces an older one with the same path; if that was shown,
  /// run, range and cursor stay as far as the new one has them.
  void add(const RecordingPointer& recording, const TimelinePointer& timeline);
  /// Adds an open recording without showing it.
  void keep(const RecordingPointer& recording, const TimelinePointer& timeline);
  [[nodiscard]] const std::vector<RecordingPointer>& opened() const { return opened_; }
  /// Closes recordings. If the shown one is closed, the next one that stays open is shown instead, else the
  /// one before it, else none. A worker frees their memory once no other worker uses it.
  void close(const std::vector<RecordingPointer>& recordings);
  /// Shows another open recording: at its last view, or from its beginning, whole. Null shows none.
  void show(const RecordingPointer& recording);
  /// Shows a recording of which only the overview has been read. add() later replaces it by the whole
  /// recording, and zoom and choices stay.
  void preview(const RecordingPointer& recording, const TimelinePointer& timeline);

  [[nodiscard]] const RecordingPointer& recording() const { return recording_; }
  [[nodiscard]] const TimelinePointer& timeline() const { return timeline_; }

  /// The recording with only the rounds that the filter leaves, for views of rounds; recording() itself
  /// without a filter.
  [[nodiscard]] const RecordingPointer& filtered() const { return filtered_ ? filtered_ : recording_; }
  [[nodiscard]] bool is_filtered() const { return filtered_ != nullptr; }
  /// `filtered` is made from recording() by OpenedRecording::filtered(); null removes the filter. Showing
  /// another recording removes it, too.
  void set_filtered(RecordingPointer filtered);

  /// Index into OpenedRecording::runs(); views of rounds show this run.
  [[nodiscard]] std::size_t run() const { return run_; }
  [[nodiscard]] const RunRounds* run_rounds() const;
  /// The run with only the rounds that the filter leaves.
  [[nodiscard]] const RunRounds* shown_rounds() const;
  /// Moves the cursor to the same token of the same prompt and repeat in the run, or to the run's first
  /// round. The cursor stays visible.
  void set_run(std::size_t run_index);

  [[nodiscard]] TimeRange range() const { return range_; }
  /// Rounds of a run, by their places in it, that overlap the range: the first, and one after the last.
  [[nodiscard]] std::pair<std::size_t, std::size_t> places_in_range(
      const std::vector<std::uint32_t>& rounds) const;
  /// Sets the range, cut to the recording and at least 100 ns long. Successive changes become one undo step
  /// until end_range_change().
  void set_range(TimeRange range);
  void end_range_change() { ++change_; }
  void show_whole();
  [[nodiscard]] QUndoStack& range_history() { return history_; }

  [[nodiscard]] const std::optional<TimeRange>& selection() const { return selection_; }
  void set_selection(std::optional<TimeRange> selection);

  [[nodiscard]] const Cursor& cursor() const { return cursor_; }
  void set_cursor(Cursor cursor);
  /// Moves the cursor to the first token that a round emitted, and shows its run. The round stays visible.
  void go_to_round(std::uint32_t round_index);
  /// Moves the cursor like go_to_round(), but leaves the range as it is.
  void put_cursor_on_round(std::uint32_t round_index);
  /// Moves the range to a time, and leaves its length as it is: to the time's middle, or to its begin if it
  /// is longer.
  void move_to(TimeRange time);
  /// Moves the cursor to a token of a request's output, and to its round.
  void go_to_token(std::size_t request_index, std::size_t token_index);
  /// The cursor on the first token that the round emitted.
  [[nodiscard]] Cursor cursor_on(std::uint32_t round_index) const;
  /// The cursor at the same token of the same prompt and repeat in a run, or else on the run's first round.
  [[nodiscard]] Cursor cursor_in_run(const Cursor& from, std::size_t run_index) const;

 signals:
  void opened_changed();
  void recording_changed();
  void timeline_changed();
  void run_changed();
  void filter_changed();
  void range_changed();
  void selection_changed();
  void cursor_changed();

 private:
  friend class RangeChange;
  void apply_range(TimeRange range);
  [[nodiscard]] TimeRange cut(TimeRange range) const;
  void show(const RecordingPointer& recording, const TimelinePointer& timeline);
  /// Replaces the shown recording by its rows after the overview, or by its newer version.
  void complete(const RecordingPointer& recording, const TimelinePointer& timeline);
  /// The cursor on a token of a request's output. Its round is none if no round of the request emitted the
  /// token.
  [[nodiscard]] Cursor cursor_on_token(std::size_t request_index, std::size_t token_index) const;
  [[nodiscard]] TimeRange time_of(std::uint32_t round_index) const;
  /// Switches run and cursor together, so that nobody sees one without the other.
  void switch_to(std::size_t run_index, const Cursor& cursor);
  /// Puts the cursor on the shown run's round with this id, or on its first.
  void put_cursor_on(traces::RoundId round_id);
  /// Changes the range so that it contains a time, unless one of the two contains the other.
  void reveal(TimeRange time);

  /// Run, times and cursor of a recording at the time when another one was shown.
  struct LeftView {
    std::size_t run = 0;
    TimeRange range;
    std::optional<TimeRange> selection;
    Cursor cursor;
  };

  std::vector<RecordingPointer> opened_;
  std::map<const OpenedRecording*, LeftView> left_;              ///< For open recordings only.
  std::map<const OpenedRecording*, TimelinePointer> timelines_;  ///< For open recordings only.
  RecordingPointer recording_;
  RecordingPointer filtered_;  ///< null = no filter
  TimelinePointer timeline_;
  std::size_t run_ = 0;
  TimeRange range_;
  std::optional<TimeRange> selection_;
  Cursor cursor_;
  QUndoStack history_;
  int change_ = 0;  // Number of the current undo step.
};

}  // namespace draftscope::gui

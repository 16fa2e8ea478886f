// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// State that all views show together: the recording, the run, the visible range of time, the selected range,
// and the cursor on a round and a token. One object owns them; views ask for changes here and obey its
// signals, never each other. Changes of the range can be undone and redone.
//
// On the main thread only.

#include <QObject>
#include <QUndoStack>
#include <map>
#include <optional>

#include "data/lanes/timeline.h"
#include "data/opened_recording.h"

namespace draftscope::gui {

struct Cursor {
  std::uint32_t round_index = no_index;  ///< index into Recording::rounds
  std::size_t request_index = 0;         ///< index into Recording::requests
  std::size_t token_index = 0;           ///< Token of the request's output.

  friend bool operator==(const Cursor& a, const Cursor& b) {
    return a.round_index == b.round_index && a.request_index == b.request_index &&
           a.token_index == b.token_index;
  }
};

class ViewState : public QObject {
  Q_OBJECT

 public:
  explicit ViewState(QObject* parent = nullptr);

  using TimelinePointer = std::shared_ptr<const Timeline>;

  /// Keeps a recording open and shows it; one of the same path takes the older's place, and if that was
  /// shown, run, range and cursor stay as far as they are in the new one, too.
  void add(const RecordingPointer& recording, const TimelinePointer& timeline);
  /// Keeps it open beside the one that is shown.
  void keep(const RecordingPointer& recording, const TimelinePointer& timeline);
  [[nodiscard]] const std::vector<RecordingPointer>& opened() const { return opened_; }
  /// Lets go of recordings. If one of them is shown, the next that stays open is shown instead, else the one
  /// before it, else none. Their memory is given back by a worker once no other worker uses it.
  void close(const std::vector<RecordingPointer>& recordings);
  /// Shows another recording of those opened: where it was left, or from its beginning, whole. Null shows
  /// none.
  void show(const RecordingPointer& recording);
  /// Shows a recording of which only the overview has been read. The whole of it that add() brings takes its
  /// place, and what was zoomed to and chosen stays.
  void preview(const RecordingPointer& recording, const TimelinePointer& timeline);

  [[nodiscard]] const RecordingPointer& recording() const { return recording_; }
  [[nodiscard]] const TimelinePointer& timeline() const { return timeline_; }

  /// The recording with those of its rounds that the filter leaves, which views of rounds show; recording()
  /// itself without a filter.
  [[nodiscard]] const RecordingPointer& filtered() const { return filtered_ ? filtered_ : recording_; }
  [[nodiscard]] bool is_filtered() const { return filtered_ != nullptr; }
  /// Made of recording() by OpenedRecording::filtered(); null takes the filter away. Another recording has
  /// none.
  void set_filtered(RecordingPointer filtered);

  /// Index into OpenedRecording::runs(); views of rounds show this run's.
  [[nodiscard]] std::size_t run() const { return run_; }
  [[nodiscard]] const RunRounds* run_rounds() const;
  /// The run with those of its rounds that the filter leaves.
  [[nodiscard]] const RunRounds* shown_rounds() const;
  /// The cursor goes to the same token of the same prompt and repeat there, or to the run's first round; it
  /// stays visible.
  void set_run(std::size_t run_index);

  [[nodiscard]] TimeRange range() const { return range_; }
  /// Cut to the recording, and at least 100 ns long. Successive changes become one step of undo until
  /// end_range_change().
  void set_range(TimeRange range);
  void end_range_change();
  void show_whole();
  [[nodiscard]] QUndoStack& range_history() { return history_; }

  [[nodiscard]] const std::optional<TimeRange>& selection() const { return selection_; }
  void set_selection(std::optional<TimeRange> selection);

  [[nodiscard]] const Cursor& cursor() const { return cursor_; }
  void set_cursor(Cursor cursor);
  /// To a round, on the first token that it emitted, and to its run; keeps the round visible.
  void go_to_round(std::uint32_t round_index);
  /// To a token of a request's output, and the round that brought it.
  void go_to_token(std::size_t request_index, std::size_t token_index);
  /// On the first token that the round emitted.
  [[nodiscard]] Cursor cursor_on(std::uint32_t round_index) const;
  /// The cursor at the same token of the same prompt and repeat in a run, or else on its first round.
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
  /// Goes from the overview to the rows of the recording that is shown, or to what it has become since.
  void complete(const RecordingPointer& recording, const TimelinePointer& timeline);
  /// On a token of a request's output; its round is none if no round of the request brought it.
  [[nodiscard]] Cursor cursor_on_token(std::size_t request_index, std::size_t token_index) const;
  [[nodiscard]] TimeRange time_of(std::uint32_t round_index) const;
  /// Both at once, so that nobody sees one without the other.
  void switch_to(std::size_t run_index, const Cursor& cursor);
  /// On a round of the shown run by its id, or its first.
  void put_cursor_on(traces::RoundId round_id);
  void reveal(TimeRange time);

  /// Run, times and cursor of a recording that were seen when another was shown.
  struct LeftView {
    std::size_t run = 0;
    TimeRange range;
    std::optional<TimeRange> selection;
    Cursor cursor;
  };

  std::vector<RecordingPointer> opened_;
  std::map<const OpenedRecording*, LeftView> left_;              ///< By recordings that are open.
  std::map<const OpenedRecording*, TimelinePointer> timelines_;  ///< By recordings that are open.
  RecordingPointer recording_;
  RecordingPointer filtered_;  ///< null without a filter
  TimelinePointer timeline_;
  std::size_t run_ = 0;
  TimeRange range_;
  std::optional<TimeRange> selection_;
  Cursor cursor_;
  QUndoStack history_;
  int change_ = 0;  // numbers what becomes one step of undo
};

}  // namespace draftscope::gui

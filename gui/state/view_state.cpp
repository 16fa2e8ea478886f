// SPDX-License-Identifier: GPL-3.0-or-later
#include "view_state.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <QThreadPool>
#include <QUndoCommand>
#include <algorithm>
#include <utility>

#include "data/details/run_comparison.h"

namespace draftscope::gui {

namespace {

constexpr std::int64_t shortest_range_ns = 100;
constexpr int deepest_history = 200;

/// Freeing hundreds of megabytes takes longer than a frame.
template <typename... Pointers>
void release_on_worker(Pointers... pointers) {
  QThreadPool::globalInstance()->start([... held = std::move(pointers)]() mutable {
    ((held = {}), ...);
#ifdef __GLIBC__
    // Small blocks lie between others: without this the process retains a third of the freed memory.
    ::malloc_trim(0);
#endif
  });
}

}  // namespace

/// One undo step. Changes with the same number merge.
class RangeChange : public QUndoCommand {
 public:
  RangeChange(ViewState& state, TimeRange from, TimeRange to, int number)
      : QUndoCommand(ViewState::tr("zoom")), state_(state), from_(from), to_(to), number_(number) {}

  void undo() override { state_.apply_range(from_); }
  void redo() override { state_.apply_range(to_); }
  [[nodiscard]] int id() const override { return number_; }
  bool mergeWith(const QUndoCommand* other) override {
    to_ = static_cast<const RangeChange*>(other)->to_;
    return true;
  }

 private:
  ViewState& state_;
  TimeRange from_;
  TimeRange to_;
  int number_;
};

ViewState::ViewState(QObject* parent) : QObject(parent) {
  history_.setUndoLimit(deepest_history);
}

void ViewState::keep(const RecordingPointer& recording, const TimelinePointer& timeline) {
  const std::filesystem::path& path = recording->recording().path;
  const auto older = std::find_if(opened_.begin(), opened_.end(), [&](const RecordingPointer& other) {
    return other->recording().path == path;
  });
  if (older == opened_.end()) {
    opened_.push_back(recording);
  } else {
    release_on_worker(*older, std::move(timelines_[older->get()]));
    timelines_.erase(older->get());
    left_.erase(older->get());
    *older = recording;
  }
  timelines_[recording.get()] = timeline;
  emit opened_changed();
}

void ViewState::add(const RecordingPointer& recording, const TimelinePointer& timeline) {
  const RecordingPointer before = recording_;
  keep(recording, timeline);
  if (before && before->recording().path == recording->recording().path)
    complete(recording, timeline);
  else
    show(recording, timeline);
  // Views have released it by now.
  release_on_worker(before);
}

void ViewState::close(const std::vector<RecordingPointer>& recordings) {
  const auto stays = [&](const RecordingPointer& recording) {
    return std::find(recordings.begin(), recordings.end(), recording) == recordings.end();
  };
  RecordingPointer next = recording_;
  if (next && !stays(next)) {
    const auto at = std::find(opened_.begin(), opened_.end(), next);
    const auto behind = std::find_if(at, opened_.end(), stays);
    const auto before = std::find_if(std::make_reverse_iterator(at), opened_.rend(), stays);
    next = behind != opened_.end() ? *behind : before != opened_.rend() ? *before : nullptr;
  }
  std::vector<TimelinePointer> timelines{timeline_};
  for (const RecordingPointer& recording : recordings)
    if (const auto found = timelines_.extract(recording.get())) timelines.push_back(found.mapped());
  for (const RecordingPointer& recording : recordings) left_.erase(recording.get());
  std::erase_if(opened_, [&](const RecordingPointer& recording) { return !stays(recording); });
  show(next);
  emit opened_changed();
  release_on_worker(recordings, std::move(timelines));
}

void ViewState::preview(const RecordingPointer& recording, const TimelinePointer& timeline) {
  show(recording, timeline);
}

void ViewState::show(const RecordingPointer& recording) {
  const auto timeline = timelines_.find(recording.get());
  show(recording, timeline == timelines_.end() ? nullptr : timeline->second);
}

void ViewState::show(const RecordingPointer& recording, const TimelinePointer& timeline) {
  if (recording == recording_) return;
  if (std::find(opened_.begin(), opened_.end(), recording_) != opened_.end())
    left_[recording_.get()] = {run_, range_, selection_, cursor_};
  recording_ = recording;
  filtered_.reset();
  timeline_ = timeline;
  run_ = 0;
  selection_.reset();
  cursor_ = {};
  range_ = recording_ ? recording_->whole() : TimeRange{};
  history_.clear();
  if (recording_) {
    // The fastest run that drafts says more than the baseline.
    run_ = run_to_open(*recording_);
    put_cursor_on(0);
  }
  if (const auto left = left_.extract(recording_.get())) {
    run_ = left.mapped().run;
    range_ = left.mapped().range;
    selection_ = left.mapped().selection;
    cursor_ = left.mapped().cursor;
  }
  emit recording_changed();
  emit timeline_changed();
  emit selection_changed();
}

void ViewState::complete(const RecordingPointer& recording, const TimelinePointer& timeline) {
  const TimeRange whole = recording_->whole();
  const traces::RoundId round_id =
      cursor_.round_index == no_index ? traces::RoundId() : recording_->round(cursor_.round_index).id;
  recording_ = recording;
  filtered_.reset();
  timeline_ = timeline;
  if (run_ >= recording_->runs().size()) run_ = 0;
  range_ = range_ == whole ? recording_->whole() : cut(range_);
  // Undo would lead to times of another version of the file.
  if (whole != recording_->whole()) history_.clear();
  put_cursor_on(round_id);
  emit recording_changed();
  emit timeline_changed();
  if (selection_) emit selection_changed();
}

void ViewState::put_cursor_on(traces::RoundId round_id) {
  cursor_ = {};
  const RunRounds* shown = run_rounds();
  if (shown == nullptr || shown->rounds.empty()) return;
  const auto found = std::find_if(shown->rounds.begin(), shown->rounds.end(), [&](std::uint32_t round_index) {
    return recording_->round(round_index).id == round_id;
  });
  cursor_ = cursor_on(found == shown->rounds.end() ? shown->rounds.front() : *found);
}

const RunRounds* ViewState::run_rounds() const {
  if (!recording_ || run_ >= recording_->runs().size()) return nullptr;
  return &recording_->runs()[run_];
}

const RunRounds* ViewState::shown_rounds() const {
  return run_rounds() == nullptr ? nullptr : &filtered()->runs()[run_];
}

std::pair<std::size_t, std::size_t> ViewState::places_in_range(
    const std::vector<std::uint32_t>& rounds) const {
  const auto first = std::partition_point(rounds.begin(), rounds.end(), [&](std::uint32_t round_index) {
    return recording_->round(round_index).end_ns <= range_.start_ns;
  });
  const auto last = std::partition_point(first, rounds.end(), [&](std::uint32_t round_index) {
    return recording_->round(round_index).start_ns < range_.end_ns;
  });
  return {static_cast<std::size_t>(first - rounds.begin()), static_cast<std::size_t>(last - rounds.begin())};
}

void ViewState::set_filtered(RecordingPointer filtered) {
  if (filtered == filtered_) return;
  const RecordingPointer before = std::exchange(filtered_, std::move(filtered));
  emit filter_changed();
  release_on_worker(before);
}

void ViewState::set_run(std::size_t run_index) {
  if (!recording_ || run_index >= recording_->runs().size() || run_index == run_) return;
  const Cursor there = cursor_in_run(cursor_, run_index);
  if (there.round_index != no_index) reveal(time_of(there.round_index));
  switch_to(run_index, there);
}

void ViewState::switch_to(std::size_t run_index, const Cursor& cursor) {
  const bool is_other_run = run_index != run_;
  const bool is_other_place = cursor != cursor_;
  run_ = run_index;
  cursor_ = cursor;
  if (is_other_run) emit run_changed();
  if (is_other_place) emit cursor_changed();
}

Cursor ViewState::cursor_in_run(const Cursor& from, std::size_t run_index) const {
  if (!recording_ || !recording_->has_rows()) return {};
  const RunRounds& run = recording_->runs()[run_index];
  const std::vector<traces::Request>& requests = recording_->recording().requests;
  if (from.request_index < requests.size()) {
    const traces::Request& here = requests[from.request_index];
    for (std::size_t other = 0; other < requests.size(); ++other) {
      const traces::Request& there = requests[other];
      if (there.run_id != run.run->id || there.prompt_id != here.prompt_id || there.repeat != here.repeat)
        continue;
      const std::size_t last = there.tokens.empty() ? 0 : there.tokens.size() - 1;
      const Cursor found = cursor_on_token(other, std::min(from.token_index, last));
      if (found.round_index != no_index) return found;
    }
  }
  return run.rounds.empty() ? Cursor{} : cursor_on(run.rounds.front());
}

TimeRange ViewState::time_of(std::uint32_t round_index) const {
  const traces::Round& row = recording_->round(round_index);
  return {row.start_ns, row.end_ns};
}

TimeRange ViewState::cut(TimeRange range) const {
  if (!recording_) return {};
  const TimeRange whole = recording_->whole();
  const std::int64_t longest = std::max(whole.duration_ns(), shortest_range_ns);
  const std::int64_t duration = std::clamp(range.duration_ns(), shortest_range_ns, longest);
  const std::int64_t latest = std::max(whole.start_ns, whole.end_ns - duration);
  const std::int64_t start = std::clamp(range.start_ns, whole.start_ns, latest);
  return {start, start + duration};
}

void ViewState::apply_range(TimeRange range) {
  range_ = range;
  emit range_changed();
}

void ViewState::set_range(TimeRange range) {
  range = cut(range);
  if (range == range_) return;
  history_.push(new RangeChange(*this, range_, range, change_));
}

void ViewState::show_whole() {
  if (!recording_) return;
  end_range_change();
  set_range(recording_->whole());
  end_range_change();
}

void ViewState::set_selection(std::optional<TimeRange> selection) {
  if (selection && selection->end_ns < selection->start_ns) std::swap(selection->start_ns, selection->end_ns);
  if (selection == selection_) return;
  selection_ = selection;
  emit selection_changed();
}

void ViewState::set_cursor(Cursor cursor) {
  if (cursor == cursor_) return;
  cursor_ = cursor;
  emit cursor_changed();
}

void ViewState::reveal(TimeRange time) {
  if (time.start_ns >= range_.start_ns && time.end_ns <= range_.end_ns) return;
  if (range_.start_ns >= time.start_ns && range_.end_ns <= time.end_ns) return;
  const std::int64_t duration = std::max(range_.duration_ns(), 2 * time.duration_ns());
  const std::int64_t middle = time.start_ns + time.duration_ns() / 2;
  end_range_change();
  set_range({middle - duration / 2, middle - duration / 2 + duration});
  end_range_change();
}

void ViewState::go_to_round(std::uint32_t round_index) {
  if (!recording_ || round_index >= recording_->recording().rounds.size()) return;
  reveal(time_of(round_index));
  put_cursor_on_round(round_index);
}

void ViewState::put_cursor_on_round(std::uint32_t round_index) {
  if (!recording_ || round_index >= recording_->recording().rounds.size()) return;
  switch_to(recording_->run_of(round_index), cursor_on(round_index));
}

void ViewState::move_to(TimeRange time) {
  const std::int64_t shown_ns = range_.duration_ns();
  const std::int64_t before_ns = std::max<std::int64_t>(0, (shown_ns - time.duration_ns()) / 2);
  end_range_change();
  set_range({time.start_ns - before_ns, time.start_ns - before_ns + shown_ns});
  end_range_change();
}

Cursor ViewState::cursor_on(std::uint32_t round_index) const {
  const traces::Round& row = recording_->round(round_index);
  const traces::Request& request = recording_->request_of(round_index);
  // The prefill's token stands before those of the rounds.
  std::size_t token_index = 1;
  for (std::uint32_t before = round_index; before-- > 0;) {
    const traces::Round& earlier = recording_->round(before);
    if (earlier.request_id != row.request_id) break;
    token_index += static_cast<std::size_t>(std::max(earlier.emitted, 0));
  }
  const auto request_index = static_cast<std::size_t>(&request - recording_->recording().requests.data());
  const std::size_t last = request.tokens.empty() ? 0 : request.tokens.size() - 1;
  return {
      .round_index = round_index, .request_index = request_index, .token_index = std::min(token_index, last)};
}

Cursor ViewState::cursor_on_token(std::size_t request_index, std::size_t token_index) const {
  const traces::Recording& rows = recording_->recording();
  const traces::RequestId request_id = rows.requests[request_index].id;
  const auto first =
      std::partition_point(rows.rounds.begin(), rows.rounds.end(),
                           [&](const traces::Round& row) { return row.request_id < request_id; });
  std::uint32_t round_index = no_index;
  std::size_t emitted = 1;
  for (auto row = first; row != rows.rounds.end() && row->request_id == request_id; ++row) {
    round_index = static_cast<std::uint32_t>(row - rows.rounds.begin());
    emitted += static_cast<std::size_t>(std::max(row->emitted, 0));
    if (emitted > token_index) break;
  }
  return {.round_index = round_index, .request_index = request_index, .token_index = token_index};
}

void ViewState::go_to_token(std::size_t request_index, std::size_t token_index) {
  if (!recording_ || request_index >= recording_->recording().requests.size()) return;
  const Cursor there = cursor_on_token(request_index, token_index);
  if (there.round_index == no_index) return set_cursor(there);
  reveal(time_of(there.round_index));
  switch_to(recording_->run_of(there.round_index), there);
}

}  // namespace draftscope::gui

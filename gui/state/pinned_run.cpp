// SPDX-License-Identifier: GPL-3.0-or-later
#include "pinned_run.h"

#include <algorithm>

namespace draftscope::gui {

PinnedRun::PinnedRun(ViewState& shown, QObject* parent) : QObject(parent), shown_(shown) {
  connect(&shown_, &ViewState::recording_changed, this, &PinnedRun::take_recording);
  connect(&shown_, &ViewState::filter_changed, this, [this] {
    if (is_pinned()) pinned_.set_filtered(shown_.is_filtered() ? shown_.filtered() : nullptr);
  });
  for (const auto& [from, to] : {std::pair(&shown_, &pinned_), std::pair(&pinned_, &shown_)}) {
    connect(from, &ViewState::range_changed, this,
            [this, from = from, to = to] { follow_range(*from, *to); });
    connect(from, &ViewState::cursor_changed, this,
            [this, from = from, to = to] { follow_cursor(*from, *to); });
  }
  // Another run has other rounds at the same tokens.
  connect(&shown_, &ViewState::run_changed, this, [this] { follow_range(shown_, pinned_); });
}

void PinnedRun::pin(std::size_t run_index) {
  const RecordingPointer& recording = shown_.recording();
  if (!recording || !recording->has_rows() || run_index >= recording->runs().size()) return;
  is_following_ = true;
  pinned_.show(recording);
  pinned_.set_filtered(shown_.is_filtered() ? shown_.filtered() : nullptr);
  pinned_.set_run(run_index);
  is_following_ = false;
  follow_range(shown_, pinned_);
  follow_cursor(shown_, pinned_);
  emit changed();
}

void PinnedRun::unpin() {
  if (!is_pinned()) return;
  pinned_.show(nullptr);
  emit changed();
}

void PinnedRun::take_recording() {
  if (!is_pinned()) return;
  const RecordingPointer& recording = shown_.recording();
  const std::size_t run_index = pinned_.run();
  // A recording with the same path was read again, or has grown.
  const bool is_same = recording && recording->has_rows() && run_index < recording->runs().size() &&
                       recording->recording().path == pinned_.recording()->recording().path;
  if (is_same)
    pin(run_index);
  else
    unpin();
}

void PinnedRun::follow_range(ViewState& from, ViewState& to) {
  if (is_following_ || !is_pinned()) return;
  const OpenedRecording& opened = *shown_.recording();
  const std::vector<std::uint32_t>& rounds = opened.runs()[from.run()].rounds;
  const auto [first, last] = from.places_in_range(rounds);
  is_following_ = true;
  if (first == last || (first == 0 && last == rounds.size())) {
    // No round overlaps the range, or all rounds do.
    to.set_range(first == last ? from.range() : opened.whole());
  } else {
    // The last token of the last round stands before the first token of the next round in the same request.
    Cursor end = from.cursor_on(rounds[last - 1]);
    end.token_index += static_cast<std::size_t>(std::max(opened.round(rounds[last - 1]).emitted, 1)) - 1;
    const Cursor begin = to.cursor_in_run(from.cursor_on(rounds[first]), to.run());
    end = to.cursor_in_run(end, to.run());
    if (begin.round_index != no_index && end.round_index != no_index) {
      const std::int64_t start_ns = opened.round(begin.round_index).start_ns;
      const std::int64_t end_ns = opened.round(end.round_index).end_ns;
      to.set_range({start_ns, std::max(start_ns, end_ns)});
    }
  }
  is_following_ = false;
}

void PinnedRun::follow_cursor(ViewState& from, ViewState& to) {
  if (is_following_ || !is_pinned() || from.cursor().round_index == no_index) return;
  // The other state's cursor may have moved to a run that this state does not show.
  const Cursor there = to.cursor_in_run(from.cursor(), to.run());
  if (there.round_index == no_index) return;
  is_following_ = true;
  to.set_cursor(there);
  is_following_ = false;
}

}  // namespace draftscope::gui

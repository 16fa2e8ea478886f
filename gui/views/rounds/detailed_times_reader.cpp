// SPDX-License-Identifier: GPL-3.0-or-later
#include "detailed_times_reader.h"

namespace draftscope::gui {

void DetailedTimesReader::set_run(RecordingPointer recording, std::size_t run_index) {
  job_.cancel();
  recording_ = std::move(recording);
  run_ = run_index;
  times_.reset();
  problem_.clear();
}

const DetailedTimes* DetailedTimesReader::times() {
  if (!times_ && problem_.isEmpty() && recording_ && !job_.is_running()) read();
  return times_.get();
}

void DetailedTimesReader::read() {
  job_.start(read_and_take(
      [recording = recording_, run_index = run_](const auto& should_continue) -> Result<DetailedTimes> {
        DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(recording->recording().path));
        return read_detailed_times(reader, *recording, run_index, should_continue);
      },
      [this](Result<DetailedTimes> read) {
        problem_ = read ? QString() : QString::fromStdString(read.error().message);
        times_ = read ? std::make_shared<const DetailedTimes>(*std::move(read)) : nullptr;
        emit changed();
      }));
}

}  // namespace draftscope::gui

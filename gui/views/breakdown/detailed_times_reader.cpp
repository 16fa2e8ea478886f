// SPDX-License-Identifier: GPL-3.0-or-later
#include "detailed_times_reader.h"

namespace draftscope::gui {

void DetailedTimesReader::set_run(RecordingPointer recording, std::size_t run) {
  job_.cancel();
  recording_ = std::move(recording);
  run_ = run;
  times_.reset();
  problem_.clear();
}

const DetailedTimes* DetailedTimesReader::times() {
  if (!times_ && problem_.isEmpty() && recording_ && !job_.is_running()) read();
  return times_.get();
}

void DetailedTimesReader::read() {
  job_.start(
      [this, recording = recording_, run = run_](const BackgroundJob::ShouldContinue& should_continue) {
        auto read = [&]() -> Result<DetailedTimes> {
          DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(recording->recording().path));
          return read_detailed_times(reader, *recording, run, should_continue);
        }();
        const QString problem = read ? QString() : QString::fromStdString(read.error().message);
        auto times = read ? std::make_shared<const DetailedTimes>(*std::move(read)) : nullptr;
        return [this, times, problem] {
          times_ = times;
          problem_ = problem;
          emit changed();
        };
      });
}

}  // namespace draftscope::gui

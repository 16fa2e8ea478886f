// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/to_size.h>
#include <draftscope/engine/recording/rank_recording.h>

#include <cstddef>
#include <string>

namespace draftscope::engine {

Result<void> RankRecording::begin(traces::Writer& writer, Backend& backend) {
  lead_ = dynamic_cast<LeadingBackend*>(&backend);
  if (lead_ == nullptr) return {};
  writer_ = &writer;
  const std::int32_t ranks = backend.describe().ranks;
  writer.set_meta("ranks", std::to_string(ranks));
  for (std::int32_t rank = 1; rank < ranks; ++rank) {
    traces::Track track;
    track.kind = "rank";
    track.name = fmt::format("rank {}", rank);
    track.sort = rank;
    tracks_.push_back(writer.add(std::move(track)));
  }
  DRAFTSCOPE_TRY(lead_->take_steps());
  return {};
}

Result<void> RankRecording::end_request() {
  if (lead_ == nullptr) return {};
  DRAFTSCOPE_TRY_ASSIGN(const TakenSteps taken, lead_->take_steps());
  rows_.clear();
  for (std::size_t rank = 0; rank < taken.ranks.size(); ++rank) {
    const RankSteps& own = taken.ranks[rank];
    std::vector<traces::StringId> names;
    for (const std::string& name : own.names) names.push_back(writer_->intern(name));
    for (const RankSteps::Step& step : own.steps) {
      const traces::Span& pass = taken.passes[to_size(step.pass)];
      traces::Kernel row;
      row.id = writer_->next_kernel_id();
      row.span_id = pass.id;
      row.track_id = tracks_[rank];
      row.request_id = pass.request_id;
      row.round_id = pass.round_id;
      row.start_ns = step.start_ns;
      row.end_ns = step.end_ns;
      row.short_name_id = names[to_size(step.name)];
      row.layer = step.layer;
      row.phase = pass.phase;
      rows_.push_back(row);
    }
  }
  writer_->add(rows_);
  return {};
}

}  // namespace draftscope::engine

// SPDX-License-Identifier: GPL-3.0-or-later
#include "load_recording.h"

#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/analysis/operations.h>
#include <draftscope/traces/reader.h>

#include <algorithm>
#include <future>
#include <map>
#include <system_error>
#include <tuple>

#include "data/id_index.h"
#include "data/lanes/lane_builder.h"
#include "data/lanes/prefill_kernels.h"

namespace draftscope::gui {

namespace {

using traces::IdRange;
using traces::Reader;

constexpr std::int64_t rows_per_progress = 1 << 16;
// A round with its draft tokens takes about as long to read as this many spans.
constexpr std::int64_t spans_per_round = 5;

/// Runs a task on a new thread, or on this one if no thread can be created.
template <typename Task>
auto in_background(Task task) {
  try {
    return std::async(std::launch::async, task);
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, task);
  }
}

class LoadSteps {
 public:
  LoadSteps(std::int64_t all, const LoadProgress& progress) : all_(all), progress_(progress) {}
  void add(std::int64_t rows) {
    const std::int64_t before = done_.fetch_add(rows, std::memory_order_relaxed);
    if (progress_ && (before + rows) / rows_per_progress != before / rows_per_progress)
      progress_(std::min(before + rows, all_), all_);
  }

 private:
  std::atomic<std::int64_t> done_{0};
  std::int64_t all_;
  const LoadProgress& progress_;
};

/// Rows that a recording may have millions of, as one thread reads them.
struct GatheredRows {
  LaneBuilder lanes;
  simulator::StreamedPhases phases;
  std::vector<simulator::DeviceInterval> device;
};

/// The round of a slice until LaneBuilder::finish(). Ids beyond 32 bits would need a trace of 4 G rounds;
/// such a slice keeps its time and loses its round.
std::uint32_t short_id(traces::RoundId round_id) {
  const std::int64_t number = round_id.value();
  return number > 0 && number < no_index ? static_cast<std::uint32_t>(number) : 0;
}

class RowGatherer {
 public:
  RowGatherer(const LaneNames& names, LoadSteps& steps) : names_(names), steps_(steps) {}

  Result<void> add_spans(Reader& reader, IdRange ids, GatheredRows& into) {
    return reader.spans(ids, [&](const traces::Span& span) {
      into.lanes.add({LaneKind::track, span.track_id.value()}, span.depth,
                     {.time = {span.start_ns, span.end_ns},
                      .name = names_.of(span.name_id),
                      .round_index = short_id(span.round_id),
                      .row_id = span.id.value(),
                      .layer = static_cast<std::int16_t>(span.layer),
                      .phase = span.phase});
      into.phases.add(span);
      return count();
    });
  }

  Result<void> add_kernels(Reader& reader, GatheredRows& into) {
    std::map<traces::TrackId, std::vector<LaneSlice>> prefills;
    DRAFTSCOPE_TRY(reader.kernels({}, [&](const traces::Kernel& kernel) {
      const LaneSlice slice{.time = {kernel.start_ns, kernel.end_ns},
                            .name = names_.of(kernel.short_name_id),
                            .round_index = short_id(kernel.round_id),
                            .row_id = kernel.id.value(),
                            .layer = static_cast<std::int16_t>(kernel.layer),
                            .phase = kernel.phase};
      if (kernel.phase == traces::Phase::prefill && kernel.round_id.is_none() && kernel.first_end_ns == 0)
        prefills[kernel.track_id].push_back(slice);
      else
        into.lanes.add({LaneKind::track, kernel.track_id.value()}, 0, slice);
      // The lane below an operation shows the time from its first finished block to its last.
      if (kernel.first_end_ns > kernel.start_ns)
        into.lanes.add({LaneKind::track, kernel.track_id.value()}, 1,
                       {.time = {kernel.first_end_ns, kernel.end_ns},
                        .name = names_.last_blocks(),
                        .round_index = short_id(kernel.round_id),
                        .row_id = kernel.id.value(),
                        .layer = static_cast<std::int16_t>(kernel.layer),
                        .phase = kernel.phase});
      if (kernel.span_id != 0) into.lanes.launch(kernel.id, kernel.span_id);
      if (kernel.round_id != 0)
        tracks_[kernel.track_id].push_back({kernel.round_id, kernel.start_ns, kernel.end_ns, kernel.phase,
                                            simulator::launch_number(kernel)});
      return count();
    }));
    for (auto& [track_id, slices] : prefills) add_prefill({LaneKind::track, track_id.value()}, slices, into);
    return {};
  }

  /// Intervals of what ran on streams, in the format of read_device_intervals().
  std::vector<simulator::DeviceInterval> device_intervals(const traces::Recording& recording) {
    std::vector<simulator::DeviceInterval> all;
    for (const traces::Track& track : recording.tracks)
      if (const auto found = tracks_.find(track.id); track.kind == "stream" && found != tracks_.end())
        all.insert(all.end(), found->second.begin(), found->second.end());
    tracks_.clear();
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return std::tie(a.round_id, a.start_ns, a.end_ns) < std::tie(b.round_id, b.start_ns, b.end_ns);
    });
    return all;
  }

  Result<void> add_decisions(Reader& reader, GatheredRows& into) {
    return reader.decisions({}, [&](const traces::Decision& decision) {
      into.lanes.add({LaneKind::decisions, 0}, 0,
                     {.time = {decision.start_ns, decision.end_ns},
                      .name = names_.of(decision.kind_id),
                      .round_index = short_id(decision.round_id),
                      .row_id = decision.id.value(),
                      .phase = traces::Phase::optimise});
      return count();
    });
  }

  Result<void> add_counters(Reader& reader, GatheredRows& into) {
    return reader.counters([&](const traces::Counter& counter) {
      into.lanes.add(counter);
      return count();
    });
  }

 private:
  bool count() {
    if (++uncounted_ == 1024) {
      steps_.add(uncounted_);
      uncounted_ = 0;
    }
    return true;
  }

  /// Adds a track's kernels of prefills, pass by pass, with their layers and operations where these are
  /// certain.
  void add_prefill(const LaneGroup& group, std::vector<LaneSlice>& slices, GatheredRows& into) {
    std::stable_sort(slices.begin(), slices.end(), [](const LaneSlice& a, const LaneSlice& b) {
      return a.time.start_ns < b.time.start_ns;
    });
    const auto begins_pass = [&](const LaneSlice& slice) {
      return names_.all()[slice.name].starts_with("embedding: ");
    };
    for (auto first = slices.begin(); first != slices.end();) {
      const auto end = std::find_if(std::next(first), slices.end(), begins_pass);
      std::vector<PrefillKernel> kernels;
      kernels.reserve(static_cast<std::size_t>(end - first));
      for (auto slice = first; slice != end; ++slice)
        kernels.push_back({names_.all()[slice->name], slice->layer});
      const bool is_placed = begins_pass(*first) && place_in_layers(kernels);
      for (auto kernel = kernels.begin(); first != end; ++first, ++kernel) {
        if (is_placed && kernel->name != names_.all()[first->name])
          first->name = into.lanes.add_name(names_, kernel->name, first->name);
        if (is_placed) first->layer = static_cast<std::int16_t>(kernel->layer);
        into.lanes.add(group, 0, *first);
      }
    }
  }

  const LaneNames& names_;
  LoadSteps& steps_;
  std::int64_t uncounted_ = 0;
  std::unordered_map<traces::TrackId, std::vector<simulator::DeviceInterval>> tracks_;
};

/// Time that a request took, as far as it is known: an unfinished request ends with its last round.
TimeRange time_of(const traces::Request& request, std::int64_t last_round_end_ns) {
  return {request.start_ns, std::max({request.start_ns, request.end_ns, last_round_end_ns})};
}

void add_requests_and_rounds(const traces::Recording& recording, const LaneNames& names, LaneBuilder& lanes) {
  const IdIndex<traces::RequestId> request_indices(recording.requests,
                                                   [](const traces::Request& row) { return row.id; });
  std::vector<std::int64_t> last_round_end_ns(recording.requests.size());
  for (const traces::Round& round : recording.rounds) {
    const std::uint32_t request_index = request_indices[round.request_id];
    last_round_end_ns[request_index] = std::max(last_round_end_ns[request_index], round.end_ns);
    lanes.add({LaneKind::rounds, recording.requests[request_index].run_id.value()}, 0,
              {.time = {round.start_ns, round.end_ns},
               .name = names.round(),
               .round_index = short_id(round.id),
               .row_id = round.id.value(),
               // The phase that took more of the round gives its colour from afar.
               .phase = round.drafted > 0 && round.draft_ns > round.verify_ns ? traces::Phase::draft
                                                                              : traces::Phase::verify});
  }
  for (std::size_t i = 0; i < recording.requests.size(); ++i)
    lanes.add({LaneKind::requests, recording.requests[i].run_id.value()}, 0,
              {.time = time_of(recording.requests[i], last_round_end_ns[i]),
               .name = names.request(),
               .round_index = 0,
               .row_id = recording.requests[i].id.value()});
}

std::map<std::string, std::int64_t> ids_by_table(const std::vector<traces::TableCount>& ids) {
  std::map<std::string, std::int64_t> result;
  for (const traces::TableCount& table : ids)
    result[table.table] = std::min(table.rows, std::int64_t{1} << 40U);
  return result;
}

/// Number of rows to read, by their highest ids.
struct Work {
  explicit Work(const std::map<std::string, std::int64_t>& ids) {
    const auto of = [&](const char* table) {
      const auto found = ids.find(table);
      return found == ids.end() ? 0 : found->second;
    };
    spans = of("spans");
    kernels = of("kernels");
    rounds = spans_per_round * of("rounds");
    others = of("decisions") + of("counters");
  }

  [[nodiscard]] std::int64_t all() const { return rounds + spans + kernels + others; }
  /// Spans that the thread that reads the rounds takes over, so that both threads have equal work.
  [[nodiscard]] std::int64_t late_spans() const {
    return std::clamp<std::int64_t>((spans + kernels - rounds) / 2, 0, spans);
  }

  std::int64_t spans = 0;
  std::int64_t kernels = 0;
  std::int64_t rounds = 0;  ///< Weighted by spans_per_round.
  std::int64_t others = 0;
};

struct Rows {
  traces::Recording recording;
  OpenedRecording::TokenTexts token_texts;
  GatheredRows early;  ///< The first spans, and kernels.
  GatheredRows late;   ///< Rounds, decisions, counters and the last spans.
  std::vector<simulator::DeviceInterval> device;
};

Result<void> read_late(Reader& reader, const LaneNames& names, const Work& work, LoadSteps& steps,
                       Rows& into) {
  RowGatherer gatherer(names, steps);
  DRAFTSCOPE_TRY_ASSIGN(into.recording, reader.recording());
  steps.add(work.rounds);
  DRAFTSCOPE_TRY_ASSIGN(into.token_texts, reader.token_texts());
  add_requests_and_rounds(into.recording, names, into.late.lanes);
  DRAFTSCOPE_TRY(gatherer.add_decisions(reader, into.late));
  DRAFTSCOPE_TRY(gatherer.add_counters(reader, into.late));
  return gatherer.add_spans(reader, {work.spans - work.late_spans() + 1}, into.late);
}

/// Reads the rounds on this thread, and spans and kernels on another thread with its own connection.
template <typename OpenAgain>
Result<Rows> read_rows(Reader& reader, const OpenAgain& open_again, const LaneNames& names, const Work& work,
                       LoadSteps& steps) {
  Rows rows;
  RowGatherer early(names, steps);
  auto other = in_background([&]() -> Result<void> {
    DRAFTSCOPE_TRY_ASSIGN(Reader connection, open_again());
    DRAFTSCOPE_TRY(early.add_spans(connection, {1, work.spans - work.late_spans()}, rows.early));
    return early.add_kernels(connection, rows.early);
  });
  const Result<void> read = read_late(reader, names, work, steps, rows);
  const Result<void> read_by_other = other.get();
  DRAFTSCOPE_TRY(read);
  DRAFTSCOPE_TRY(read_by_other);
  rows.device = early.device_intervals(rows.recording);
  return rows;
}

/// Empty unless a device timed the operations.
Result<simulator::RecordedOperations> operations_in(const std::filesystem::path& path,
                                                    const traces::Recording& recording) {
  if (!simulator::operation_tracks(recording).timed_by_device) return simulator::RecordedOperations{};
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(path));
  return simulator::read_operations(reader, recording);
}

/// Builds the timeline while another thread computes the figures.
LoadedRecording assemble(Rows rows, simulator::RecordedOperations operations, int schema_version,
                         const LaneNames& names) {
  LoadedRecording loaded;
  simulator::MeasuredRecording measured;
  measured.schema_version = schema_version;
  measured.operations = std::move(operations);
  measured.recording = std::make_unique<traces::Recording>(std::move(rows.recording));
  const traces::Recording& recording = *measured.recording;
  auto figures = in_background([&] {
    rows.early.phases.add(std::move(rows.late.phases));
    measured.figures = simulator::measure(recording, {}, rows.device);
    rows.early.phases.complete(recording, measured.figures);
    simulator::drop_unavailable(measured.figures, recording.meta);
    loaded.recording = OpenedRecording::of(std::move(measured), std::move(rows.token_texts));
  });
  const IdIndex<traces::RoundId> round_indices(recording.rounds,
                                               [](const traces::Round& round) { return round.id; });
  rows.early.lanes.add(std::move(rows.late.lanes));
  loaded.timeline =
      std::make_shared<const Timeline>(std::move(rows.early.lanes).finish(recording, names, round_indices));
  figures.get();
  return loaded;
}

}  // namespace

std::optional<LoadedRecording> read_overview(const std::filesystem::path& path,
                                             const std::atomic<bool>& cancelled) {
  auto reader = Reader::open(path, cancelled);
  if (!reader) return std::nullopt;
  const auto overview = reader->overview();
  if (!overview || !*overview) return std::nullopt;
  auto outline = reader->outline();
  if (!outline) return std::nullopt;
  LoadedRecording loaded;
  loaded.timeline = std::make_shared<const Timeline>(overview_timeline(*outline, **overview));
  loaded.recording = OpenedRecording::of_overview(reader->schema_version(), *std::move(outline), **overview);
  return loaded;
}

Result<LoadedRecording> load_recording(const std::filesystem::path& path, const std::atomic<bool>& cancelled,
                                       const LoadProgress& progress) {
  DRAFTSCOPE_TRY_ASSIGN(Reader reader, Reader::open(path, cancelled));
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader.strings());
  DRAFTSCOPE_TRY_ASSIGN(const auto highest_ids, reader.highest_ids());
  const LaneNames names(strings);
  const Work work(ids_by_table(highest_ids));
  LoadSteps steps(work.all(), progress);
  const auto open_again = [&] { return Reader::open(path, cancelled); };
  DRAFTSCOPE_TRY_ASSIGN(Rows rows, read_rows(reader, open_again, names, work, steps));
  DRAFTSCOPE_TRY_ASSIGN(auto operations, operations_in(path, rows.recording));
  LoadedRecording loaded = assemble(std::move(rows), std::move(operations), reader.schema_version(), names);
  if (cancelled) return fail("{}: cancelled", path.string());
  return loaded;
}

}  // namespace draftscope::gui

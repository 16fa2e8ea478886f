// SPDX-License-Identifier: GPL-3.0-or-later
#include "load_recording.h"

#include <draftscope/simulator/figures/figures.h>
#include <draftscope/simulator/figures/measured_recording.h>
#include <draftscope/traces/bulk_reader.h>

#include <algorithm>
#include <future>
#include <map>
#include <system_error>
#include <tuple>
#include <unordered_set>

#include "data/lanes/lane_builder.h"
#include "id_index.h"

namespace draftscope::gui {

namespace {

using traces::BulkReader;
using traces::IdRange;

constexpr std::int64_t rows_per_progress = 1 << 16;
// A round with its draft tokens takes about as long to read as so many spans.
constexpr std::int64_t spans_per_round = 5;

/// Runs a task on a thread of its own; on this one if there is none to be had.
template <typename Task>
auto in_background(Task task) {
  try {
    return std::async(std::launch::async, task);
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, task);
  }
}

class Steps {
 public:
  Steps(std::int64_t all, const LoadProgress& progress) : all_(all), progress_(progress) {}
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

/// Rows whose number there may be millions of, as one thread reads them.
struct Gathered {
  LaneBuilder lanes;
  simulator::StreamedPhases phases;
  std::vector<simulator::DeviceInterval> device;
};

class RowGatherer {
 public:
  RowGatherer(const LaneNames& names, Steps& steps) : names_(names), steps_(steps) {}

  Result<void> add_spans(BulkReader& reader, IdRange ids, Gathered& into) {
    return reader.spans(ids, [&](const traces::Span& span) {
      into.lanes.add({LaneKind::track, span.track}, span.depth,
                     {.time = {span.start_ns, span.end_ns},
                      .name = names_.of(span.name),
                      .round = round_id(span.round),
                      .id = span.id,
                      .layer = static_cast<std::int16_t>(span.layer),
                      .phase = span.phase});
      into.phases.add(span);
      return count();
    });
  }

  Result<void> add_kernels(BulkReader& reader, Gathered& into) {
    return reader.kernels({}, [&](const traces::Kernel& kernel) {
      into.lanes.add({LaneKind::track, kernel.track}, 0,
                     {.time = {kernel.start_ns, kernel.end_ns},
                      .name = names_.of(kernel.short_name),
                      .round = round_id(kernel.round),
                      .id = kernel.id,
                      .layer = static_cast<std::int16_t>(kernel.layer),
                      .phase = kernel.phase});
      if (kernel.span != 0) into.lanes.launch(kernel.id, kernel.span);
      if (kernel.round != 0)
        tracks_[kernel.track].push_back({kernel.round, kernel.start_ns, kernel.end_ns, kernel.phase});
      return count();
    });
  }

  /// What ran on streams, as read_device_intervals() has it.
  std::vector<simulator::DeviceInterval> device_intervals(const traces::Recording& recording) {
    std::vector<simulator::DeviceInterval> all;
    for (const traces::Track& track : recording.tracks)
      if (const auto found = tracks_.find(track.id); track.kind == "stream" && found != tracks_.end())
        all.insert(all.end(), found->second.begin(), found->second.end());
    tracks_.clear();
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return std::tie(a.round, a.start_ns, a.end_ns) < std::tie(b.round, b.start_ns, b.end_ns);
    });
    return all;
  }

  Result<void> add_decisions(BulkReader& reader, Gathered& into) {
    return reader.decisions([&](const traces::Decision& decision) {
      into.lanes.add({LaneKind::decisions, 0}, 0,
                     {.time = {decision.start_ns, decision.end_ns},
                      .name = names_.of(decision.kind),
                      .round = round_id(decision.round),
                      .id = decision.id,
                      .phase = traces::Phase::optimise});
      return count();
    });
  }

  Result<void> add_counters(BulkReader& reader, Gathered& into) {
    return reader.counters([&](const traces::Counter& counter) {
      into.lanes.add(counter);
      return count();
    });
  }

 private:
  static std::uint32_t round_id(std::int64_t round) {
    // Ids beyond 32 bits would need a trace of 4 G rounds; such a slice keeps its time and loses its round.
    return round > 0 && round < no_index ? static_cast<std::uint32_t>(round) : 0;
  }

  bool count() {
    if (++uncounted_ == 1024) {
      steps_.add(uncounted_);
      uncounted_ = 0;
    }
    return true;
  }

  const LaneNames& names_;
  Steps& steps_;
  std::int64_t uncounted_ = 0;
  std::unordered_map<std::int64_t, std::vector<simulator::DeviceInterval>> tracks_;
};

/// What time a request took, as far as it is known: a cut-off one ends with its last round.
TimeRange time_of(const traces::Request& request, std::int64_t last_round_end_ns) {
  return {request.start_ns, std::max({request.start_ns, request.end_ns, last_round_end_ns})};
}

void add_requests_and_rounds(const traces::Recording& recording, const LaneNames& names, LaneBuilder& lanes) {
  const IdIndex requests(recording.requests, [](const traces::Request& row) { return row.id; });
  std::vector<std::int64_t> last_round_end_ns(recording.requests.size());
  for (const traces::Round& round : recording.rounds) {
    const std::uint32_t request = requests[round.request];
    last_round_end_ns[request] = std::max(last_round_end_ns[request], round.end_ns);
    lanes.add({LaneKind::rounds, recording.requests[request].run}, 0,
              {.time = {round.start_ns, round.end_ns},
               .name = names.round(),
               .round = round.id > 0 && round.id < no_index ? static_cast<std::uint32_t>(round.id) : 0,
               .id = round.id,
               // What most of the round went to colours it from afar.
               .phase = round.drafted > 0 && round.draft_ns > round.verify_ns ? traces::Phase::draft
                                                                              : traces::Phase::verify});
  }
  for (std::size_t i = 0; i < recording.requests.size(); ++i)
    lanes.add({LaneKind::requests, recording.requests[i].run}, 0,
              {.time = time_of(recording.requests[i], last_round_end_ns[i]),
               .name = names.request(),
               .round = 0,
               .id = recording.requests[i].id});
}

std::map<std::string, std::int64_t> ids_by_table(const std::vector<traces::TableCount>& ids) {
  std::map<std::string, std::int64_t> result;
  for (const traces::TableCount& table : ids)
    result[table.table] = std::min(table.rows, std::int64_t{1} << 40U);
  return result;
}

}  // namespace

std::optional<LoadedRecording> read_overview(const std::filesystem::path& path,
                                             const std::atomic<bool>& cancelled) {
  auto reader = BulkReader::open(path, cancelled);
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
  DRAFTSCOPE_TRY_ASSIGN(BulkReader reader, BulkReader::open(path, cancelled));
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader.strings());
  DRAFTSCOPE_TRY_ASSIGN(const auto highest_ids, reader.highest_ids());
  const LaneNames names(strings);
  auto ids = ids_by_table(highest_ids);
  const std::int64_t spans = ids["spans"];
  const std::int64_t rounds = spans_per_round * ids["rounds"];
  Steps steps(rounds + spans + ids["kernels"] + ids["decisions"] + ids["counters"], progress);
  // This thread reads the rounds, the other the spans and kernels; whoever has less takes spans of the
  // other's.
  const std::int64_t mine = std::clamp<std::int64_t>((spans + ids["kernels"] - rounds) / 2, 0, spans);

  Gathered early;
  RowGatherer early_rows(names, steps);
  auto other = in_background([&]() -> Result<void> {
    DRAFTSCOPE_TRY_ASSIGN(BulkReader connection, BulkReader::open(path, cancelled));
    DRAFTSCOPE_TRY(early_rows.add_spans(connection, {1, spans - mine}, early));
    return early_rows.add_kernels(connection, early);
  });
  Gathered late;
  traces::Recording recording;
  simulator::MeasuredRecording measured;
  OpenedRecording::TokenTexts token_texts;
  const auto read_mine = [&]() -> Result<void> {
    RowGatherer late_rows(names, steps);
    DRAFTSCOPE_TRY_ASSIGN(recording, reader.recording());
    steps.add(rounds);
    DRAFTSCOPE_TRY_ASSIGN(token_texts, reader.token_texts());
    add_requests_and_rounds(recording, names, late.lanes);
    DRAFTSCOPE_TRY(late_rows.add_decisions(reader, late));
    DRAFTSCOPE_TRY(late_rows.add_counters(reader, late));
    return late_rows.add_spans(reader, {spans - mine + 1}, late);
  };
  const Result<void> read = read_mine();
  const Result<void> read_by_other = other.get();
  DRAFTSCOPE_TRY(read);
  DRAFTSCOPE_TRY(read_by_other);

  const std::vector<simulator::DeviceInterval> device = early_rows.device_intervals(recording);
  LoadedRecording loaded;
  measured.schema_version = reader.schema_version();
  measured.recording = std::make_unique<traces::Recording>(std::move(recording));
  const traces::Recording& rows = *measured.recording;
  auto figures = in_background([&] {
    early.phases.add(std::move(late.phases));
    measured.figures = simulator::measure(rows, {}, device);
    early.phases.complete(rows, measured.figures);
    simulator::drop_unavailable(measured.figures, rows.meta);
    loaded.recording = OpenedRecording::of(std::move(measured), std::move(token_texts));
  });
  const IdIndex round_places(rows.rounds, [](const traces::Round& round) { return round.id; });
  early.lanes.add(std::move(late.lanes));
  loaded.timeline =
      std::make_shared<const Timeline>(std::move(early.lanes).finish(rows, names, round_places));
  figures.get();
  if (cancelled) return fail("{}: cancelled", path.string());
  return loaded;
}

}  // namespace draftscope::gui

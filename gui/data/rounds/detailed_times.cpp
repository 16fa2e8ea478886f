// SPDX-License-Identifier: GPL-3.0-or-later
#include "detailed_times.h"

#include <draftscope/simulator/analysis/device_timeline.h>
#include <draftscope/simulator/analysis/operations.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

namespace draftscope::gui {

namespace {

constexpr std::int32_t no_part = -1;
constexpr std::size_t max_operations = 14;
constexpr std::int64_t rows_per_question = 1 << 14;

/// Kinds of time in a round apart from layers and operations.
enum class Rest : std::uint8_t { unnamed, idle, launch, between_kernels, host, not_recorded };

constexpr Rest rest_of(simulator::GapKind kind) {
  return static_cast<Rest>(static_cast<int>(Rest::launch) + static_cast<int>(kind));
}

/// Times by layer, or by operation, while they are gathered.
class GatheredTimes {
 public:
  void add(std::uint32_t place, std::int32_t part, std::int64_t ns) {
    is_named_ = is_named_ || part != no_part;
    if (part == no_part)
      add_rest(place, Rest::unnamed, ns);
    else
      push(named_, place, static_cast<std::uint16_t>(part), ns);
  }
  void add_rest(std::uint32_t place, Rest rest, std::int64_t ns) {
    push(rest_, place, static_cast<std::uint16_t>(rest), ns);
  }

  /// Renumbers named parts by `part_of`, to below names.size(); the rest follows them.
  DetailedTimes::Side finish(TimeSource source, std::vector<std::string> names,
                             const std::vector<std::uint16_t>& part_of, const char* unnamed,
                             std::size_t rounds) && {
    DetailedTimes::Side side;
    if (!is_named_) return side;
    side.source = source;
    side.named = names.size();
    for (PartTime& time : named_) time.part = part_of[time.part];
    for (PartTime& time : rest_) time.part = static_cast<std::uint16_t>(time.part + side.named);
    named_.insert(named_.end(), rest_.begin(), rest_.end());
    names.emplace_back(unnamed);
    names.emplace_back("idle");
    for (const std::string_view gap : simulator::gap_kind_names) names.emplace_back(gap);
    names.emplace_back("not recorded");
    side.times = PartedTimes(std::move(names), rounds, std::move(named_));
    return side;
  }

  [[nodiscard]] std::vector<std::int64_t> totals(std::size_t parts) const {
    std::vector<std::int64_t> sums(parts);
    for (const PartTime& time : named_) sums[time.part] += time.ns;
    return sums;
  }

 private:
  static void push(std::vector<PartTime>& times, std::uint32_t place, std::uint16_t part, std::int64_t ns) {
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    if (!times.empty() && times.back().place == place && times.back().part == part &&
        times.back().ns + ns <= most) {
      times.back().ns += static_cast<std::uint32_t>(ns);
      return;
    }
    for (; ns > 0; ns -= most) times.push_back({place, part, static_cast<std::uint32_t>(std::min(ns, most))});
  }

  std::vector<PartTime> named_;
  std::vector<PartTime> rest_;
  bool is_named_ = false;
};

/// The times of single rounds, gathered from one kind of rows.
class Gatherer {
 public:
  Gatherer(const OpenedRecording& opened, std::size_t run_index)
      : opened_(opened), rounds_(opened.runs()[run_index].rounds), is_recorded_(rounds_.size()) {
    places_.reserve(rounds_.size());
    for (std::size_t place = 0; place < rounds_.size(); ++place)
      places_.emplace(round(place).id, static_cast<std::uint32_t>(place));
  }

  /// Place of a round, by its id; no_index for a round of another run.
  [[nodiscard]] std::uint32_t place_of(traces::RoundId round_id) const {
    const auto found = places_.find(round_id);
    return found == places_.end() ? no_index : found->second;
  }
  [[nodiscard]] const traces::Round& round(std::size_t place) const { return opened_.round(rounds_[place]); }
  [[nodiscard]] bool is_recorded(std::uint32_t place) const { return is_recorded_[place]; }
  void set_recorded(std::uint32_t place) { is_recorded_[place] = true; }

  /// Parts are layers, and operations by index into their names.
  void add(std::uint32_t place, std::int32_t layer, std::int32_t operation, std::int64_t ns) {
    layers_.add(place, layer >= max_layers ? no_part : layer, ns);
    operations_.add(place, operation, ns);
    if (layer < max_layers) deepest_layer_ = std::max(deepest_layer_, layer);
  }
  void add_rest(std::uint32_t place, Rest rest, std::int64_t ns) {
    if (ns <= 0) return;
    layers_.add_rest(place, rest, ns);
    operations_.add_rest(place, rest, ns);
  }

  /// `source` is the kind of rows gathered. A side without named parts stays empty (TimeSource::none).
  DetailedTimes finish(TimeSource source, const std::vector<std::string>& operations) && {
    for (std::uint32_t place = 0; place < rounds_.size(); ++place)
      if (!is_recorded(place))
        add_rest(place, Rest::not_recorded, round(place).end_ns - round(place).start_ns);
    std::vector<std::string> layer_names;
    std::vector<std::uint16_t> same;
    for (std::int32_t layer = 0; layer <= deepest_layer_; ++layer) {
      layer_names.push_back("layer " + std::to_string(layer));
      same.push_back(static_cast<std::uint16_t>(layer));
    }
    // The longest operations come first; all beyond max_operations are one part.
    const std::vector<std::int64_t> totals = operations_.totals(operations.size());
    std::vector<std::size_t> order(operations.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return totals[a] > totals[b]; });
    std::vector<std::string> operation_names;
    std::vector<std::uint16_t> part_of(operations.size());
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      part_of[order[rank]] = static_cast<std::uint16_t>(std::min(rank, max_operations));
      if (totals[order[rank]] == 0) continue;
      if (rank < max_operations) operation_names.push_back(operations[order[rank]]);
      if (rank == max_operations) operation_names.emplace_back("other operations");
    }
    DetailedTimes times;
    times.by_layer =
        std::move(layers_).finish(source, std::move(layer_names), same, "no layer", rounds_.size());
    times.by_operation =
        std::move(operations_)
            .finish(source, std::move(operation_names), part_of, "no operation", rounds_.size());
    return times;
  }

 private:
  const OpenedRecording& opened_;
  const std::vector<std::uint32_t>& rounds_;
  std::unordered_map<traces::RoundId, std::uint32_t> places_;
  std::vector<bool> is_recorded_;
  GatheredTimes layers_;
  GatheredTimes operations_;
  std::int32_t deepest_layer_ = no_part;
};

/// The names of operations, each once, by the string that rows refer to.
class Operations {
 public:
  explicit Operations(const std::unordered_map<traces::StringId, std::string>& strings) : strings_(strings) {}

  /// A span that contains operations, and is no operation itself, gives no_part.
  [[nodiscard]] std::int32_t of(traces::StringId name_id) {
    const auto [known, is_new] = operation_of_.try_emplace(name_id, no_part);
    if (!is_new) return known->second;
    const auto text = strings_.find(name_id);
    if (text == strings_.end()) return no_part;
    std::string name = simulator::short_kernel_name(text->second);
    name.resize(std::min(name.find(": "), name.size()));
    if (name == "layer" || name == "draft step") return no_part;
    auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end() && names_.size() >= max_names) return no_part;
    if (found == names_.end()) found = names_.insert(names_.end(), name);
    return known->second = static_cast<std::int32_t>(found - names_.begin());
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  static constexpr std::size_t max_names = 4096;

  const std::unordered_map<traces::StringId, std::string>& strings_;
  std::unordered_map<traces::StringId, std::int32_t> operation_of_;
  std::vector<std::string> names_;
};

/// Walks the spans of one round on one track, in the order of their start. An instant belongs to the
/// innermost open span.
class RoundSweep {
 public:
  RoundSweep(Gatherer& into, std::uint32_t place)
      : into_(into), place_(place), now_(into.round(place).start_ns), end_(into.round(place).end_ns) {}

  void open(const traces::Span& span, std::int32_t operation) {
    advance(span.start_ns);
    Open open{std::min(span.end_ns, end_), span.layer, span.depth > 0 ? operation : no_part};
    if (!open_.empty()) {
      open.end_ns = std::min(open.end_ns, open_.back().end_ns);
      if (open.layer < 0) open.layer = open_.back().layer;
      if (open.operation == no_part) open.operation = open_.back().operation;
    }
    if (open.end_ns > now_) open_.push_back(open);
  }

  void finish() {
    advance(end_);
    into_.add_rest(place_, Rest::idle, end_ - into_.round(place_).start_ns - covered_ns_);
    into_.set_recorded(place_);
  }

 private:
  struct Open {
    std::int64_t end_ns;
    std::int32_t layer;
    std::int32_t operation;
  };

  void advance(std::int64_t time_ns) {
    time_ns = std::min(time_ns, end_);
    while (!open_.empty() && now_ < time_ns) {
      const Open& top = open_.back();
      const std::int64_t to = std::min(top.end_ns, time_ns);
      if (to > now_) {
        into_.add(place_, std::max(top.layer, no_part), top.operation, to - now_);
        covered_ns_ += to - now_;
        now_ = to;
      }
      if (top.end_ns <= now_) open_.pop_back();
    }
    now_ = std::max(now_, time_ns);
  }

  Gatherer& into_;
  std::uint32_t place_;
  std::int64_t now_;
  std::int64_t end_;
  std::int64_t covered_ns_ = 0;
  std::vector<Open> open_;
};

Result<DetailedTimes> times_of_spans(traces::Reader& reader, Gatherer gatherer, Operations operations,
                                     const std::function<bool()>& should_continue) {
  std::int64_t rows = 0;
  bool cancelled = false;
  traces::TrackId track_id;
  traces::RoundId round_id;
  std::optional<RoundSweep> sweep;
  DRAFTSCOPE_TRY(reader.spans([&](const traces::Span& span) {
    if (++rows % rows_per_question == 0) cancelled = !should_continue();
    if (span.round_id != round_id || span.track_id != track_id) {
      if (sweep) sweep->finish();
      sweep.reset();
      round_id = span.round_id;
      track_id = span.track_id;
      // If a round runs on several threads, the time of the first one counts.
      if (const std::uint32_t place = gatherer.place_of(round_id);
          place != no_index && !gatherer.is_recorded(place))
        sweep.emplace(gatherer, place);
    }
    if (sweep) sweep->open(span, operations.of(span.name_id));
    return !cancelled;
  }));
  if (cancelled) return fail("cancelled");
  if (sweep) sweep->finish();
  return std::move(gatherer).finish(TimeSource::spans, operations.names());
}

struct KernelTime {
  std::uint32_t place = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int32_t layer = no_part;
  std::int32_t operation = no_part;
  std::uint32_t launch = 0;  ///< As simulator::launch_number().
  traces::SpanId span;
};

void add_round(std::span<const KernelTime> kernels, bool timed_by_device, Gatherer& into) {
  const std::uint32_t place = kernels.front().place;
  const traces::Round& round = into.round(place);
  const auto clipped = [&](std::int64_t ns) { return std::clamp(ns, round.start_ns, round.end_ns); };
  const std::int64_t first_ns = clipped(kernels.front().start_ns);
  std::int64_t last_ns = first_ns;
  std::uint32_t launch = kernels.front().launch;
  simulator::OperationClock clock(timed_by_device);
  for (const KernelTime& kernel : kernels) {
    const simulator::AttributedTime time = clock.attribute(kernel.start_ns, kernel.end_ns, kernel.span);
    into.add_rest(place, rest_of(simulator::gap_kind(std::exchange(launch, kernel.launch), kernel.launch)),
                  clipped(time.start_ns) - last_ns);
    if (const std::int64_t ns = time.ns_within(round.start_ns, round.end_ns); ns > 0)
      into.add(place, std::max(kernel.layer, no_part), kernel.operation, ns);
    last_ns = std::max(last_ns, clipped(kernel.end_ns));
  }
  into.add_rest(place, Rest::host, round.end_ns - round.start_ns - (last_ns - first_ns));
  into.set_recorded(place);
}

Result<DetailedTimes> times_of_kernels(traces::Reader& reader, const traces::Recording& recording,
                                       Gatherer gatherer, Operations operations,
                                       const std::function<bool()>& should_continue) {
  const simulator::OperationTracks tracks = simulator::operation_tracks(recording);
  std::int64_t rows = 0;
  bool cancelled = false;
  std::vector<KernelTime> kernels;
  DRAFTSCOPE_TRY(reader.kernels([&](const traces::Kernel& kernel) {
    if (++rows % rows_per_question == 0) cancelled = !should_continue();
    const std::uint32_t place = gatherer.place_of(kernel.round_id);
    if (place != no_index && tracks.ids.contains(kernel.track_id))
      kernels.push_back({place, kernel.start_ns, kernel.end_ns, kernel.layer,
                         operations.of(kernel.short_name_id), simulator::launch_number(kernel),
                         kernel.span_id});
    return !cancelled;
  }));
  if (cancelled) return fail("cancelled");
  std::sort(kernels.begin(), kernels.end(), [](const KernelTime& a, const KernelTime& b) {
    return std::tie(a.place, a.start_ns, a.end_ns) < std::tie(b.place, b.start_ns, b.end_ns);
  });
  for (std::size_t i = 0; i < kernels.size();) {
    std::size_t end = i;
    while (end < kernels.size() && kernels[end].place == kernels[i].place) ++end;
    add_round(std::span(kernels).subspan(i, end - i), tracks.timed_by_device, gatherer);
    i = end;
  }
  return std::move(gatherer).finish(TimeSource::kernels, operations.names());
}

}  // namespace

Result<DetailedTimes> read_detailed_times(const RecordedRun& run,
                                          const std::function<bool()>& should_continue) {
  const auto& [recording, run_index] = run;
  const OpenedRecording& opened = *recording;
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(opened.recording().path));
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader.strings());
  DRAFTSCOPE_TRY_ASSIGN(DetailedTimes times,
                        times_of_kernels(reader, opened.recording(), Gatherer(opened, run_index),
                                         Operations(strings), should_continue));
  if (times.by_layer.source != TimeSource::none && times.by_operation.source != TimeSource::none)
    return times;
  DRAFTSCOPE_TRY_ASSIGN(DetailedTimes spans, times_of_spans(reader, Gatherer(opened, run_index),
                                                            Operations(strings), should_continue));
  if (times.by_layer.source == TimeSource::none) times.by_layer = std::move(spans.by_layer);
  if (times.by_operation.source == TimeSource::none) times.by_operation = std::move(spans.by_operation);
  return times;
}

}  // namespace draftscope::gui

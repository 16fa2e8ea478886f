// SPDX-License-Identifier: GPL-3.0-or-later
// Perfetto's TrackEvent protobuf: a file is a sequence of TracePackets, so writing is appending. The field
// numbers come from Perfetto's protos/perfetto/trace.
//
// A recording becomes lanes of properly nested slices. Perfetto pairs an end with the slice opened last, so
// one overlap would silently falsify every later duration. Requests and rounds go onto the first host track,
// around the phases; decisions go onto a separate track. A slice that would cross another one's end moves to
// a further lane of the same track (kernels that overlap on a stream, damaged recordings).

#include <draftscope/base/atomic_file.h>
#include <draftscope/traces/exporters.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

namespace draftscope::traces {
namespace {

namespace trace {
constexpr int packet = 1;
}
namespace packet {
constexpr int timestamp = 8, sequence_id = 10, track_event = 11, interned_data = 12, sequence_flags = 13,
              track_descriptor = 60, first_on_sequence = 87;
}
namespace descriptor {
constexpr int uuid = 1, name = 2, process = 3, parent_uuid = 5, counter = 8, child_ordering = 11,
              sibling_order_rank = 12;
constexpr std::uint64_t explicit_order = 3;
}  // namespace descriptor
namespace process {
constexpr int pid = 1, name = 6;
}
namespace event {
constexpr int debug_annotations = 4, type = 9, name_iid = 10, track_uuid = 11, categories = 22,
              double_counter_value = 44, flow_ids = 47, terminating_flow_ids = 48;
constexpr std::uint64_t begin = 1, end = 2, counter = 4;
}  // namespace event
namespace annotation {
constexpr int integer = 4, real = 5, text = 6, name = 10;
}
namespace interned {
constexpr int event_names = 2, iid = 1, name = 2;
}

constexpr std::uint64_t sequence = 1;
// The first packet says that earlier interned names are forgotten, and all say that they depend on earlier
// packets. Without these flags Perfetto imports nothing.
constexpr std::uint64_t state_cleared = 1;
constexpr std::uint64_t needs_state = 2;
constexpr std::uint64_t process_uuid = 1;

std::uint64_t uuid_of(int lane) {
  return process_uuid + 1 + static_cast<std::uint64_t>(lane);
}

/// A message of the protobuf wire format that is being built, as far as a trace needs it; its bytes are the
/// concatenated fields.
class ProtobufMessage {
 public:
  void varint(int field, std::uint64_t value) {
    tag(field, 0);
    raw_varint(value);
  }
  /// Appends a 64-bit field (fixed64 or double).
  void fixed64(int field, std::uint64_t value) {
    tag(field, 1);
    for (int byte = 0; byte < 8; ++byte)
      bytes_.push_back(static_cast<char>(value >> (8U * static_cast<unsigned>(byte))));
  }
  void real(int field, double value) { fixed64(field, std::bit_cast<std::uint64_t>(value)); }
  /// Appends a string, bytes or nested message.
  void bytes(int field, std::string_view value) {
    tag(field, 2);
    raw_varint(value.size());
    bytes_.append(value);
  }
  void message(int field, const ProtobufMessage& nested) { bytes(field, nested.bytes_); }

  [[nodiscard]] std::string_view view() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  void tag(int field, unsigned wire_type) { raw_varint(static_cast<unsigned>(field) << 3U | wire_type); }
  void raw_varint(std::uint64_t value) {
    while (value >= 0x80U) {
      bytes_.push_back(static_cast<char>(value | 0x80U));
      value >>= 7U;
    }
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

/// The rows that slices refer to.
struct Names {
  Recording recording;
  std::unordered_map<StringId, std::string> strings;
  std::unordered_map<RequestId, const Run*> run_of_request;
  std::unordered_map<SpanId, std::vector<KernelId>> kernels_of_span;  ///< Kernels that each span launched.
};

/// Reads the rows. Memory: the recording without its spans, and somewhat more than 16 bytes per kernel for
/// the launch arrows.
Result<Names> read_names(Reader& reader) {
  Names names;
  DRAFTSCOPE_TRY_ASSIGN(names.recording, reader.recording());
  DRAFTSCOPE_TRY_ASSIGN(names.strings, reader.strings());
  std::unordered_map<RunId, const Run*> runs;
  for (const Run& run : names.recording.runs) runs.emplace(run.id, &run);
  for (const Request& request : names.recording.requests)
    names.run_of_request.emplace(request.id, runs.at(request.run_id));
  DRAFTSCOPE_TRY(reader.kernels([&](const Kernel& kernel) {
    if (kernel.span_id != 0) names.kernels_of_span[kernel.span_id].push_back(kernel.id);
    return true;
  }));
  return names;
}

struct Slice {
  std::variant<const Request*, const Round*, const Span*, const Kernel*, const Decision*> row;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// Writes tracks and their events. Lanes are numbered from 0 in the order of their opening. Slices come in
/// the order of start_ns on each lane, and ends come before begins of the same instant.
class Packets {
 public:
  Packets(AtomicFile& file, const Names& names) : file_(file), names_(names) {
    ProtobufMessage process_message;
    process_message.varint(process::pid, 1);
    process_message.bytes(process::name, "draftscope");
    ProtobufMessage root;
    root.varint(descriptor::uuid, process_uuid);
    root.message(descriptor::process, process_message);
    root.varint(descriptor::child_ordering, descriptor::explicit_order);
    packet_.message(packet::track_descriptor, root);
    packet_.varint(packet::first_on_sequence, 1);
    write_packet(state_cleared | needs_state);
  }

  /// Opens a lane, before anything on it, and parents before children; `parent` is -1 if it has none.
  void open_lane(int lane, const Track& track, int parent) {
    ProtobufMessage message;
    message.varint(descriptor::uuid, uuid_of(lane));
    message.bytes(descriptor::name, track.name);
    message.varint(descriptor::parent_uuid, parent < 0 ? process_uuid : uuid_of(parent));
    if (track.kind == "counter") message.message(descriptor::counter, ProtobufMessage{});
    message.varint(descriptor::child_ordering, descriptor::explicit_order);
    // An int32 is written sign-extended, as protobuf requires.
    message.varint(descriptor::sibling_order_rank, static_cast<std::uint64_t>(std::int64_t{track.sort}));
    packet_.message(packet::track_descriptor, message);
    write_packet(needs_state);
  }

  void begin(int lane, const Slice& slice) {
    event_.clear();
    event_.varint(event::type, event::begin);
    event_.varint(event::track_uuid, uuid_of(lane));
    std::visit([this](const auto* row) { describe(*row); }, slice.row);
    write_event(slice.start_ns);
  }

  void end(int lane, std::int64_t end_ns) {
    event_.clear();
    event_.varint(event::type, event::end);
    event_.varint(event::track_uuid, uuid_of(lane));
    write_event(end_ns);
  }

  void counter(int lane, const Counter& counter) {
    event_.clear();
    event_.varint(event::type, event::counter);
    event_.varint(event::track_uuid, uuid_of(lane));
    event_.real(event::double_counter_value, counter.value);
    write_event(counter.timestamp_ns);
  }

  [[nodiscard]] bool failed() const { return file_.failed(); }

 private:
  void describe(const Request& request) {
    const Run* const run = names_.run_of_request.at(request.id);
    set_name(run->specification);
    event_.bytes(event::categories, "request");
    annotate_integer("request", request.id.value());
    annotate_integer("run", request.run_id.value());
    annotate_integer("prompt", request.prompt_id.value());
    annotate_integer("repeat", request.repeat);
    annotate_integer("tokens", static_cast<std::int64_t>(request.tokens.size()));
    annotate_text("stop", request_stop_name(request.stop));
  }

  void describe(const Round& round) {
    set_name("round");
    event_.bytes(event::categories, "round");
    annotate_integer("round", round.id.value());
    annotate_integer("index", round.index);
    annotate_integer("exit_layer", round.exit_layer);
    annotate_integer("planned", round.planned);
    annotate_integer("drafted", round.drafted);
    annotate_integer("accepted", round.accepted);
    annotate_integer("emitted", round.emitted);
    annotate_text("draft_stop", draft_stop_name(round.draft_stop));
    if (round.threshold >= 0.0) annotate_real("threshold", round.threshold);
  }

  void describe(const Span& span) {
    set_name_by_id(span.name_id);
    event_.bytes(event::categories, phase_name(span.phase));
    annotate_integer("span", span.id.value());
    if (span.round_id != 0) annotate_integer("round", span.round_id.value());
    if (span.layer >= 0) annotate_integer("layer", span.layer);
    if (const auto kernels = names_.kernels_of_span.find(span.id); kernels != names_.kernels_of_span.end())
      for (const KernelId kernel_id : kernels->second)
        event_.fixed64(event::flow_ids, static_cast<std::uint64_t>(kernel_id.value()));
  }

  void describe(const Kernel& kernel) {
    set_name_by_id(kernel.short_name_id);
    event_.bytes(event::categories, phase_name(kernel.phase));
    annotate_integer("kernel", kernel.id.value());
    if (kernel.round_id != 0) annotate_integer("round", kernel.round_id.value());
    if (kernel.layer >= 0) annotate_integer("layer", kernel.layer);
    annotate_integer("correlation_id", kernel.correlation_id);
    if (kernel.span_id != 0)
      event_.fixed64(event::terminating_flow_ids, static_cast<std::uint64_t>(kernel.id.value()));
  }

  void describe(const Decision& decision) {
    set_name_by_id(decision.kind_id);
    event_.bytes(event::categories, "decision");
    annotate_integer("decision", decision.id.value());
    if (decision.round_id != 0) annotate_integer("round", decision.round_id.value());
    annotate_integer("adopted", decision.adopted ? 1 : 0);
    if (!std::isnan(decision.score)) annotate_real("score", decision.score);
    annotate_text("detail", decision.detail);
  }

  void annotate_integer(std::string_view name, std::int64_t value) {
    annotation_.clear();
    annotation_.bytes(annotation::name, name);
    annotation_.varint(annotation::integer, static_cast<std::uint64_t>(value));
    event_.message(event::debug_annotations, annotation_);
  }
  void annotate_real(std::string_view name, double value) {
    annotation_.clear();
    annotation_.bytes(annotation::name, name);
    annotation_.real(annotation::real, value);
    event_.message(event::debug_annotations, annotation_);
  }
  void annotate_text(std::string_view name, std::string_view value) {
    annotation_.clear();
    annotation_.bytes(annotation::name, name);
    annotation_.bytes(annotation::text, value);
    event_.message(event::debug_annotations, annotation_);
  }

  void set_name_by_id(StringId id) {
    const auto found = names_.strings.find(id);
    set_name(found != names_.strings.end() ? found->second : "string " + std::to_string(id.value()));
  }

  /// Writes a name once, in the packet that uses it first.
  void set_name(const std::string& name) {
    const auto [entry, added] = iids_.try_emplace(name, iids_.size() + 1);
    event_.varint(event::name_iid, entry->second);
    if (!added) return;
    ProtobufMessage event_name;
    event_name.varint(interned::iid, entry->second);
    event_name.bytes(interned::name, name);
    ProtobufMessage data;
    data.message(interned::event_names, event_name);
    packet_.message(packet::interned_data, data);
  }

  void write_event(std::int64_t timestamp_ns) {
    packet_.varint(packet::timestamp, static_cast<std::uint64_t>(timestamp_ns));
    packet_.message(packet::track_event, event_);
    write_packet(needs_state);
  }

  void write_packet(std::uint64_t flags) {
    packet_.varint(packet::sequence_id, sequence);
    packet_.varint(packet::sequence_flags, flags);
    framed_.clear();
    framed_.message(trace::packet, packet_);
    file_.write(framed_.view());
    packet_.clear();
  }

  AtomicFile& file_;
  const Names& names_;
  std::unordered_map<std::string, std::uint64_t> iids_;
  ProtobufMessage packet_, event_, annotation_, framed_;  // members, to reuse their capacity
};

/// The lanes of all tracks, and the open slices on them.
class Lanes {
 public:
  Lanes(const std::vector<Track>& tracks, Packets& packets) : packets_(packets) {
    for (const Track& track : tracks) tracks_.emplace(track.id, track);
    for (const Track& track : tracks) first_lane(track.id);
  }

  /// The first lane of a track; a new one is opened, after its parents' lanes.
  int first_lane(TrackId id) {
    if (const auto found = lanes_of_.find(id); found != lanes_of_.end()) return found->second.front();
    // The loop goes up to a track that has a lane, or to the outermost. In a damaged file a track may be
    // among its own ancestors; the last track before the repetition is then the outermost.
    std::vector<TrackId> chain;
    std::unordered_set<TrackId> seen;
    for (TrackId next = id; !lanes_of_.contains(next) && seen.insert(next).second;) {
      chain.push_back(next);
      next = track_of(next).parent_id;
      if (next.is_none()) break;
    }
    int lane = -1;
    for (auto place = chain.rbegin(); place != chain.rend(); ++place) {
      const TrackId next = *place;
      const Track& track = track_of(next);
      const auto parent = track.parent_id.is_none() ? lanes_of_.end() : lanes_of_.find(track.parent_id);
      lane = open_lane(track, parent == lanes_of_.end() ? -1 : parent->second.front());
    }
    return lane;
  }

  /// Adds a slice on a track that the recording itself lacks.
  void add(const Track& track, const Slice& slice) {
    tracks_.try_emplace(track.id, track);
    add(track.id, slice);
  }

  void add(TrackId track_id, const Slice& slice) {
    first_lane(track_id);
    const int lane = lane_for(track_id, slice);
    packets_.begin(lane, slice);
    const auto* const span = std::get_if<const Span*>(&slice.row);
    open_[static_cast<std::size_t>(lane)].push_back({slice.end_ns, span != nullptr ? (*span)->id : SpanId()});
  }

  void close_all() {
    for (std::size_t lane = 0; lane < open_.size(); ++lane)
      while (!open_[lane].empty()) close_top(lane);
  }

 private:
  struct Open {
    std::int64_t end_ns;
    SpanId span_id;  // none for other slices
  };

  /// The track itself, or a substitute for an id that the recording lacks.
  const Track& track_of(TrackId id) {
    const std::string name = id.is_none() ? "requests" : fmt::format("track {}", id);
    return tracks_.try_emplace(id, Track{id, "host", name, 0, 0}).first->second;
  }

  int open_lane(const Track& track, int parent) {
    const int lane = static_cast<int>(open_.size());
    open_.emplace_back();
    parents_.push_back(parent);
    lanes_of_[track.id].push_back(lane);
    packets_.open_lane(lane, track, parent);
    return lane;
  }

  void close_top(std::size_t lane) {
    packets_.end(static_cast<int>(lane), open_[lane].back().end_ns);
    open_[lane].pop_back();
  }

  int lane_for(TrackId track_id, const Slice& slice) {
    const auto* const span = std::get_if<const Span*>(&slice.row);
    const SpanId parent_id = span != nullptr ? (*span)->parent_id : SpanId();
    const std::vector<int>& lanes = lanes_of_.at(track_id);
    int fitting = -1;
    for (const int lane : lanes) {
      std::vector<Open>& open = open_[static_cast<std::size_t>(lane)];
      // A parent stays open for a child of zero length at its very end.
      const auto is_parent = [&] { return !parent_id.is_none() && open.back().span_id == parent_id; };
      while (!open.empty() && open.back().end_ns <= slice.start_ns &&
             !(is_parent() && open.back().end_ns == slice.start_ns && slice.end_ns == slice.start_ns))
        close_top(static_cast<std::size_t>(lane));
      if (!open.empty() && open.back().end_ns < slice.end_ns) continue;
      if (!open.empty() && is_parent()) return lane;
      if (fitting < 0) fitting = lane;
    }
    if (fitting >= 0) return fitting;
    const int sibling_parent = parents_[static_cast<std::size_t>(lanes.front())];
    return open_lane(tracks_.at(track_id), sibling_parent);
  }

  Packets& packets_;
  std::unordered_map<TrackId, Track> tracks_;
  std::unordered_map<TrackId, std::vector<int>> lanes_of_;
  std::vector<std::vector<Open>> open_;  // by lane
  std::vector<int> parents_;             // by lane
};

/// Requests and rounds in the order of their starts, each request before its first round.
std::vector<Slice> outer_slices(const Recording& recording) {
  std::unordered_map<RequestId, std::int64_t> last_ns;  // by request: the assumed end of a cut-off one
  for (const Round& round : recording.rounds) {
    std::int64_t& last = last_ns[round.request_id];
    last = std::max({last, round.start_ns, round.end_ns});
  }
  std::vector<Slice> slices;
  for (const Request& request : recording.requests) {
    const std::int64_t end_ns =
        request.end_ns != 0 ? request.end_ns : std::max(request.first_token_ns, last_ns[request.id]);
    slices.push_back({&request, request.start_ns, std::max(request.start_ns, end_ns)});
  }
  for (const Round& round : recording.rounds)
    slices.push_back({&round, round.start_ns, std::max(round.start_ns, round.end_ns)});
  std::ranges::stable_sort(slices, {}, &Slice::start_ns);
  return slices;
}

TrackId first_host_track(const Recording& recording) {
  const Track* first = nullptr;
  for (const Track& track : recording.tracks)
    if (track.kind == "host" && (first == nullptr || track.sort < first->sort)) first = &track;
  return first != nullptr ? first->id : TrackId();
}

/// A track below all recorded ones. The file has no such track, and a recording without decisions gets none.
Track decision_track(const Recording& recording) {
  Track last{0, "host", "decisions", 0, 0};
  for (const Track& track : recording.tracks) {
    last.id = std::max(last.id, track.id);
    last.sort = std::max(last.sort, track.sort);
  }
  // A hostile file may have used up the numbers.
  if (const std::int64_t number = last.id.value(); number < std::numeric_limits<std::int64_t>::max())
    last.id = TrackId::from(number + 1);
  if (last.sort < std::numeric_limits<std::int32_t>::max()) ++last.sort;
  return last;
}

/// Rows between two calls of Progress.
constexpr std::int64_t rows_per_progress = 65536;

/// Calls Progress now and then, and remembers whether it asked to stop.
class Steps {
 public:
  Steps(const Progress& progress, const Packets& packets, std::int64_t all)
      : progress_(progress), packets_(packets), all_(all) {}
  bool next() {
    if (++done_ % rows_per_progress != 0) return true;
    if (packets_.failed()) return false;
    cancelled_ = progress_ && !progress_(done_, all_);
    return !cancelled_;
  }
  [[nodiscard]] bool cancelled() const { return cancelled_; }
  [[nodiscard]] bool go_on() const { return !cancelled_ && !packets_.failed(); }

 private:
  const Progress& progress_;
  const Packets& packets_;
  std::int64_t all_;
  std::int64_t done_ = 0;
  bool cancelled_ = false;
};

/// Adds the host's requests, rounds and spans to the lanes.
Result<void> add_host_slices(Reader& reader, const Recording& recording, Lanes& lanes, Steps& steps) {
  const std::vector<Slice> outer = outer_slices(recording);
  const TrackId host = first_host_track(recording);
  auto next_outer = outer.begin();
  const auto add_outer_until = [&](std::int64_t start_ns) {
    for (; next_outer != outer.end() && next_outer->start_ns <= start_ns; ++next_outer)
      lanes.add(host, *next_outer);
  };
  constexpr std::int64_t all_of_time = std::numeric_limits<std::int64_t>::max();
  bool host_passed = false;
  DRAFTSCOPE_TRY(reader.spans([&](const Span& span) {
    if (span.track_id == host) {
      add_outer_until(span.start_ns);
    } else if (span.track_id > host && !host_passed) {
      add_outer_until(all_of_time);
      host_passed = true;
    }
    lanes.add(span.track_id, {&span, span.start_ns, span.end_ns});
    return steps.next();
  }));
  if (steps.go_on()) add_outer_until(all_of_time);
  return {};
}

Result<void> write_timeline(Reader& reader, const Names& names, Packets& packets, const Progress& progress) {
  std::int64_t all = 0;
  if (progress) {
    constexpr std::array<std::string_view, 4> tables{"spans", "kernels", "decisions", "counters"};
    DRAFTSCOPE_TRY_ASSIGN(const std::vector<TableCount> counts, reader.row_counts());
    for (const TableCount& count : counts)
      if (std::ranges::find(tables, count.table) != tables.end()) all += count.rows;
  }
  Steps steps(progress, packets, all);
  Lanes lanes(names.recording.tracks, packets);

  DRAFTSCOPE_TRY(add_host_slices(reader, names.recording, lanes, steps));
  if (steps.go_on()) {
    DRAFTSCOPE_TRY(reader.kernels([&](const Kernel& kernel) {
      lanes.add(kernel.track_id, {&kernel, kernel.start_ns, kernel.end_ns});
      return steps.next();
    }));
  }
  if (steps.go_on()) {
    const Track track = decision_track(names.recording);
    DRAFTSCOPE_TRY(reader.decisions([&](const Decision& decision) {
      lanes.add(track, {&decision, decision.start_ns, decision.end_ns});
      return steps.next();
    }));
  }
  if (steps.go_on())
    DRAFTSCOPE_TRY(reader.counters([&](const Counter& counter) {
      packets.counter(lanes.first_lane(counter.track_id), counter);
      return steps.next();
    }));
  if (steps.cancelled()) return fail("export cancelled");
  lanes.close_all();
  if (progress && !progress(all, all)) return fail("export cancelled");
  return {};
}

}  // namespace

Result<void> export_perfetto(Reader& reader, const std::filesystem::path& target, const Progress& progress) {
  DRAFTSCOPE_TRY_ASSIGN(const Names names, read_names(reader));
  DRAFTSCOPE_TRY_ASSIGN(AtomicFile file, AtomicFile::create(target));
  Packets packets(file, names);
  DRAFTSCOPE_TRY(write_timeline(reader, names, packets, progress));
  return file.commit();
}

}  // namespace draftscope::traces

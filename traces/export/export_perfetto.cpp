// SPDX-License-Identifier: GPL-3.0-or-later
// Perfetto's TrackEvent protobuf: a file is a sequence of TracePackets, so writing is appending. The field
// numbers come from Perfetto's protos/perfetto/trace.

#include <draftscope/base/atomic_file.h>
#include <draftscope/traces/exporters.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "export/timeline.h"

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

class PerfettoSink : public TimelineSink {
 public:
  PerfettoSink(AtomicFile& file, const TimelineNames& names) : file_(file), names_(names) {
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

  void open_lane(int lane, const Track& track, int parent) override {
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

  void begin(int lane, const Slice& slice) override {
    event_.clear();
    event_.varint(event::type, event::begin);
    event_.varint(event::track_uuid, uuid_of(lane));
    if (slice.request != nullptr) describe(*slice.request);
    if (slice.round != nullptr) describe(*slice.round);
    if (slice.span != nullptr) describe(*slice.span);
    if (slice.kernel != nullptr) describe(*slice.kernel);
    if (slice.decision != nullptr) describe(*slice.decision);
    write_event(slice.start_ns);
  }

  void end(int lane, std::int64_t end_ns) override {
    event_.clear();
    event_.varint(event::type, event::end);
    event_.varint(event::track_uuid, uuid_of(lane));
    write_event(end_ns);
  }

  void counter(int lane, const Counter& counter) override {
    event_.clear();
    event_.varint(event::type, event::counter);
    event_.varint(event::track_uuid, uuid_of(lane));
    event_.real(event::double_counter_value, counter.value);
    write_event(counter.timestamp_ns);
  }

  [[nodiscard]] bool failed() const override { return file_.failed(); }

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
  const TimelineNames& names_;
  std::unordered_map<std::string, std::uint64_t> iids_;
  ProtobufMessage packet_, event_, annotation_, framed_;  // members, to reuse their capacity
};

}  // namespace

Result<void> export_perfetto(Reader& reader, const std::filesystem::path& target, const Progress& progress) {
  DRAFTSCOPE_TRY_ASSIGN(const TimelineNames names, read_names(reader));
  DRAFTSCOPE_TRY_ASSIGN(AtomicFile file, AtomicFile::create(target));
  PerfettoSink sink(file, names);
  DRAFTSCOPE_TRY(walk_timeline(reader, names, sink, progress));
  return file.commit();
}

}  // namespace draftscope::traces

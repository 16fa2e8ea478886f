// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/device_timeline.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/analysis/operations.h>

#include <draftscope/speculation/operation.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace draftscope::simulator {

namespace {

constexpr std::int64_t rows_per_question = 1 << 14;

/// Names of rows, each once.
class NameTable {
 public:
  std::uint32_t add(std::string_view name) {
    const auto [found, is_new] =
        index_of_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.emplace_back(name);
    return found->second;
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }
  [[nodiscard]] const std::string& at(std::uint32_t index) const { return names_[index]; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> index_of_;
};

/// Bytes that an operation must read, by the sizes of the recorded model.
class BytesBySizes {
 public:
  explicit BytesBySizes(const traces::Recording& recording) {
    const Result<ModelShape> shape = recorded_shape(recording.meta);
    const Result<double> bits = recorded_weight_bits(recording.meta);
    if (!shape || !bits) return;
    const double layer_byte = *bits / 8.0;
    const auto width = static_cast<double>(shape->d_model);
    using speculation::Operation;
    of(Operation::qkv) = width * (shape->q_width() + 2.0 * shape->kv_width()) * layer_byte;
    of(Operation::output) = width * shape->q_width() * layer_byte;
    of(Operation::gate_up) = width * shape->mlp_input_matrices() * shape->d_ff * layer_byte;
    of(Operation::down) = width * shape->d_ff * layer_byte;
    of(Operation::head) = width * shape->vocab * std::max(2.0, layer_byte);
    row_bytes_ = cache_row_bytes(recording.meta).value_or(0.0) / shape->n_layers;
    shape_ = *shape;
    is_known_ = true;
    for (const traces::Round& round : recording.rounds) positions_.emplace(round.id, round.root_position);
    // A draft with weights of its own reads fewer bytes, which the sizes do not tell.
    for (std::size_t run = 0; run < recording.runs.size(); ++run)
      if (const auto memory = run_memory(recording.meta, recording.runs[run].id))
        if (memory->draft_weight_bytes > 0) own_drafts_.insert(static_cast<std::uint32_t>(run));
  }

  [[nodiscard]] bool is_known() const { return is_known_; }

  /// -1 where the bytes are not known, and 0 for a second kernel of one operation.
  [[nodiscard]] std::int64_t of_row(std::optional<speculation::Operation> operation, const DeviceWork& row,
                                    traces::SpanId span, bool is_of_graph) {
    using speculation::Operation;
    if (!is_known_ || !operation || *operation == Operation::small) return -1;
    if (row.phase == traces::Phase::draft && own_drafts_.contains(row.run)) return -1;
    // An operation may take several kernels, of which the first reads; the head has no layer to tell passes
    // by.
    Last& last = last_[static_cast<std::size_t>(*operation)];
    const std::uint32_t launch = is_of_graph ? row.launch : 0;
    const bool is_same_launch = last.span == span && last.launch == launch && last.layer == row.layer;
    if (is_same_launch && (row.layer >= 0 || last.kernel != row.kernel)) return 0;
    last = {span, launch, row.kernel, row.layer};
    if (*operation != Operation::attention) return static_cast<std::int64_t>(of(*operation));
    const auto position = positions_.find(row.round_id);
    if (position == positions_.end() || row_bytes_ <= 0.0) return -1;
    double rows = position->second + 1.0;
    if (const std::int32_t window = shape_.window_of(std::max(row.layer, 0)); window > 0)
      rows = std::min(rows, static_cast<double>(window));
    return static_cast<std::int64_t>(rows * row_bytes_);
  }

 private:
  double& of(speculation::Operation operation) { return bytes_[static_cast<std::size_t>(operation)]; }

  /// The kernel of an operation that read last.
  struct Last {
    traces::SpanId span;
    std::uint32_t launch = 0;
    std::uint32_t kernel = 0;
    std::int32_t layer = -1;
  };

  bool is_known_ = false;
  ModelShape shape_;
  double row_bytes_ = 0.0;  ///< K/V of one position in one layer.
  std::array<double, speculation::operation_count> bytes_{};
  std::array<Last, speculation::operation_count> last_{};
  std::unordered_map<traces::RoundId, std::int32_t> positions_;
  std::unordered_set<std::uint32_t> own_drafts_;
};

/// A row with what only the walk needs.
struct ReadRow {
  DeviceWork work;
  traces::SpanId span_id;
  std::uint32_t graph_id = 0;  ///< 0 = launched by itself.
  bool is_operation = false;
};

/// Parts of operations, as OperationClock gives them.
std::vector<OwnTime> own_of_operations(const std::vector<ReadRow>& rows) {
  std::vector<OwnTime> own;
  OperationClock clock(true);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].is_operation) continue;
    const AttributedTime time = clock.attribute(rows[i].work.start_ns, rows[i].work.end_ns, rows[i].span_id);
    if (time.ns() > 0) own.push_back({time.start_ns, time.end_ns, static_cast<std::uint32_t>(i)});
  }
  return own;
}

/// Adds the parts of streams' rows that no operation covers.
void add_own_of_streams(const std::vector<ReadRow>& rows, std::vector<OwnTime>& own) {
  const std::size_t operations = own.size();
  std::size_t next = 0;
  Attribution attribution;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].is_operation) continue;
    auto [from_ns, end_ns] = attribution.add(rows[i].work.start_ns, rows[i].work.end_ns);
    while (from_ns < end_ns) {
      while (next < operations && own[next].end_ns <= from_ns) ++next;
      const std::int64_t to_ns = next < operations ? std::min(end_ns, own[next].start_ns) : end_ns;
      if (to_ns > from_ns) own.push_back({from_ns, to_ns, static_cast<std::uint32_t>(i)});
      from_ns = next < operations ? std::max(to_ns, own[next].end_ns) : end_ns;
    }
  }
  const auto by_start = [](const OwnTime& a, const OwnTime& b) { return a.start_ns < b.start_ns; };
  const auto middle = own.begin() + static_cast<std::ptrdiff_t>(operations);
  std::inplace_merge(own.begin(), middle, own.end(), by_start);
}

/// Reads rows into DeviceWork, with their names and runs.
class RowReader {
 public:
  RowReader(const traces::Recording& recording,
            const std::unordered_map<traces::StringId, std::string>& strings)
      : strings_(strings), limits_(multiprocessor_limits(recording.meta)) {
    std::unordered_map<traces::RunId, std::uint32_t> runs;
    for (std::size_t i = 0; i < recording.runs.size(); ++i)
      runs.emplace(recording.runs[i].id, static_cast<std::uint32_t>(i));
    for (const traces::Request& request : recording.requests)
      if (const auto run = runs.find(request.run_id); run != runs.end())
        run_of_.emplace(request.id, run->second);
    for (const traces::Track& track : recording.tracks) {
      if (track.kind == "operations") operations_.insert(track.id);
      if (track.kind == "stream") streams_.insert(track.id);
    }
  }

  void add(const traces::Kernel& kernel) {
    const bool is_operation = operations_.contains(kernel.track_id);
    if (!is_operation && !streams_.contains(kernel.track_id)) return;
    const Names& names = names_of(kernel.short_name_id);
    DeviceWork work;
    work.start_ns = kernel.start_ns;
    work.end_ns = std::max(kernel.start_ns, kernel.end_ns);
    work.bytes = is_operation ? std::max<std::int64_t>(kernel.bytes, 0) : -1;
    work.round_id = kernel.round_id;
    work.operation = names.operation;
    work.kernel = names.kernel;
    if (const auto run = run_of_.find(kernel.request_id); run != run_of_.end()) work.run = run->second;
    work.launch = launch_number(kernel);
    work.layer = kernel.layer;
    work.phase = kernel.phase;
    if (const auto fits = limits_ ? occupancy_of(kernel, *limits_) : std::nullopt)
      work.warps = static_cast<std::uint8_t>(std::min(fits->warps, 255));
    rows_.push_back({work, kernel.span_id, kernel.graph_id, is_operation});
  }

  [[nodiscard]] std::vector<ReadRow>& rows() { return rows_; }
  [[nodiscard]] NameTable& names() { return names_; }
  [[nodiscard]] const std::optional<MultiprocessorLimits>& limits() const { return limits_; }
  [[nodiscard]] bool has_operations() const { return !operations_.empty(); }

 private:
  struct Names {
    std::uint32_t operation = 0;
    std::uint32_t kernel = 0;
  };
  const Names& names_of(traces::StringId id) {
    const auto [known, is_new] = known_.try_emplace(id);
    if (!is_new) return known->second;
    const auto text = strings_.find(id);
    const std::string name = text == strings_.end() ? "?" : short_kernel_name(text->second);
    known->second = {names_.add(operation_of_kernel(name)), names_.add(name)};
    return known->second;
  }

  const std::unordered_map<traces::StringId, std::string>& strings_;
  std::optional<MultiprocessorLimits> limits_;
  std::unordered_map<traces::RequestId, std::uint32_t> run_of_;
  std::unordered_set<traces::TrackId> operations_, streams_;
  std::unordered_map<traces::StringId, Names> known_;
  NameTable names_;
  std::vector<ReadRow> rows_;
};

/// Gives rows the bytes that follow from sizes, where kernels noted none.
BytesSource add_bytes(const traces::Recording& recording, RowReader& rows) {
  if (rows.has_operations()) return BytesSource::recorded;
  BytesBySizes sizes(recording);
  if (!sizes.is_known()) return BytesSource::none;
  std::unordered_map<std::uint32_t, std::optional<speculation::Operation>> operation_of;
  for (ReadRow& row : rows.rows()) {
    const auto [known, is_new] = operation_of.try_emplace(row.work.operation);
    if (is_new) known->second = speculation::operation_of_span(rows.names().at(row.work.operation));
    row.work.bytes = sizes.of_row(known->second, row.work, row.span_id, row.graph_id != 0);
  }
  return BytesSource::sizes;
}

}  // namespace

Result<DeviceTimeline> read_device_timeline(traces::Reader& reader, const traces::Recording& recording,
                                            const DeviceProgress& progress) {
  DRAFTSCOPE_TRY_ASSIGN(const auto strings, reader.strings());
  RowReader reading(recording, strings);
  std::int64_t read = 0;
  bool cancelled = false;
  DRAFTSCOPE_TRY(reader.kernels([&](const traces::Kernel& kernel) {
    if (++read % rows_per_question == 0 && progress) cancelled = !progress(read);
    reading.add(kernel);
    return !cancelled;
  }));
  if (cancelled) return fail("cancelled");
  std::vector<ReadRow>& rows = reading.rows();
  std::stable_sort(rows.begin(), rows.end(), [](const ReadRow& a, const ReadRow& b) {
    return std::tie(a.work.start_ns, a.work.end_ns) < std::tie(b.work.start_ns, b.work.end_ns);
  });
  DeviceTimeline timeline;
  timeline.bytes = add_bytes(recording, reading);
  timeline.timed_by_device = reading.has_operations();
  timeline.rate = read_rate(recording.meta);
  timeline.limits = reading.limits();
  timeline.own = own_of_operations(rows);
  add_own_of_streams(rows, timeline.own);
  timeline.work.reserve(rows.size());
  for (const ReadRow& row : rows) timeline.work.push_back(row.work);
  timeline.names = reading.names().take();
  return timeline;
}

}  // namespace draftscope::simulator

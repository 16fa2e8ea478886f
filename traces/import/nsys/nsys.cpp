// SPDX-License-Identifier: GPL-3.0-or-later
// Imports Nsight Systems' SQLite export: NVTX ranges become spans, and device activities become kernels.
// Ranges of the domain "draftscope" (profiler/nvtx_ranges.h) tell phases, rounds and layers; without them
// there is no request.
#include <fmt/ranges.h>
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "import/device_rows.h"
#include "import/formats.h"
#include "import/frames.h"
#include "import/intervals.h"
#include "import/nsys/nsys_database.h"
#include "storage/schema.h"

namespace draftscope::traces {
namespace {

constexpr std::int64_t push_pop_range = 59;
constexpr std::int64_t start_end_range = 60;
constexpr std::int64_t domain_create = 75;
// The id of a global thread has so many bits, below those of its process.
constexpr unsigned bits_of_thread = 24;

/// A table of device activities and the name of its rows.
enum class Activity : std::uint8_t { kernel, copy, set, graph, wait };
struct ActivityTable {
  std::string_view name;
  Activity activity;
};
constexpr std::array<ActivityTable, 5> activity_tables{
    {{"CUPTI_ACTIVITY_KIND_KERNEL", Activity::kernel},
     {"CUPTI_ACTIVITY_KIND_MEMCPY", Activity::copy},
     {"CUPTI_ACTIVITY_KIND_MEMSET", Activity::set},
     {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", Activity::graph},
     {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", Activity::wait}}};

/// CUPTI's CUpti_ActivityMemcpyKind.
std::string_view copy_name(std::int64_t kind) {
  constexpr std::array<std::string_view, 11> names{
      "[memcpy]",      "[memcpy HtoD]", "[memcpy DtoH]", "[memcpy HtoA]", "[memcpy AtoH]", "[memcpy AtoA]",
      "[memcpy AtoD]", "[memcpy DtoA]", "[memcpy DtoD]", "[memcpy HtoH]", "[memcpy PtoP]"};
  return kind >= 0 && kind < static_cast<std::int64_t>(names.size()) ? names[static_cast<std::size_t>(kind)]
                                                                     : names.front();
}

/// CUPTI's CUpti_ActivitySynchronizationType.
std::string_view wait_name(std::int64_t type) {
  constexpr std::array<std::string_view, 5> names{"[wait]", "[wait for event]", "[stream waits for event]",
                                                  "[wait for stream]", "[wait for context]"};
  return type >= 0 && type < static_cast<std::int64_t>(names.size()) ? names[static_cast<std::size_t>(type)]
                                                                     : names.front();
}

/// An outermost range of our domain.
struct PhaseRange {
  std::uint32_t lane;
  std::int64_t start_ns, end_ns;
  std::int64_t round;
  std::int8_t phase;
};

class NsysImport {
 public:
  NsysImport(const std::filesystem::path& file, NsysDatabase database, ImportContext& context)
      : target_(context.target),
        name_(file.string()),
        run_name_(run_name(file, context)),
        database_(std::move(database)) {}

  Result<void> run() {
    DRAFTSCOPE_TRY(find_tables());
    DRAFTSCOPE_TRY(read_strings());
    DRAFTSCOPE_TRY(read_domains());
    DRAFTSCOPE_TRY(read_ranges());
    derive_frames();
    DRAFTSCOPE_TRY(frames_.assign(target_.writer(), name_));
    tag_ranges();
    DRAFTSCOPE_TRY(ranges_.place(target_.writer(), name_, lane_names_));
    leave_only_layers();
    frames_.write(target_, ranges_);
    ranges_.write(target_);
    DRAFTSCOPE_TRY(read_launches());
    for (const ActivityTable& table : activity_tables) DRAFTSCOPE_TRY(read_activities(table));
    DRAFTSCOPE_TRY(read_calls());
    DRAFTSCOPE_TRY(read_limits());
    DRAFTSCOPE_TRY(remark_on_rows());
    if (target_.counts().kernels == 0 && ranges_.size() == 0)
      return fail(
          "{}: has neither NVTX ranges nor device activities{}, expected Nsight Systems' SQLite export",
          name_, unread_.empty() ? "" : fmt::format(" (times that are not read are in {})", unread_));
    return {};
  }

 private:
  /// Finds the newest version of each table, and counts their rows.
  Result<void> find_tables() {
    DRAFTSCOPE_TRY_ASSIGN(const std::string schema, database_.schema_version());
    if (!schema.empty()) target_.writer().set_meta("nsys_schema", schema);
    std::vector<std::string_view> names{"StringIds", "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME",
                                        "TARGET_INFO_GPU"};
    for (const ActivityTable& table : activity_tables) names.push_back(table.name);
    for (const std::string_view name : names) {
      DRAFTSCOPE_TRY_ASSIGN(tables_[name], database_.newest(name));
    }
    // Domains are read before ranges, and launches before the rows of their calls.
    std::vector<std::string_view> visited{tables_["NVTX_EVENTS"], tables_["CUPTI_ACTIVITY_KIND_RUNTIME"]};
    for (const auto& [name, table] : tables_) visited.push_back(table);
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t rows, database_.count(visited));
    database_.expect_rows(rows);
    return {};
  }

  /// Says what was passed over, and whether the file holds device activities.
  Result<void> remark_on_rows() {
    std::set<std::string> read;
    for (const auto& [name, table] : tables_) read.insert(table);
    DRAFTSCOPE_TRY_ASSIGN(const auto others, database_.other_timelines(read));
    bool has_unread_activity = false;
    for (const std::string& table : others) {
      DRAFTSCOPE_TRY_ASSIGN(const bool is_activity, database_.has_column(table, "streamId"));
      has_unread_activity = has_unread_activity || is_activity;
    }
    if (target_.counts().kernels == 0 && !has_unread_activity) target_.note(MissingData::device);
    constexpr std::size_t max_names = 12;
    const std::vector<std::string> named(
        others.begin(), others.begin() + static_cast<std::ptrdiff_t>(std::min(others.size(), max_names)));
    unread_ = fmt::format("{}{}", fmt::join(named, ", "), named.size() < others.size() ? " and others" : "");
    if (!others.empty())
      target_.remark(fmt::format("{}: holds times that are not read, in {}", name_, unread_));
    if (const LeftOut& left_out = database_.left_out(); left_out.count > 0)
      target_.remark(fmt::format("passed over {} rows, the first: {}", left_out.count, left_out.first));
    if (cut_ > 0)
      target_.remark(fmt::format("{}: {} rows began before its zero and were cut to it", name_, cut_));
    if (early_ > 0)
      target_.remark(fmt::format("{}: {} rows ended before its zero and were left out", name_, early_));
    if (nameless_ > 0)
      target_.remark(
          fmt::format("{}: {} names of kernels are not in its StringIds, so these are called "
                      "[kernel]",
                      name_, nameless_));
    return {};
  }

  /// Reads the times of a row; false, with its problem, if it ends before it starts, and without one if it
  /// ends before 0. A start before 0 is cut to it.
  bool read_times(NsysRow& row, int start_column, int end_column, std::int64_t& start_ns,
                  std::int64_t& end_ns) {
    start_ns = row.integer(start_column, 0, -max_ns, max_ns);
    end_ns = row.integer(end_column, start_ns, -max_ns, max_ns);
    if (end_ns < start_ns)
      row.refuse(fmt::format("end is {}, expected at least its start ({})", end_ns, start_ns));
    if (!row.problem().empty()) return false;
    if (end_ns < 0) {
      ++early_;
      return false;
    }
    if (start_ns < 0) ++cut_;
    start_ns = std::max<std::int64_t>(start_ns, 0);
    return true;
  }

  Result<void> read_strings() {
    return database_.rows(tables_["StringIds"], {"id", "value"}, {}, [&](NsysRow& row) {
      const std::int64_t id = row.integer(0);
      strings_.try_emplace(id, row.text(1));
    });
  }

  /// The text itself, or the one that the id refers to.
  std::string text_of(std::string_view text, std::int64_t id) const {
    if (!text.empty()) return std::string(text);
    const auto found = strings_.find(id);
    return found != strings_.end() ? found->second : std::string();
  }

  Result<void> read_domains() {
    return database_.rows(
        tables_["NVTX_EVENTS"], {"start", "eventType"}, {"text", "textId", "domainId", "globalTid"},
        [&](NsysRow& row) {
          if (row.integer(1) != domain_create) return;
          const std::int64_t domain = row.integer(4);
          const std::int64_t thread = row.integer(5);
          domains_[{thread >> bits_of_thread, domain}] = text_of(row.text(2), row.integer(3, -1));
        });
  }

  std::uint32_t lane_of(std::int64_t thread, std::int64_t domain, bool is_stack, bool is_ours) {
    const auto [entry, is_new] = lanes_.try_emplace({thread, domain, is_stack}, lane_names_.size());
    const auto lane = static_cast<std::uint32_t>(entry->second);
    if (!is_new) return lane;
    std::string name = fmt::format("process {}, thread {}", thread >> bits_of_thread,
                                   thread & ((std::int64_t{1} << bits_of_thread) - 1));
    if (const auto found = domains_.find({thread >> bits_of_thread, domain}); found != domains_.end())
      name += ", " + found->second;
    lane_names_.push_back(is_stack ? name : name + ", ranges");
    std::vector<std::uint32_t>& of_thread = lanes_of_thread_[thread];
    // Our own ranges tell more than those of others around them.
    of_thread.insert(is_ours ? of_thread.begin() : of_thread.end(), lane);
    return lane;
  }

  Result<void> read_ranges() {
    return database_.rows(
        tables_["NVTX_EVENTS"], {"start", "eventType"},
        {"end", "text", "textId", "globalTid", "domainId", "category", "int64Value", "uint64Value"},
        [&](NsysRow& row) {
          const std::int64_t type = row.integer(1);
          if (type != push_pop_range && type != start_end_range) return;
          if (row.is_null(2)) return;  // The range was still open when the profiler stopped.
          Interval range;
          if (!read_times(row, 0, 2, range.start_ns, range.end_ns)) return;
          const std::string text = text_of(row.text(3), row.integer(4, -1));
          const std::int64_t thread = row.integer(5);
          const std::int64_t domain = row.integer(6);
          const auto found = domains_.find({thread >> bits_of_thread, domain});
          const bool is_ours = found != domains_.end() && found->second == "draftscope";
          range.lane = lane_of(thread, domain, type == push_pop_range, is_ours);
          range.name_id = name_id(text);
          range.phase = phase_named(text);
          if (is_ours) {
            const std::int64_t category = row.integer(7);  // phase + 1
            if (category >= 1 && category <= static_cast<std::int64_t>(Phase::idle))
              range.phase = static_cast<std::int8_t>(category - 1);
            range.round_id = RoundId::from(row.integer(8, row.integer(9)));
            our_lanes_.insert(range.lane);
          }
          if (row.problem().empty()) ranges_.add(range);
        });
  }

  std::uint32_t name_id(std::string_view text) {
    return static_cast<std::uint32_t>(target_.writer().intern(text).value());
  }

  std::vector<PhaseRange> outermost_of_ours() {
    std::vector<PhaseRange> all;
    for (const Interval& row : ranges_.rows())
      if (our_lanes_.contains(row.lane))
        all.push_back({row.lane, row.start_ns, row.end_ns, row.round_id.value(), row.phase});
    std::sort(all.begin(), all.end(), [](const PhaseRange& a, const PhaseRange& b) {
      return std::tie(a.lane, a.start_ns, b.end_ns) < std::tie(b.lane, b.start_ns, a.end_ns);
    });
    std::vector<PhaseRange> outermost;
    for (const PhaseRange& range : all)
      if (outermost.empty() || outermost.back().lane != range.lane ||
          outermost.back().end_ns <= range.start_ns)
        outermost.push_back(range);
    return outermost;
  }

  /// Derives requests and rounds. A prefill begins a request, which lasts until the next one's; the phases of
  /// a round have its number.
  void derive_frames() {
    constexpr auto prefill = static_cast<std::int8_t>(Phase::prefill);
    RequestFrame request;
    RoundFrame round;
    const auto end_round = [&] {
      if (round.number != 0) frames_.add(round);
      round = {};
    };
    const auto end_request = [&] {
      end_round();
      if (request.end_ns > 0) frames_.add(request);
      request = {};
    };
    std::int8_t phase_before = no_phase;
    std::uint32_t lane_before = 0;
    std::int64_t requests = 0;
    for (const PhaseRange& range : outermost_of_ours()) {
      const bool is_first = request.end_ns == 0 || range.lane != lane_before;
      if (is_first || (range.phase == prefill && phase_before != prefill)) {
        end_request();
        request.lane = range.lane;
        request.start_ns = range.start_ns;
        request.specification = run_name_.specification;
        request.question_id = ++requests;
      }
      if (range.round != round.number) end_round();
      if (range.round > 0) {
        if (round.number == 0) {
          round.number = range.round;
          round.lane = range.lane;
          round.start_ns = range.start_ns;
        }
        round.end_ns = range.end_ns;
      }
      request.end_ns = std::max(range.end_ns, std::int64_t{1});
      phase_before = range.phase;
      lane_before = range.lane;
    }
    end_request();
  }

  void tag_ranges() {
    for (Interval& row : ranges_.rows()) {
      const FrameRows rows = frames_.holding(row.lane, row.start_ns, row.end_ns);
      const std::int64_t number = row.round_id.value();
      if (our_lanes_.contains(row.lane) && number >= 0 && number <= max_layer)
        row.layer = static_cast<std::int16_t>(number);
      row.request_id = rows.request_id;
      row.round_id = rows.round_id;
    }
  }

  /// Removes round numbers from `layer`. In our ranges named "layer" and those inside, the number is a
  /// layer's; in others it is the round's.
  void leave_only_layers() {
    const std::uint32_t layer = name_id("layer");
    std::vector<bool> has_layer(ranges_.size(), false);
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      Interval& row = ranges_.rows()[i];
      const std::int64_t parent = ranges_.placed()[i].parent_index;
      has_layer[i] = row.name_id == layer || (parent >= 0 && has_layer[static_cast<std::size_t>(parent)]);
      if (!has_layer[i]) row.layer = -1;
    }
  }

  Result<void> read_launches() {
    DRAFTSCOPE_TRY(database_.rows(
        tables_["CUPTI_ACTIVITY_KIND_RUNTIME"], {"start", "correlationId", "globalTid"}, {},
        [&](NsysRow& row) {
          const std::int64_t start_ns = std::max<std::int64_t>(row.integer(0, 0, -max_ns, max_ns), 0);
          const auto number = row.count<std::uint32_t>(1);
          const std::int64_t thread = row.integer(2);
          const auto lanes = lanes_of_thread_.find(thread);
          if (lanes == lanes_of_thread_.end() || !row.problem().empty()) return;
          for (const std::uint32_t lane : lanes->second)
            if (const auto range = ranges_.innermost(lane, start_ns)) {
              launches_.add(process_of(thread), number, static_cast<std::uint32_t>(*range));
              return;
            }
        }));
    launches_.sort();
    return {};
  }

  std::uint32_t process_of(std::int64_t thread) {
    return static_cast<std::uint32_t>(
        processes_.try_emplace(thread >> bits_of_thread, processes_.size()).first->second);
  }

  TrackId track_of(std::int64_t process, std::int64_t device, std::int64_t stream, std::string_view kind) {
    const auto [entry, is_new] = tracks_.try_emplace({process >> bits_of_thread, device, stream, kind});
    if (is_new)
      entry->second = target_.writer().add(Track{
          0, std::string(kind),
          kind == "calls" ? std::string("CUDA calls") : fmt::format("device {}, stream {}", device, stream),
          0, static_cast<std::int32_t>(tracks_.size())});
    return entry->second;
  }

  std::string name_of(Activity activity, NsysRow& row) const {
    switch (activity) {
      case Activity::kernel: {
        std::string text = text_of({}, row.integer(6, -1));
        if (text.empty()) text = text_of({}, row.integer(7, -1));
        return text.empty() ? "[kernel]" : text;
      }
      case Activity::copy:
        return std::string(copy_name(row.integer(8)));
      case Activity::set:
        return "[memset]";
      case Activity::graph:
        return "[graph]";
      case Activity::wait:
        return std::string(wait_name(row.integer(9)));
    }
    return "[activity]";
  }

  Result<void> read_activities(const ActivityTable& table) {
    return database_.rows(
        tables_[table.name], {"start", "end", "streamId", "correlationId"},
        {"deviceId", "globalPid", "shortName", "demangledName", "copyKind", "syncType", "graphId",
         "graphNodeId", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread",
         "staticSharedMemory", "dynamicSharedMemory"},
        [&](NsysRow& row) {
          Kernel kernel;
          if (!read_times(row, 0, 1, kernel.start_ns, kernel.end_ns)) return;
          kernel.stream_id = row.count<std::uint32_t>(2);
          kernel.correlation_id = row.count<std::uint32_t>(3);
          const std::int64_t device = row.count<std::int32_t>(4);
          const std::int64_t process = row.integer(5);
          const std::string name = name_of(table.activity, row);
          kernel.graph_id = row.count<std::uint32_t>(10);
          kernel.graph_node_id = static_cast<std::uint64_t>(row.integer(11));
          int column = 12;
          for (std::int32_t* const size : {&kernel.grid_x, &kernel.grid_y, &kernel.grid_z, &kernel.block_x,
                                           &kernel.block_y, &kernel.block_z, &kernel.registers_per_thread})
            *size = row.count<std::int32_t>(column++);
          if (kernel.registers_per_thread > 0) {
            kernel.static_shared_bytes = row.count<std::int32_t>(19);
            kernel.dynamic_shared_bytes = row.count<std::int32_t>(20);
          }
          if (!row.problem().empty()) return;
          kernel.id = target_.writer().next_kernel_id();
          kernel.track_id = track_of(process, device, kernel.stream_id, device_track_kind(name));
          kernel.short_name_id = target_.writer().intern(name);
          attribute(kernel, process);
          if (kernel.correlation_id != 0) worked_.emplace_back(process_of(process), kernel.correlation_id);
          if (name == "[kernel]") ++nameless_;
          target_.add(kernel);
        });
  }

  /// Adds the calls inside ranges that something on the device belongs to. A name has no version: that of
  /// "cudaLaunchKernel_v7000" is "[cudaLaunchKernel]".
  Result<void> read_calls() {
    std::sort(worked_.begin(), worked_.end());
    return database_.rows(tables_["CUPTI_ACTIVITY_KIND_RUNTIME"], {"start", "correlationId", "globalTid"},
                          {"end", "nameId"}, [&](NsysRow& row) {
                            Kernel call;
                            if (row.is_null(3) || !read_times(row, 0, 3, call.start_ns, call.end_ns)) return;
                            call.correlation_id = row.count<std::uint32_t>(1);
                            const std::int64_t process = row.integer(2);
                            const std::string name = text_of({}, row.integer(4, -1));
                            if (!row.problem().empty() || !name.starts_with("cu") ||
                                !std::binary_search(worked_.begin(), worked_.end(),
                                                    std::pair(process_of(process), call.correlation_id)))
                              return;
                            attribute(call, process);
                            if (call.span_id.is_none()) return;
                            call.id = target_.writer().next_kernel_id();
                            call.track_id = track_of(process, 0, 0, "calls");
                            call.short_name_id =
                                target_.writer().intern(fmt::format("[{}]", name.substr(0, name.find('_'))));
                            target_.add(call);
                          });
  }

  /// Notes what a multiprocessor of the first GPU has.
  Result<void> read_limits() {
    bool is_noted = false;
    return database_.rows(
        tables_["TARGET_INFO_GPU"], {},
        {"computeMajor", "computeMinor", "smCount", "maxWarpsPerSm", "maxBlocksPerSm", "maxRegistersPerSm",
         "maxShmemPerSm"},
        [&](NsysRow& row) {
          std::array<std::int64_t, 7> number{};
          for (int column = 0; column < 7; ++column)
            number[static_cast<std::size_t>(column)] = row.count<std::int32_t>(column);
          if (std::exchange(is_noted, true) || !row.problem().empty() || number[0] == 0) return;
          target_.writer().set_meta(
              "device_limits",
              fmt::format(R"({{"compute_capability":"{}.{}","multiprocessors":{},"max_warps":{},)"
                          R"("max_blocks":{},"max_registers":{},"max_shared_bytes":{}}})",
                          number[0], number[1], number[2], number[3], number[4], number[5], number[6]));
        });
  }

  void attribute(Kernel& kernel, std::int64_t process) {
    const auto launch = launches_.find(process_of(process), kernel.correlation_id);
    if (!launch) return;
    const Interval& range = ranges_.rows()[*launch];
    kernel.span_id = ranges_.span_id(*launch);
    kernel.request_id = range.request_id;
    kernel.round_id = range.round_id;
    kernel.layer = range.layer;
    kernel.phase = ranges_.placed()[*launch].phase;
  }

  PacedTrace& target_;
  std::string name_;
  RunName run_name_;
  NsysDatabase database_;
  std::string unread_;                                     ///< Names of tables with times that are not read.
  std::map<std::string_view, std::string> tables_;         // name → its newest version
  std::int64_t cut_ = 0;                                   // Rows that began before 0.
  std::int64_t early_ = 0;                                 // Rows that ended before 0.
  std::int64_t nameless_ = 0;                              // Kernels without a name.
  std::unordered_map<std::int64_t, std::string> strings_;  // strings of the file
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> domains_;  // (process, domain) → name
  std::map<std::tuple<std::int64_t, std::int64_t, bool>, std::size_t> lanes_;
  std::unordered_map<std::int64_t, std::vector<std::uint32_t>> lanes_of_thread_;
  std::vector<std::string> lane_names_;
  std::set<std::uint32_t> our_lanes_;
  Intervals ranges_;
  Frames frames_;
  Launches launches_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      worked_;  // (process, correlation) of device activities
  std::map<std::int64_t, std::size_t> processes_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string_view>, TrackId> tracks_;
};

Result<void> import_nsys(const std::filesystem::path& file, ImportContext& context) {
  DRAFTSCOPE_TRY_ASSIGN(NsysDatabase database,
                        NsysDatabase::open(file, context.progress, context.options.partial));
  NsysImport import(file, std::move(database), context);
  return import.run();
}

int nsys_sureness(const FileHead& head) {
  return head.text().starts_with(std::string_view("SQLite format 3\0", 16)) ? 100 : 0;
}

}  // namespace

FormatRow format_of_nsys() {
  return {"nsys", "SQLite export of Nsight Systems", import_nsys, nsys_sureness, true};
}

}  // namespace draftscope::traces

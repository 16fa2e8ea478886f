// SPDX-License-Identifier: GPL-3.0-or-later
// Imports Chrome traces: of PyTorch's profiler, and any other file with complete events or pairs of begin and
// end. Times count from the file's own zero.
#include <draftscope/base/quote.h>

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

#include "foreign/json_fields.h"
#include "import/chrome/chrome_events.h"
#include "import/device_rows.h"
#include "import/formats.h"
#include "import/frames.h"
#include "import/intervals.h"
#include "storage/schema.h"

namespace draftscope::traces {
namespace {

constexpr std::int64_t max_id = std::numeric_limits<std::int64_t>::max();

struct Thread {
  std::uint32_t lane = 0;
  std::uint32_t process = 0;
  std::string name;               ///< "1/2" until the file gives a name.
  std::vector<ChromeEvent> open;  ///< Each "B" that waits for its "E".
  TrackId device_track_id;
  bool has_device_activity = false;
};

struct DeviceEvent {
  std::int64_t start_ns, end_ns;
  std::int64_t round;    ///< The file's round number; 0 = none.
  std::uint32_t name;    ///< Id in `strings`.
  std::uint32_t thread;  ///< Index of the thread.
  std::uint32_t launch;  ///< Number shared with the launch; 0 = none.
  std::uint32_t stream;
  std::int16_t layer;
  std::int8_t phase;
  std::array<std::int32_t, 3> grid, block;
};

template <typename Enumeration, typename Name>
Enumeration enumeration_named(const ChromeEvent& event, std::string_view key, int count, Name name,
                              Enumeration otherwise) {
  const ChromeArgument* const found = event.argument(key);
  for (int i = 0; found != nullptr && i < count; ++i)
    if (name(static_cast<Enumeration>(i)) == found->text) return static_cast<Enumeration>(i);
  return otherwise;
}

bool is_request(const ChromeEvent& event) {
  return event.category == "request" || event.name == "request";
}

bool is_device_event(const ChromeEvent& event) {
  constexpr std::array<std::string_view, 5> categories{"kernel", "Kernel", "gpu_memcpy", "gpu_memset",
                                                       "cuda_kernel"};
  if (std::ranges::find(categories, event.category) != categories.end()) return true;
  // Draftscope before 0.3 exported such traces, with the phase as a kernel's category.
  return event.argument("kernel") != nullptr && event.argument("correlation_id") != nullptr;
}

class ChromeImport {
 public:
  ChromeImport(const std::filesystem::path& file, ImportContext& context)
      : target_(context.target),
        file_(file.string()),
        run_name_(run_name(file, context)),
        is_partial_(context.options.partial) {}

  Result<void> take(const ChromeEvent& event) {
    // commit() tells the reason.
    if (target_.writer().failed()) return fail("{}: the trace can't be written", file_);
    auto taken = event.problem.empty() ? take_row(event) : fail("{}", event.problem);
    if (taken) return taken;
    if (!is_partial_) return fail("{}{}", taken.error().message, partial_hint);
    left_out_.add(std::move(taken).error().message);
    return {};
  }

  Result<void> finish() {
    DRAFTSCOPE_TRY(end_open_ranges());
    if (rows_ == 0)
      return fail("{}: has no event with a time, expected complete events or pairs of B and E", file_);
    if (cut_ > 0)
      target_.remark(fmt::format("{}: {} events began before its zero and were cut to it", file_, cut_));
    if (early_ > 0)
      target_.remark(fmt::format("{}: {} events ended before its zero and were left out", file_, early_));
    for (const Thread& thread : threads_) names_of_lanes_[thread.lane] = thread.name;
    DRAFTSCOPE_TRY(frames_.assign(target_.writer(), file_, is_partial_ ? &left_out_ : nullptr));
    if (left_out_.count > 0)
      target_.remark(fmt::format("passed over {} events, the first: {}", left_out_.count, left_out_.first));
    for (Interval& row : intervals_.rows()) tag(row);
    DRAFTSCOPE_TRY(intervals_.place(target_.writer(), file_, names_of_lanes_));
    frames_.write(target_, intervals_);
    intervals_.write(target_);
    write_device();
    if (device_.empty()) target_.note(MissingData::device);
    return {};
  }

 private:
  static constexpr std::string_view partial_hint = " (--partial passes over it)";

  Result<void> take_row(const ChromeEvent& event) {
    if (!event.start_ns && (event.phase == "X" || event.phase == "B" || event.phase == "C"))
      return without(event, "ts");
    if (event.phase == "X") return take_complete(event);
    if (event.phase == "B") return take_begin(event);
    if (event.phase == "E") return take_end(event);
    if (event.phase == "C") return take_counter(event);
    if (event.phase == "M") return take_name(event);
    return {};  // Instants, flows, objects, … are no rows of a trace.
  }

  /// Ends what never ended: a request with the file, as cancelled; other ranges are bad events.
  Result<void> end_open_ranges() {
    for (Thread& thread : threads_) {
      for (const ChromeEvent& open : std::exchange(thread.open, {})) {
        const Error error{
            fmt::format("{}: event {} (\"{}\") begins and never ends, expected an E for every B", file_,
                        open.index, excerpt(open.name))};
        if (!is_partial_) return fail("{}{}", error.message, partial_hint);
        left_out_.add(error.message);
        if (!is_request(open)) continue;
        ChromeEvent request = open;
        request.arguments.push_back({"stop", {}, {}, std::string(request_stop_name(RequestStop::cancelled))});
        if (auto taken = take_range(request, *open.start_ns, std::max(last_ns_, *open.start_ns)); !taken)
          left_out_.add(taken.error().message);
      }
    }
    return {};
  }

  Thread& thread_of(const ChromeEvent& event) {
    std::string key = event.process + "/" + event.thread;
    const auto [entry, is_new] = thread_index_.try_emplace(key, threads_.size());
    if (is_new) {
      Thread thread;
      thread.lane = static_cast<std::uint32_t>(threads_.size());
      thread.process = static_cast<std::uint32_t>(
          process_index_.try_emplace(event.process, process_index_.size()).first->second);
      thread.name = std::move(key);
      threads_.push_back(std::move(thread));
      names_of_lanes_.emplace_back();
    }
    return threads_[entry->second];
  }

  std::uint32_t name_id(const std::string& text) {
    return static_cast<std::uint32_t>(target_.writer().intern(text).value());
  }

  [[nodiscard]] tl::unexpected<Error> without(const ChromeEvent& event, std::string_view field) const {
    return fail("{}: event {} (\"{}\") has no {}, expected microseconds", file_, event.index,
                excerpt(event.name), field);
  }

  Result<void> take_complete(const ChromeEvent& event) {
    if (!event.length_ns) return without(event, "dur");
    if (*event.start_ns > max_ns - *event.length_ns)
      return fail("{}: event {} (\"{}\") ends late, expected at most 2^62 ns", file_, event.index,
                  excerpt(event.name));
    return take_range(event, *event.start_ns, *event.start_ns + *event.length_ns);
  }

  Result<void> take_begin(const ChromeEvent& event) {
    constexpr std::size_t max_open = 256;
    Thread& thread = thread_of(event);
    if (thread.open.size() == max_open)
      return fail("{}: event {} (\"{}\") is inside of {} others, expected an E for every B", file_,
                  event.index, excerpt(event.name), max_open);
    thread.open.push_back(event);
    return {};
  }

  Result<void> take_end(const ChromeEvent& event) {
    if (!event.start_ns) return fail("{}: event {} has no ts, expected microseconds", file_, event.index);
    Thread& thread = thread_of(event);
    if (thread.open.empty())
      return fail("{}: event {} ends what never began on thread {}, expected a B before it", file_,
                  event.index, excerpt(thread.name));
    const ChromeEvent open = std::move(thread.open.back());
    thread.open.pop_back();
    if (!event.name.empty() && event.name != open.name)
      return fail("{}: event {} ends \"{}\", expected the end of \"{}\"", file_, event.index,
                  excerpt(event.name), excerpt(open.name));
    if (*event.start_ns < *open.start_ns)
      return fail("{}: event {} ends \"{}\" at {} ns, expected at least its start ({} ns)", file_,
                  event.index, excerpt(open.name), *event.start_ns, *open.start_ns);
    return take_range(open, *open.start_ns, *event.start_ns);
  }

  Result<void> take_range(const ChromeEvent& event, std::int64_t start_ns, std::int64_t end_ns) {
    if (end_ns < 0) {
      ++early_;
      return {};
    }
    if (start_ns < 0) ++cut_;
    start_ns = std::max<std::int64_t>(start_ns, 0);
    last_ns_ = std::max(last_ns_, end_ns);
    ++rows_;
    // The device's view of a host range is a duplicate.
    if (event.category == "gpu_user_annotation") return {};
    if (is_device_event(event)) return take_device(event, start_ns, end_ns);
    if (is_request(event)) return take_request(event, start_ns, end_ns);
    if (event.category == "round" || event.name == "round") return take_round(event, start_ns, end_ns);
    Interval row;
    row.start_ns = start_ns;
    row.end_ns = end_ns;
    row.lane = thread_of(event).lane;
    row.name_id = name_id(event.name);
    row.layer = static_cast<std::int16_t>(event.integer("layer", 0, max_layer).value_or(-1));
    row.phase = phase_named(event.category);
    if (row.phase == no_phase) row.phase = phase_named(event.name);
    row.round_id = RoundId::from(event.integer("round", 1, max_id).value_or(0));
    const std::uint32_t range = intervals_.add(row);
    if (const auto launch = event.integer("correlation", 1, std::numeric_limits<std::uint32_t>::max()))
      launches_.add(threads_[row.lane].process, static_cast<std::uint32_t>(*launch), range);
    return {};
  }

  Result<void> take_device(const ChromeEvent& event, std::int64_t start_ns, std::int64_t end_ns) {
    constexpr std::int64_t max_uint32 = std::numeric_limits<std::uint32_t>::max();
    Thread& thread = thread_of(event);
    DeviceEvent row{};
    row.start_ns = start_ns;
    row.end_ns = end_ns;
    row.round = event.integer("round", 1, max_id).value_or(0);
    row.name = name_id(event.name);
    row.thread = thread.lane;
    row.launch = static_cast<std::uint32_t>(event.integer("correlation", 1, max_uint32).value_or(0));
    row.stream = static_cast<std::uint32_t>(event.integer("stream", 0, max_uint32).value_or(0));
    row.layer = static_cast<std::int16_t>(event.integer("layer", 0, max_layer).value_or(-1));
    row.phase = phase_named(event.category);
    row.grid = event.grid;
    row.block = event.block;
    if (!thread.has_device_activity) {
      thread.has_device_activity = true;  // its name may still follow
      device_kinds_[thread.lane] = device_track_kind(event.name);
    }
    device_.push_back(row);
    return {};
  }

  Result<void> take_request(const ChromeEvent& event, std::int64_t start_ns, std::int64_t end_ns) {
    RequestFrame frame;
    frame.start_ns = start_ns;
    frame.end_ns = end_ns;
    frame.lane = thread_of(event).lane;
    frame.specification =
        event.name == "request" || event.name.empty() ? run_name_.specification : event.name;
    frame.question_id = event.integer("prompt", 0, max_id).value_or(0);
    frame.repeat = static_cast<std::int32_t>(
        event.integer("repeat", 0, std::numeric_limits<std::int32_t>::max()).value_or(0));
    if (event.argument("tokens") != nullptr) {
      const auto tokens = event.integer("tokens", 0, max_answer_tokens);
      if (!tokens) return wrong_count(event, "tokens", max_answer_tokens);
      frame.n_tokens = *tokens;
    }
    frame.stop = enumeration_named(event, "stop", 6, request_stop_name, RequestStop::length);
    frames_.add(std::move(frame));
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> wrong_count(const ChromeEvent& event, std::string_view key,
                                                  std::int64_t most, std::int64_t least = 0) const {
    const ChromeArgument* const found = event.argument(key);
    const std::string said = found == nullptr ? "missing"
                             : found->integer ? std::to_string(*found->integer)
                             : found->number  ? fmt::format("{}", *found->number)
                                              : quote(found->text);
    return fail("{}: event {} (\"{}\"): {} is {}, expected an integer from {} to {}", file_, event.index,
                excerpt(event.name), key, said, least, most);
  }

  Result<void> take_round(const ChromeEvent& event, std::int64_t start_ns, std::int64_t end_ns) {
    RoundFrame frame;
    frame.start_ns = start_ns;
    frame.end_ns = end_ns;
    frame.lane = thread_of(event).lane;
    frame.number = event.integer("round", 1, max_id).value_or(0);
    struct Count {
      std::string_view key;
      std::int32_t& value;
    };
    std::array<Count, 4> counts{{{"planned", frame.planned},
                                 {"drafted", frame.drafted},
                                 {"accepted", frame.accepted},
                                 {"emitted", frame.emitted}}};
    frame.has_lengths = event.argument("accepted") != nullptr;
    for (const Count& count : counts) {
      if (!frame.has_lengths) break;
      const auto value = event.integer(count.key, 0, max_draft_tokens + 1);
      if (!value) return wrong_count(event, count.key, max_draft_tokens + 1);
      count.value = static_cast<std::int32_t>(*value);
    }
    if (frame.accepted > std::min(frame.drafted, frame.planned) || frame.emitted > frame.accepted + 1)
      return fail(
          "{}: event {} (a round): {} planned, {} drafted, {} accepted, {} emitted tokens, expected none "
          "more "
          "than the one before, but one more emitted than accepted",
          file_, event.index, frame.planned, frame.drafted, frame.accepted, frame.emitted);
    const std::int32_t deepest = std::min(frame.drafted, frame.planned);
    frame.tree_depth = deepest;
    if (frame.has_lengths && event.argument("tree_depth") != nullptr) {
      const std::int32_t least = std::max(frame.accepted, std::min(frame.drafted, 1));
      const auto depth = event.integer("tree_depth", least, deepest);
      if (!depth) return wrong_count(event, "tree_depth", deepest, least);
      frame.tree_depth = static_cast<std::int32_t>(*depth);
    }
    frame.exit_layer = static_cast<std::int32_t>(event.integer("exit_layer", 0, max_layer).value_or(0));
    frame.draft_stop = enumeration_named(event, "draft_stop", 5, draft_stop_name,
                                         frame.drafted > 0 ? DraftStop::length : DraftStop::no_draft);
    frames_.add(frame);
    return {};
  }

  Result<void> take_counter(const ChromeEvent& event) {
    if (*event.start_ns < 0) ++cut_;
    ++rows_;
    for (const ChromeArgument& argument : event.arguments) {
      if (!argument.number) continue;
      const std::string name = argument.key == "value" ? event.name : event.name + ", " + argument.key;
      const auto [track, is_new] = counter_tracks_.try_emplace(name);
      if (is_new) track->second = target_.writer().add(Track{0, "counter", name, 0, 0});
      target_.add(Counter{track->second, std::max<std::int64_t>(*event.start_ns, 0), *argument.number});
    }
    return {};
  }

  Result<void> take_name(const ChromeEvent& event) {
    const ChromeArgument* const name = event.argument("name");
    if (event.name == "thread_name" && name != nullptr && !name->text.empty())
      thread_of(event).name = name->text;
    return {};
  }

  /// Assigns the row of the file's round, or the request and round that contain the range in time.
  void tag(Interval& row) const {
    FrameRows rows = row.round_id.is_none() ? FrameRows{} : frames_.round_with_number(row.round_id.value());
    if (rows.request_id.is_none()) rows = frames_.holding(row.lane, row.start_ns, row.end_ns);
    row.request_id = rows.request_id;
    row.round_id = rows.round_id;
  }

  void write_device() {
    launches_.sort();
    std::vector<std::uint32_t> index_of(intervals_.size());  // by order of adding
    for (std::size_t i = 0; i < intervals_.size(); ++i)
      index_of[intervals_.rows()[i].order] = static_cast<std::uint32_t>(i);
    for (Thread& thread : threads_)
      if (thread.has_device_activity)
        thread.device_track_id =
            target_.writer().add(Track{0, std::string(device_kinds_.at(thread.lane)), thread.name, 0,
                                       static_cast<std::int32_t>(thread.lane)});
    for (const DeviceEvent& event : device_) {
      Kernel row;
      row.id = target_.writer().next_kernel_id();
      row.track_id = threads_[event.thread].device_track_id;
      row.start_ns = event.start_ns;
      row.end_ns = event.end_ns;
      row.short_name_id = StringId::from(event.name);
      row.layer = event.layer;
      row.stream_id = event.stream;
      row.correlation_id = event.launch;
      row.grid_x = event.grid[0];
      row.grid_y = event.grid[1];
      row.grid_z = event.grid[2];
      row.block_x = event.block[0];
      row.block_y = event.block[1];
      row.block_z = event.block[2];
      const FrameRows round = event.round != 0 ? frames_.round_with_number(event.round) : FrameRows{};
      row.request_id = round.request_id;
      row.round_id = round.round_id;
      if (const auto launch = event.launch != 0 ? find_launch(event) : std::nullopt) {
        const std::size_t index = index_of[*launch];
        const Interval& range = intervals_.rows()[index];
        row.span_id = intervals_.span_id(index);
        row.phase = intervals_.placed()[index].phase;
        if (row.request_id == 0 && !range.is_outer) {
          row.request_id = range.request_id;
          row.round_id = range.round_id;
        }
        if (row.layer < 0) row.layer = range.layer;
      }
      if (event.phase != no_phase) row.phase = static_cast<Phase>(event.phase);
      target_.add(row);
    }
  }

  /// Finds the launch of a device event. A device's events may have a process of their own, and their numbers
  /// then belong to any other process.
  [[nodiscard]] std::optional<std::uint32_t> find_launch(const DeviceEvent& event) const {
    const auto same = launches_.find(threads_[event.thread].process, event.launch);
    if (same) return same;
    for (std::uint32_t process = 0; process < process_index_.size() && process < 64; ++process)
      if (const auto found = launches_.find(process, event.launch)) return found;
    return std::nullopt;
  }

  PacedTrace& target_;
  std::string file_;
  RunName run_name_;
  std::vector<Thread> threads_;
  std::vector<std::string> names_of_lanes_;
  std::unordered_map<std::string, std::size_t> thread_index_, process_index_;
  std::unordered_map<std::string, TrackId> counter_tracks_;
  std::unordered_map<std::uint32_t, std::string_view> device_kinds_;  // by lane
  Intervals intervals_;
  Frames frames_;
  Launches launches_;
  std::vector<DeviceEvent> device_;
  bool is_partial_;
  std::int64_t rows_ = 0;
  LeftOut left_out_;
  std::int64_t cut_ = 0;    // Events that began before 0.
  std::int64_t early_ = 0;  // Events that ended before 0.
  std::int64_t last_ns_ = 0;
};

Result<void> import_chrome(const std::filesystem::path& file, ImportContext& context) {
  ChromeImport import(file, context);
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<std::string> remarks,
                        read_chrome_events(file, context.progress, context.options.partial,
                                           [&](const ChromeEvent& event) { return import.take(event); }));
  for (const std::string& remark : remarks) context.target.remark(remark);
  return import.finish();
}

int chrome_sureness(const FileHead& head) {
  if (head.is_list()) return head.has_any_key({"ph", "ts"}) ? 80 : 1;
  return head.is_object() && head.has_any_key({"traceEvents", "displayTimeUnit"}) ? 80 : 0;
}

}  // namespace

FormatRow format_of_chrome() {
  return {"chrome", "Chrome trace events: PyTorch's profiler, others", import_chrome, chrome_sureness, true};
}

}  // namespace draftscope::traces

// SPDX-License-Identifier: GPL-3.0-or-later
// Chrome's trace event format: complete events ("X") that nest on each thread, counters, launch flows, and
// the names of the threads. Times are microseconds with three decimals, printed from integers: a double would
// lose nanoseconds after 52 days of uptime.

#include <draftscope/base/atomic_file.h>
#include <draftscope/traces/exporters.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "export/timeline.h"

namespace draftscope::traces {
namespace {

/// Returns the text with its quotes; bytes that are not UTF-8 become U+FFFD.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string microseconds(std::int64_t time_ns) {
  const bool negative = time_ns < 0;
  const std::uint64_t size =
      negative ? 0 - static_cast<std::uint64_t>(time_ns) : static_cast<std::uint64_t>(time_ns);
  return fmt::format("{}{}.{:03}", negative ? "-" : "", size / 1000, size % 1000);
}

class ChromeSink : public TimelineSink {
 public:
  ChromeSink(AtomicFile& file, const TimelineNames& names) : file_(file), names_(names) {
    file_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (const auto& [id, text] : names.strings) quoted_strings_.emplace(id, quoted(text));
    write(R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"draftscope"}})");
  }

  void open_lane(int lane, const Track& track, int /*parent*/) override {
    if (track.kind == "counter") {
      counter_names_.emplace(lane, quoted(track.name));
      return;
    }
    write(fmt::format(R"({{"ph":"M","pid":1,"tid":{},"name":"thread_name","args":{{"name":{}}}}})", lane,
                      quoted(track.name)));
    write(
        fmt::format(R"({{"ph":"M","pid":1,"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
                    lane, track.sort));
  }

  void begin(int lane, const Slice& slice) override {
    if (slice.request != nullptr) {
      const Request& request = *slice.request;
      write_slice(lane, slice, quoted(names_.run_of_request.at(request.id)->specification), "request",
                  fmt::format(R"("request":{},"run":{},"prompt":{},"repeat":{},"tokens":{},"stop":"{}")",
                              request.id, request.run_id, request.prompt_id, request.repeat,
                              request.tokens.size(), request_stop_name(request.stop)));
    } else if (slice.round != nullptr) {
      const Round& round = *slice.round;
      write_slice(
          lane, slice, "\"round\"", "round",
          fmt::format(R"("round":{},"index":{},"exit_layer":{},"planned":{},"drafted":{},"tree_depth":{},)"
                      R"("accepted":{},"emitted":{},"draft_stop":"{}")",
                      round.id, round.index, round.exit_layer, round.planned, round.drafted, round.tree_depth,
                      round.accepted, round.emitted, draft_stop_name(round.draft_stop)));
    } else if (slice.span != nullptr) {
      const Span& span = *slice.span;
      write_slice(lane, slice, name_of(span.name_id), phase_name(span.phase),
                  fmt::format(R"("span":{},"round":{},"layer":{})", span.id, span.round_id, span.layer));
      if (const auto kernels = names_.kernels_of_span.find(span.id); kernels != names_.kernels_of_span.end())
        for (const KernelId kernel_id : kernels->second) write_flow("s", kernel_id, lane, slice.start_ns);
    } else if (slice.decision != nullptr) {
      const Decision& decision = *slice.decision;
      const std::string score =
          std::isfinite(decision.score) ? fmt::format(R"("score":{},)", decision.score) : "";
      write_slice(lane, slice, name_of(decision.kind_id), "decision",
                  fmt::format(R"("decision":{},"round":{},"adopted":{},{}"detail":{})", decision.id,
                              decision.round_id, decision.adopted ? 1 : 0, score, quoted(decision.detail)));
    } else {
      const Kernel& kernel = *slice.kernel;
      write_slice(lane, slice, name_of(kernel.short_name_id), phase_name(kernel.phase),
                  fmt::format(R"("kernel":{},"round":{},"layer":{},"correlation_id":{})", kernel.id,
                              kernel.round_id, kernel.layer, kernel.correlation_id));
      if (kernel.span_id != 0) write_flow("f", kernel.id, lane, slice.start_ns);
    }
  }

  void end(int /*lane*/, std::int64_t /*end_ns*/) override {}

  void counter(int lane, const Counter& counter) override {
    if (!std::isfinite(counter.value)) return;  // JSON has no such number
    const auto name = counter_names_.find(lane);
    write(fmt::format(R"({{"ph":"C","pid":1,"tid":{},"ts":{},"name":{},"args":{{"value":{}}}}})", lane,
                      microseconds(counter.timestamp_ns),
                      name != counter_names_.end() ? name->second : "\"counter\"", counter.value));
  }

  [[nodiscard]] bool failed() const override { return file_.failed(); }

  void finish() { file_.write("\n]}\n"); }

 private:
  std::string name_of(StringId id) const {
    const auto found = quoted_strings_.find(id);
    return found != quoted_strings_.end() ? found->second : fmt::format("\"string {}\"", id);
  }

  void write_slice(int lane, const Slice& slice, const std::string& name, std::string_view category,
                   const std::string& arguments) {
    write(fmt::format(R"({{"ph":"X","pid":1,"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}","args":{{{}}}}})",
                      lane, microseconds(slice.start_ns), microseconds(slice.end_ns - slice.start_ns), name,
                      category, arguments));
  }

  /// Writes an arrow from the launching span to its kernel; the arrow has the kernel's id.
  void write_flow(std::string_view kind, KernelId id, int lane, std::int64_t time_ns) {
    write(fmt::format(
        R"({{"ph":"{}","bp":"e","pid":1,"tid":{},"ts":{},"id":{},"name":"launch","cat":"launch"}})", kind,
        lane, microseconds(time_ns), id));
  }

  void write(std::string_view event) {
    file_.write(first_ ? "\n" : ",\n");
    first_ = false;
    file_.write(event);
  }

  AtomicFile& file_;
  const TimelineNames& names_;
  std::unordered_map<StringId, std::string> quoted_strings_;
  std::unordered_map<int, std::string> counter_names_;
  bool first_ = true;
};

}  // namespace

Result<void> export_chrome(Reader& reader, const std::filesystem::path& target, const Progress& progress) {
  DRAFTSCOPE_TRY_ASSIGN(const TimelineNames names, read_names(reader));
  DRAFTSCOPE_TRY_ASSIGN(AtomicFile file, AtomicFile::create(target));
  ChromeSink sink(file, names);
  DRAFTSCOPE_TRY(walk_timeline(reader, names, sink, progress));
  sink.finish();
  return file.commit();
}

}  // namespace draftscope::traces

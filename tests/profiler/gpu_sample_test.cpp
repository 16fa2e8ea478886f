// SPDX-License-Identifier: GPL-3.0-or-later
// CUPTI as it really is: the recordings of an H200 that ship, and copies of them that break a rule each.

#include <draftscope/traces/reader.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "device_conservation.h"
#include "sample.h"

namespace draftscope::profiler {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using traces::Kernel;

constexpr const char* graphs = DRAFTSCOPE_SOURCE_DIR "/traces/samples/h200-smollm2-graph.dstrace";
constexpr const char* kernels = DRAFTSCOPE_SOURCE_DIR "/traces/samples/h200-smollm2-node.dstrace";

/// A recording with what a device did, by start.
struct DeviceRows {
  traces::Recording recording;
  std::unordered_map<traces::StringId, std::string> strings;
  std::map<traces::SpanId, traces::Span> spans;
  std::map<traces::RoundId, traces::Round> rounds;
  std::map<traces::RequestId, traces::Request> requests;
  std::vector<Kernel> activities;  ///< on streams
  std::int64_t all_rows = 0;       ///< on tracks of any kind

  [[nodiscard]] const std::string& name(const Kernel& of) const { return strings.at(of.short_name_id); }
  [[nodiscard]] std::int64_t meta(const std::string& key) const { return std::stoll(recording.meta.at(key)); }
};

DeviceRows read(const std::filesystem::path& trace) {
  traces::Reader reader = traces::Reader::open(trace).value();
  DeviceRows rows{.recording = reader.recording().value(), .strings = reader.strings().value()};
  std::set<traces::TrackId> streams;
  for (const traces::Track& track : rows.recording.tracks)
    if (track.kind == "stream") streams.insert(track.id);
  for (const traces::Round& round : rows.recording.rounds) rows.rounds.emplace(round.id, round);
  for (const traces::Request& request : rows.recording.requests) rows.requests.emplace(request.id, request);
  EXPECT_TRUE(reader.spans([&](const traces::Span& span) {
    rows.spans.emplace(span.id, span);
    return true;
  }));
  EXPECT_TRUE(reader.kernels([&](const Kernel& kernel) {
    ++rows.all_rows;
    if (streams.contains(kernel.track_id)) rows.activities.push_back(kernel);
    return true;
  }));
  std::stable_sort(rows.activities.begin(), rows.activities.end(),
                   [](const Kernel& a, const Kernel& b) { return a.start_ns < b.start_ns; });
  return rows;
}

/// The names of the rules that the recording breaks.
class Rules {
 public:
  explicit Rules(const DeviceRows& rows) : rows_(rows) {
    for (const Kernel& kernel : rows.activities) {
      check_times(kernel);
      check_launch(kernel);
      check_name(kernel);
      if (kernel.graph_node_id != 0)
        nodes_[kernel.graph_id][kernel.correlation_id].push_back(kernel.graph_node_id);
    }
    check_graphs();
    if (rows.all_rows != rows.meta("device_rows")) broken("count");
  }
  [[nodiscard]] const std::set<std::string>& broken_rules() const { return broken_; }

 private:
  void broken(const char* rule) { broken_.insert(rule); }

  /// CUPTI's times are on the host's clock; one stream ends its work in the order in which it begins it.
  void check_times(const Kernel& kernel) {
    const traces::Request& request = rows_.requests.at(kernel.request_id);
    if (kernel.start_ns < request.start_ns || kernel.end_ns > request.end_ns) broken("clock");
    if (!kernel.round_id.is_none()) {
      const traces::Round& round = rows_.rounds.at(kernel.round_id);
      if (kernel.start_ns < round.start_ns) broken("clock");
      // A round waits for its passes, and not for cache rows that move after it.
      if (kernel.end_ns > round.end_ns && kernel.phase != traces::Phase::accept) broken("clock");
      // The draft's kernels come before the verification's.
      if (kernel.phase == traces::Phase::verify) verified_.insert(kernel.round_id);
      if (kernel.phase == traces::Phase::draft && kernel.graph_node_id != 0 &&
          verified_.contains(kernel.round_id))
        broken("phase");
    }
    if (kernel.end_ns < latest_end_ns_) broken("order");
    latest_end_ns_ = kernel.end_ns;
  }

  /// The span that launched it: of its round and request, begun before it.
  void check_launch(const Kernel& kernel) {
    const auto span = rows_.spans.find(kernel.span_id);
    if (span == rows_.spans.end() || span->second.round_id != kernel.round_id ||
        span->second.request_id != kernel.request_id || kernel.start_ns < span->second.start_ns)
      return broken("launch");
    const auto [launch, is_first] = launches_.try_emplace(kernel.correlation_id, kernel);
    const Kernel& before = launch->second;
    if (before.span_id != kernel.span_id || before.graph_id != kernel.graph_id ||
        (!is_first && kernel.graph_id == 0))
      broken("correlation");
  }

  void check_name(const Kernel& kernel) {
    const std::string& name = rows_.name(kernel);
    if (name.starts_with("_Z") || name.empty()) broken("name");
    if (kernel.graph_id != 0 && name.find(": ") == std::string::npos) broken("name");
  }

  /// Each launch of a graph runs each of its nodes once.
  void check_graphs() {
    for (const auto& [graph, launches] : nodes_) {
      std::vector<std::uint64_t> first;
      for (const auto& [correlation, found] : launches) {
        std::vector<std::uint64_t> nodes = found;
        std::sort(nodes.begin(), nodes.end());
        if (std::adjacent_find(nodes.begin(), nodes.end()) != nodes.end()) broken("graph");
        if (first.empty()) first = nodes;
        if (nodes != first) broken("graph");
      }
    }
  }

  const DeviceRows& rows_;
  std::int64_t latest_end_ns_ = 0;
  std::set<traces::RoundId> verified_;
  std::map<std::uint32_t, Kernel> launches_;
  std::map<std::uint32_t, std::map<std::uint32_t, std::vector<std::uint64_t>>>
      nodes_;  ///< by graph and launch
  std::set<std::string> broken_;
};

std::set<std::string> broken_rules(const std::filesystem::path& trace) {
  const DeviceRows rows = read(trace);
  return Rules(rows).broken_rules();
}

TEST(GpuSample, KeepsEveryRuleOfItsDevice) {
  EXPECT_THAT(broken_rules(graphs), IsEmpty());
  EXPECT_THAT(broken_rules(kernels), IsEmpty());
}

TEST(GpuSample, BreaksEachRuleWhereARowIsOtherThanRecorded) {
  const std::string of_stream = "track IN (SELECT id FROM tracks WHERE kind = 'stream')";
  const std::string one = "id = (SELECT max(id) - 40 FROM kernels WHERE graph_node_id <> 0)";
  const std::vector<std::pair<const char*, std::string>> changes{
      {"clock",
       "UPDATE kernels SET start_ns = start_ns + 3000000, end_ns = end_ns + 3000000 WHERE " + of_stream},
      {"clock", "UPDATE kernels SET start_ns = start_ns - 90000, end_ns = end_ns - 90000 WHERE " + of_stream},
      {"phase",
       "UPDATE kernels SET phase = 1 WHERE id = (SELECT max(id) FROM kernels WHERE phase = 2 AND round = "
       "15)"},
      {"order", "UPDATE kernels SET end_ns = end_ns + 100000 WHERE " + one},
      {"launch", "UPDATE kernels SET round = round - 1 WHERE " + one},
      {"correlation",
       "UPDATE kernels SET correlation_id = (SELECT min(correlation_id) FROM kernels WHERE "
       "graph_node_id <> 0) WHERE " +
           one},
      {"name", "UPDATE strings SET text = '_ZN5entry' WHERE text LIKE 'qkv: %'"},
      {"graph", "UPDATE kernels SET graph_node_id = graph_node_id + 1000 WHERE " + one},
      {"count", "DELETE FROM kernels WHERE " + one}};
  for (const auto& [rule, sql] : changes) {
    const traces::TestFolder folder;
    std::filesystem::copy_file(kernels, folder / "changed.dstrace");
    traces::change(folder / "changed.dstrace", sql);
    EXPECT_THAT(broken_rules(folder / "changed.dstrace"), testing::Contains(rule)) << sql;
  }
}

TEST(GpuSample, HasRoundsThatAddUp) {
  const auto found = device_conservation(kernels);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->broken, IsEmpty());
  EXPECT_EQ(found->rounds, 32);
  EXPECT_EQ(found->busy_ns + found->gap_ns + found->host_ns, found->wall_ns);
  // Where graphs are recorded whole, only launches that the host makes one by one have no operation.
  const auto whole = device_conservation(graphs);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_THAT(whole->broken, Each(testing::AnyOf(HasSubstr("SelectTop"), HasSubstr("MoveCacheRows"))));
  EXPECT_EQ(whole->rounds, 181);
  EXPECT_LT(whole->worst_share, max_missing_share);
}

TEST(GpuSample, HasKernelsThatStartBesideTheOneAhead) {
  const DeviceRows rows = read(kernels);
  std::size_t early = 0;
  std::size_t pairs = 0;
  for (std::size_t i = 1; i < rows.activities.size(); ++i) {
    const Kernel& ahead = rows.activities[i - 1];
    const Kernel& kernel = rows.activities[i];
    if (kernel.graph_id == 0 || kernel.correlation_id != ahead.correlation_id) continue;
    ++pairs;
    if (kernel.start_ns < ahead.end_ns) ++early;
  }
  EXPECT_GT(pairs, 6000U);
  EXPECT_GT(early, pairs * 9 / 10);
}

TEST(GpuSample, HasOneClock) {
  for (const char* const trace : {graphs, kernels}) {
    const DeviceRows rows = read(trace);
    EXPECT_EQ(rows.meta("device_clock_offset_ns"), 0);
    constexpr std::int64_t max_ns = 1000;
    EXPECT_LE(std::abs(rows.meta("device_clock_drift_ns")), max_ns);
    for (const char* end : {"start", "end"}) {
      const auto ahead_ns = [&](const std::string& of) {
        return rows.meta(of + end + "_realtime_ns") - rows.meta(of + end + "_monotonic_ns");
      };
      EXPECT_LE(std::abs(ahead_ns("device_clock_") - ahead_ns("clock_")), max_ns);
    }
  }
}

}  // namespace
}  // namespace draftscope::profiler

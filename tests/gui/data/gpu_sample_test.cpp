// SPDX-License-Identifier: GPL-3.0-or-later
// Tests how the app reads the shipped GPU recordings: names of kernels, overlaps, and which part the time
// belongs to.
#include <draftscope/simulator/analysis/device_timeline.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "data/details/range_profile.h"
#include "data/details/slice_details.h"
#include "data/lanes/load_recording.h"
#include "data/lanes/prefill_kernels.h"
#include "data/rounds/detailed_times.h"
#include "sample.h"

namespace draftscope::gui {
namespace {

using testing::HasSubstr;
using testing::Not;

std::filesystem::path sample(const std::string& name) {
  return std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples" / name;
}

TEST(ReadableName, LeavesOutWhatAllKernelsShare) {
  const std::string engine = "draftscope::engine::cuda::";
  const std::string entry = engine + "(anonymous namespace)::entry<";
  EXPECT_EQ(simulator::short_kernel_name("qkv: " + entry + engine + "ProductKernel<" + engine +
                                         "PlainWeights<" + engine + "Bf16>, 8, 8, " + engine + "QkvOp> >"),
            "qkv: ProductKernel<PlainWeights<Bf16>, 8, 8, QkvOp>");
  EXPECT_EQ(simulator::short_kernel_name(entry + engine + "SelectTop>"), "SelectTop");
  EXPECT_EQ(simulator::short_kernel_name(engine + "entry<" + engine + "ProductKernel<" + engine + "Bf16, " +
                                         engine + "GateUpOp> >"),
            "gate up: ProductKernel<Bf16, GateUpOp>");
  EXPECT_EQ(
      simulator::short_kernel_name("void at::f<4, at::(anonymous namespace)::g<float> >(int, at::h<float>)"),
      "f<4, g<float>>");
  EXPECT_EQ(simulator::short_kernel_name("cublasLt::splitKreduce_kernel<32, 16, int, float>"),
            "splitKreduce_kernel<32, 16, int, float>");
  EXPECT_EQ(simulator::short_kernel_name("a::b<c::d<int>, e::(anonymous namespace)::f>"), "b<d<int>, f>");
}

TEST(ReadableName, IsTheNameItselfElsewhere) {
  for (const char* name : {"", ":", "aten::mm", "nvjet_sm90_tss_64x96_64x10_2x1_v_bz_TNT", "[memcpy HtoD]",
                           "forward: [graph]", "draft step", "<lambda>", "a < b", "x > y < z"})
    EXPECT_EQ(simulator::short_kernel_name(name), name);
}

class GpuSample : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto opened = OpenedRecording::open(sample(GetParam()));
    ASSERT_TRUE(opened) << opened.error().message;
    opened_ = *opened;
    auto loaded = load_recording(sample(GetParam()));
    ASSERT_TRUE(loaded) << loaded.error().message;
    timeline_ = loaded->timeline;
  }

  RecordingPointer opened_;
  std::shared_ptr<const Timeline> timeline_;
};

TEST_P(GpuSample, HasNamesThatTellKernelsApart) {
  std::set<std::string> shown;
  for (const std::string& name : timeline_->names) {
    EXPECT_THAT(name, Not(HasSubstr("::")));
    EXPECT_LE(name.size(), 80U) << name;
    EXPECT_TRUE(shown.insert(name).second) << name;
  }
  EXPECT_GT(shown.size(), 20U);
}

TEST_P(GpuSample, GivesTheTimeOfRoundsToOperationsWithoutRest) {
  const std::set<std::string> known{"qkv",           "attention",     "output projection", "gate up",
                                    "down",          "head",          "embedding",         "round control",
                                    "forward",       "draft step",    "verification",      "SelectTop",
                                    "MoveCacheRows", "[memcpy HtoD]", "[memcpy DtoH]"};
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) {
    const auto times = read_detailed_times({opened_, run}, [] { return true; });
    ASSERT_TRUE(times) << times.error().message;
    const DetailedTimes::Side& side = times->by_operation;
    ASSERT_EQ(side.source, TimeSource::kernels);
    for (std::size_t part = 0; part < side.named; ++part)
      EXPECT_TRUE(known.contains(side.times.names()[part])) << side.times.names()[part];
    std::int64_t all = 0;
    for (const std::uint32_t round : opened_->runs()[run].rounds)
      all += opened_->round(round).end_ns - opened_->round(round).start_ns;
    const std::vector<std::int64_t> row = side.times.sum(0, opened_->runs()[run].rounds.size());
    EXPECT_EQ(std::accumulate(row.begin(), row.end(), std::int64_t{0}), all);
  }
}

TEST_P(GpuSample, GivesEveryKernelOfThePrefillItsOperationAndItsLayer) {
  std::map<std::string, std::map<int, int>> kernels;
  for (const Lane& lane : timeline_->lanes)
    for (std::size_t i = 0; lane.track_kind == "stream" && i < lane.slices.size(); ++i) {
      const std::string& name = timeline_->names[lane.slices.name(i)];
      if (lane.slices.phase(i) != traces::Phase::prefill || name.starts_with("[mem")) continue;
      const std::size_t colon = name.find(": ");
      ASSERT_NE(colon, std::string::npos) << name;
      ++kernels[name.substr(0, colon)][lane.slices[i].layer];
    }
  const int passes = kernels["embedding"][-1];
  EXPECT_GT(passes, 0);
  for (const char* step : {"qkv", "attention", "output projection", "gate up", "down"}) {
    ASSERT_EQ(kernels[step].size(), 30U) << step;
    for (const auto& [layer, number] : kernels[step]) {
      EXPECT_GE(number, passes) << step << ", layer " << layer;
      EXPECT_EQ(number, kernels[step][0]) << step << ", layer " << layer;
    }
  }
}

TEST(PrefillKernels, HaveNoLayerWhereTheirOrderLeavesADoubt) {
  const std::vector<std::string> layer{"NormaliseRows<Bf16>",
                                       "nvjet_a",
                                       "qkv: FinishWideQkv<Bf16>",
                                       "attention: PrefillAttentionKernel<Bf16, 64>",
                                       "nvjet_a",
                                       "splitKreduce",
                                       "AddWide",
                                       "NormaliseRows<Bf16>",
                                       "nvjet_b",
                                       "gate up: FinishWideGate<Bf16>",
                                       "nvjet_b",
                                       "AddWide"};
  std::vector<PrefillKernel> pass{{"embedding: LoadInputs<Bf16>"}};
  for (int repeat = 0; repeat < 3; ++repeat)
    for (const std::string& name : layer) pass.push_back({name});
  pass.insert(pass.end(), {{"[memcpy HtoD]"}, {"head: FinishHead"}});
  std::vector<PrefillKernel> placed = pass;
  ASSERT_TRUE(place_in_layers(placed));
  EXPECT_EQ(placed[13].name, "attention norm: NormaliseRows<Bf16>");
  EXPECT_EQ(placed[13].layer, 1);
  EXPECT_EQ(placed[18].name, "output projection: splitKreduce");
  EXPECT_EQ(placed[21].name, "gate up: nvjet_b");
  EXPECT_EQ(placed[24].name, "down: AddWide");
  EXPECT_EQ(placed[24].layer, 1);
  for (std::size_t lost = 1; lost + 2 < pass.size(); ++lost) {
    std::vector<PrefillKernel> damaged = pass;
    damaged.erase(damaged.begin() + static_cast<std::ptrdiff_t>(lost));
    EXPECT_FALSE(place_in_layers(damaged)) << lost << ", " << pass[lost].name;
    EXPECT_EQ(damaged[1].layer, -1);
  }
  placed = pass;
  placed[14].layer = 2;
  EXPECT_FALSE(place_in_layers(placed)) << "a known layer contradicts";
}

TEST_P(GpuSample, ShowsKernelsOfOneStreamSideBySide) {
  const auto profile = range_profile(*timeline_, timeline_->whole, [] { return true; });
  ASSERT_TRUE(profile);
  std::size_t kernels = 0;
  std::int64_t stream_ns = 0;
  for (const ProfileNode& node : profile->nodes) {
    if (node.parent == ProfileNode::none && node.name.starts_with("device")) stream_ns += node.total_ns;
    if (node.name_index == ProfileNode::none) continue;
    std::uint32_t track = node.parent;
    while (profile->nodes[track].parent != ProfileNode::none) track = profile->nodes[track].parent;
    if (!profile->nodes[track].name.starts_with("device")) continue;
    EXPECT_LE(node.depth, 2U) << node.name;
    EXPECT_EQ(node.self_ns, node.total_ns) << node.name;
    ++kernels;
  }
  EXPECT_GT(kernels, 8U);
  std::int64_t attributed_ns = 0;
  for (const NameTotal& name : profile->names)
    if (name.track_kind == "stream") attributed_ns += name.attributed_ns;
  EXPECT_EQ(attributed_ns, stream_ns) << "attributed times add up to the stream's busy time";
  for (std::size_t lane = 0; lane < timeline_->lanes.size(); ++lane) {
    if (timeline_->lanes[lane].track_kind != "stream") continue;
    const auto details = slice_details(*opened_, *timeline_, {lane, 0}, [] { return true; });
    ASSERT_TRUE(details);
    EXPECT_EQ(details->inside_ns, 0) << "what runs beside it";
  }
}

TEST(OperationsSample, TellsWhatBoundsAVerification) {
  const std::filesystem::path file = sample("h200-llama-1b-operations.dstrace");
  const auto loaded = load_recording(file);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const simulator::RecordedOperations& shown = loaded->recording->measured().operations;
  auto reader = traces::Reader::open(file);
  ASSERT_TRUE(reader);
  const auto reported = simulator::read_measured(*reader);
  ASSERT_TRUE(reported) << reported.error().message;
  EXPECT_TRUE(shown.timed_by_device);
  ASSERT_EQ(shown.rows.size(), reported->operations.rows.size());
  for (std::size_t i = 0; i < shown.rows.size(); ++i) {
    EXPECT_EQ(shown.rows[i].name, reported->operations.rows[i].name);
    EXPECT_EQ(shown.rows[i].ns, reported->operations.rows[i].ns);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, GpuSample,
                         testing::Values("h200-smollm2-graph.dstrace", "h200-smollm2-node.dstrace"),
                         [](const testing::TestParamInfo<const char*>& file) {
                           return std::string(file.param).substr(13, 4) == "grap" ? "Graphs" : "Kernels";
                         });

}  // namespace
}  // namespace draftscope::gui

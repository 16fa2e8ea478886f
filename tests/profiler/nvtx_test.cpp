// SPDX-License-Identifier: GPL-3.0-or-later
// Events about host spans that a tool listening to NVTX receives. This program is the tool: NVTX finds it as
// an injection that is linked in.
#define NVTX_NO_IMPL
#include <draftscope/profiler/span_recorder.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace {

struct Range {
  std::string name;
  std::string category;
  std::int64_t payload = 0;
  std::size_t depth = 0;
};

struct Heard {
  std::vector<std::string> domains;
  std::map<std::uint32_t, std::string> categories;
  std::deque<std::string> names;  // their addresses are the handles
  std::vector<Range> ranges;
  std::size_t open = 0;
} heard;

nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
  heard.domains.emplace_back(name);
  return reinterpret_cast<nvtxDomainHandle_t>(&heard);
}

void NVTX_API name_category(nvtxDomainHandle_t /*domain*/, std::uint32_t category, const char* name) {
  heard.categories[category] = name;
}

nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t /*domain*/, const char* text) {
  return reinterpret_cast<nvtxStringHandle_t>(&heard.names.emplace_back(text));
}

int NVTX_API push(nvtxDomainHandle_t /*domain*/, const nvtxEventAttributes_t* range) {
  EXPECT_EQ(range->messageType, NVTX_MESSAGE_TYPE_REGISTERED);
  EXPECT_EQ(range->payloadType, NVTX_PAYLOAD_TYPE_INT64);
  heard.ranges.push_back({*reinterpret_cast<const std::string*>(range->message.registered),
                          heard.categories.at(range->category), range->payload.llValue, heard.open++});
  return 0;
}

int NVTX_API pop(nvtxDomainHandle_t /*domain*/) {
  EXPECT_GT(heard.open, 0U);
  --heard.open;
  return 0;
}

template <typename Function>
void listen(NvtxFunctionTable table, NvtxCallbackIdCore2 id, Function function) {
  *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

int NVTX_API inject(NvtxGetExportTableFunc_t get_table) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int entries = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &entries) == 0) return 0;
  listen(table, NVTX_CBID_CORE2_DomainCreateA, create_domain);
  listen(table, NVTX_CBID_CORE2_DomainNameCategoryA, name_category);
  listen(table, NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  listen(table, NVTX_CBID_CORE2_DomainRangePushEx, push);
  listen(table, NVTX_CBID_CORE2_DomainRangePop, pop);
  return 1;
}

}  // namespace

extern "C" NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr;
NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr = inject;

namespace draftscope::profiler {
namespace {

using traces::Phase;

TEST(NvtxRanges, TellTheStoryOfTheSpans) {
  heard.ranges.clear();
  SpanRecorder recorder(Level::ops, nullptr);
  const traces::StringId layer_name = recorder.name_id("layer");
  const std::size_t names = heard.names.size();
  for (const std::int64_t round : {5, 6}) {
    recorder.set_round(traces::RoundId::from(round));
    const std::int32_t phase = recorder.open_phase(Phase::verify, 1);
    const ScopedSpan layer(&recorder, Level::layers, layer_name, 11);
    const ScopedSpan inner(&recorder, Level::ops, recorder.name_id("layer"));
    recorder.close(phase);
  }
  EXPECT_EQ(heard.open, 0U);
  EXPECT_EQ(heard.names.size(), names) << "names are registered once";
  EXPECT_THAT(heard.domains, testing::ElementsAre("draftscope"));

  ASSERT_EQ(heard.ranges.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    const Range& range = heard.ranges[i];
    const std::int64_t round = i < 3 ? 5 : 6;
    EXPECT_EQ(range.depth, i % 3);
    EXPECT_EQ(range.category, "verify");
    EXPECT_EQ(range.name, i % 3 == 0 ? "verify" : "layer");
    EXPECT_EQ(range.payload, i % 3 == 1 ? 11 : round);
  }
}

TEST(NvtxRanges, HaveACategoryForEveryPhase) {
  const SpanRecorder recorder(Level::phases, nullptr);
  std::vector<std::string> names;
  for (const auto& [category, name] : heard.categories) {
    EXPECT_GT(category, 0U);
    names.push_back(name);
  }
  for (int phase = 0; phase < traces::phase_count; ++phase)
    EXPECT_THAT(names, testing::Contains(traces::phase_name(static_cast<Phase>(phase))));
}

TEST(NvtxRanges, AreNoneWhereNothingIsRecorded) {
  heard.ranges.clear();
  SpanRecorder recorder(Level::off, nullptr);
  recorder.close(recorder.open_phase(Phase::draft, 1));
  EXPECT_TRUE(heard.ranges.empty());
}

}  // namespace
}  // namespace draftscope::profiler

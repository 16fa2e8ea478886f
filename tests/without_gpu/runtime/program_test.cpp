// SPDX-License-Identifier: GPL-3.0-or-later
// The whole program with --device cuda on the stand-in: its recordings, and its exit if a call fails.

#include <draftscope/base/text_file.h>
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "temporary_folder.h"

namespace draftscope::cuda_stand_in {
namespace {

using draftscope::test::TemporaryFolder;
using testing::HasSubstr;

struct Ended {
  int exit_code = 0;
  std::string out, err;
};

/// Runs `draftscope <arguments>` by the shell, which ends it if it hangs.
Ended run(const TemporaryFolder& folder, const std::string& arguments, const std::string& environment = {}) {
  const std::string out = (folder / "out").string();
  const std::string err = (folder / "err").string();
  const std::string line =
      environment + " timeout 120 " + DRAFTSCOPE_EMULATED + " " + arguments + " >" + out + " 2>" + err;
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text_file(out, max_settings_bytes).value_or(""),
          read_text_file(err, max_settings_bytes).value_or("")};
}

const std::string source = DRAFTSCOPE_SOURCE_DIR;
const std::string model = " --model " + source + "/models/demo-draft --device cuda --context 128";

constexpr const char* device_trace = "launches";

std::string record_line(const std::string& file) {
  return "record" + model + " --prompts " + source + "/traces/prompts/demo.jsonl --limit 1 --max-tokens 6" +
         " --strategy vanilla --strategy layerskip:exit=1,gamma=2 --device-trace " + device_trace +
         " --quiet --overwrite --output " + file;
}

struct DeviceRows {
  traces::Recording recording;
  std::vector<traces::Kernel> kernels;
};

Result<DeviceRows> read(const std::string& file) {
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(file));
  DeviceRows rows;
  DRAFTSCOPE_TRY_ASSIGN(rows.recording, reader.recording());
  DRAFTSCOPE_TRY(reader.kernels([&](const traces::Kernel& kernel) {
    rows.kernels.push_back(kernel);
    return true;
  }));
  return rows;
}

TEST(EmulatedProgram, RecordsDeviceWorkThatOtherCommandsRead) {
  const TemporaryFolder folder;
  const std::string file = (folder / "run.dstrace").string();
  const Ended recorded = run(folder, record_line(file));
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  const auto rows = read(file);
  ASSERT_TRUE(rows) << rows.error().message;
  const traces::Recording& recording = rows->recording;
  EXPECT_THAT(recording.meta.at("processor"), HasSubstr("emulated"));
  EXPECT_EQ(recording.meta.at("device_trace"), device_trace);
  for (const char* count :
       {"device_dropped", "device_rejected", "device_unattributed", "device_failed_calls"})
    EXPECT_EQ(recording.meta.at(count), "0") << count;
  traces::TrackId calls;
  for (const traces::Track& track : recording.tracks)
    if (track.kind == "calls") calls = track.id;
  std::set<std::uint32_t> correlations;
  std::set<std::uint32_t> called;
  std::size_t device_rows = 0;
  std::map<traces::RoundId, int> launches;
  for (const traces::Kernel& kernel : rows->kernels) {
    EXPECT_NE(kernel.span_id, traces::SpanId());
    if (kernel.track_id == calls) called.insert(kernel.correlation_id);
    if (kernel.track_id == calls) continue;
    ++device_rows;
    EXPECT_LT(kernel.start_ns, kernel.end_ns);
    correlations.insert(kernel.correlation_id);
    if (kernel.grid_x > 0) ++launches[kernel.round_id];
  }
  EXPECT_EQ(correlations.size(), device_rows);
  EXPECT_TRUE(std::ranges::includes(called, correlations)) << "each has the call that launched it, or waited";
  EXPECT_EQ(recording.meta.at("launches"), "program");
  // A trace distinguishes drafts from verifications: each is a launch.
  ASSERT_GT(recording.rounds.size(), 6U);
  for (const traces::Round& round : recording.rounds)
    EXPECT_EQ(launches[round.id], round.drafted > 0 ? 2 : 1) << "round " << round.id;
  EXPECT_TRUE(std::any_of(recording.tracks.begin(), recording.tracks.end(),
                          [](const traces::Track& track) { return track.kind == "stream"; }));
  const Ended validated = run(folder, "inspect " + file + " --validate");
  EXPECT_EQ(validated.exit_code, 0) << validated.out << validated.err;
  const Ended reported = run(folder, "report " + file);
  EXPECT_EQ(reported.exit_code, 0) << reported.err;
  EXPECT_THAT(reported.out, HasSubstr("emulated"));
  const Ended simulated = run(folder, "simulate " + file + " --strategy layerskip:exit=1,gamma=1");
  EXPECT_EQ(simulated.exit_code, 0) << simulated.err;
}

TEST(EmulatedProgram, DecodesTheProcessorsText) {
  const TemporaryFolder folder;
  const std::string line = "generate --model " + source +
                           "/models/demo-draft --context 128 --prompt \"Once upon a time\" --max-tokens 8";
  const Ended on_device = run(folder, line + " --device cuda");
  const Ended on_processor = run(folder, line);
  ASSERT_EQ(on_device.exit_code, 0) << on_device.err;
  ASSERT_EQ(on_processor.exit_code, 0) << on_processor.err;
  EXPECT_EQ(on_device.out.substr(0, 30), on_processor.out.substr(0, 30));
}

TEST(EmulatedProgram, EndsInALineWhereACallFails) {
  const TemporaryFolder folder;
  const std::string file = (folder / "run.dstrace").string();
  for (const char* failure :
       {"cudaGetDeviceCount:1", "cudaMalloc:2", "cudaHostAlloc:1", "cudaStreamCreateWithFlags:1",
        "cudaFuncSetAttribute:1", "cudaMemcpyAsync:20", "cudaLaunchKernelExC:1", "cudaLaunchKernelExC:40",
        "cudaStreamSynchronize:9+"}) {
    SCOPED_TRACE(failure);
    const Ended ended = run(folder, record_line(file), std::string("DRAFTSCOPE_EMULATED_FAIL=") + failure);
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("cuda backend: "));
    EXPECT_LT(ended.err.size(), 340U) << ended.err;
  }
}

TEST(EmulatedProgram, EndsInALineAndClosesTheTraceWhereTheDeviceNoLongerAnswers) {
  const TemporaryFolder folder;
  const std::string file = (folder / "run.dstrace").string();
  for (const int answers : {0, 2, 22}) {
    SCOPED_TRACE(answers);
    const Ended ended =
        run(folder, record_line(file),
            "DRAFTSCOPE_DEVICE_WAIT_S=1 DRAFTSCOPE_EMULATED_ANSWERS=" + std::to_string(answers));
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("found no answer of the device within 1 s"));
  }
  const auto rows = read(file);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_TRUE(rows->recording.closed_cleanly);
  EXPECT_GT(rows->recording.rounds.size(), 0U);
}

}  // namespace
}  // namespace draftscope::cuda_stand_in

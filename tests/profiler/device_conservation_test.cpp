// SPDX-License-Identifier: GPL-3.0-or-later
// Made-up device records: consistent ones pass, and every kind of inconsistency is named.

#include "device_conservation.h"

#include <draftscope/traces/writer.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "temporary_folder.h"

namespace draftscope::profiler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using traces::Phase;

/// A kernel of a round, in the round's own time.
struct Made {
  std::string name;
  std::int32_t layer = -1;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  Phase phase = Phase::verify;
};

constexpr std::int64_t round_ns = 100'000;

/// One layer's pass with its head, from `start_ns` on, with 1000 ns per kernel and 100 ns between kernels.
std::vector<Made> pass_of_layers(std::int64_t start_ns, const std::vector<std::int32_t>& layers,
                                 Phase phase) {
  std::vector<Made> kernels;
  const auto add = [&](const std::string& operation, std::int32_t layer) {
    kernels.push_back({operation + ": entry<Body>", layer, start_ns, start_ns + 1000, phase});
    start_ns += 1100;
  };
  add("embedding", -1);
  for (const std::int32_t layer : layers)
    for (const char* operation : {"qkv", "attention", "output projection", "gate up", "down"})
      add(operation, layer);
  add("head", -1);
  add("round control", -1);
  return kernels;
}

/// A recording of rounds with these kernels.
class MadeTrace {
 public:
  [[nodiscard]] std::filesystem::path file() const { return folder_ / "made.dstrace"; }
  std::map<std::string, std::string> meta{{"device_trace", "launches"}, {"device_dropped", "0"},
                                          {"device_rejected", "0"},     {"device_unattributed", "0"},
                                          {"device_before_span", "0"},  {"device_failed_calls", "0"}};

  void write(const std::vector<std::vector<Made>>& rounds) const {
    const auto writer = traces::Writer::create(file(), {}).value();
    for (const auto& [key, value] : meta) writer->set_meta(key, value);
    traces::Track stream;
    stream.kind = "stream";
    stream.name = "device 0, stream 7";
    const traces::TrackId track_id = writer->add(std::move(stream));
    traces::Request request;
    request.run_id = writer->add(traces::Run{0, "vanilla", "vanilla", "{}", true});
    request.prompt_id = writer->add(traces::Prompt{});
    request.id = writer->next_request_id();
    request.start_ns = 1;
    writer->begin(request);
    std::int64_t now_ns = 1'000'000;
    for (const std::vector<Made>& kernels : rounds) {
      traces::Round round;
      round.request_id = request.id;
      round.id = writer->next_round_id();
      round.index = static_cast<std::int32_t>(round.id.value()) - 1;
      round.start_ns = now_ns;
      round.end_ns = now_ns + round_ns;
      writer->add(round, {});
      std::vector<traces::Kernel> rows;
      for (const Made& made : kernels) {
        traces::Kernel row;
        row.id = writer->next_kernel_id();
        row.track_id = track_id;
        row.request_id = request.id;
        row.round_id = round.id;
        row.start_ns = now_ns + made.start_ns;
        row.end_ns = now_ns + made.end_ns;
        row.short_name_id = writer->intern(made.name);
        row.layer = made.layer;
        row.phase = made.phase;
        row.grid_x = row.grid_y = row.grid_z = row.block_x = row.block_y = row.block_z = 1;
        rows.push_back(row);
      }
      writer->add(std::span<const traces::Kernel>(rows));
      now_ns += round_ns + 5000;
    }
    request.end_ns = now_ns;
    writer->finish(request);
    ASSERT_TRUE(writer->close());
  }

 private:
  test::TemporaryFolder folder_;
};

DeviceConservation checked(const MadeTrace& trace) {
  auto found = device_conservation(trace.file());
  EXPECT_TRUE(found) << found.error().message;
  return found ? *found : DeviceConservation{};
}

/// The lines about one round of kernels.
std::vector<std::string> broken_by(std::vector<Made> kernels) {
  MadeTrace trace;
  trace.write({std::move(kernels)});
  return checked(trace).broken;
}

std::vector<Made> good_round() {
  std::vector<Made> kernels = pass_of_layers(20'000, {0, 3}, Phase::draft);
  for (const Made& kernel : pass_of_layers(40'000, {0, 1, 2, 3}, Phase::verify)) kernels.push_back(kernel);
  return kernels;
}

TEST(DeviceConservation, HoldsWhereEverythingAddsUpAndSaysHow) {
  MadeTrace trace;
  trace.write({good_round(), good_round()});
  const DeviceConservation found = checked(trace);
  EXPECT_THAT(found.broken, IsEmpty());
  EXPECT_EQ(found.rounds, 2);
  EXPECT_EQ(found.activities, 2 * (13 + 23));
  EXPECT_EQ(found.wall_ns, 2 * round_ns);
  EXPECT_EQ(found.busy_ns, 2 * 36'000);
  EXPECT_EQ(found.busy_ns + found.gap_ns + found.host_ns, found.wall_ns);
  EXPECT_EQ(found.worst_share, 0.0);
}

TEST(DeviceConservation, CountsTimeOnceWhereKernelsOverlap) {
  std::vector<Made> kernels = good_round();
  for (Made& kernel : kernels) kernel.start_ns -= 500;  // each starts before the end of the one before
  MadeTrace trace;
  trace.write({kernels});
  const DeviceConservation found = checked(trace);
  EXPECT_THAT(found.broken, IsEmpty());
  EXPECT_LT(found.busy_ns, 36 * 1500);
  EXPECT_EQ(found.busy_ns + found.gap_ns + found.host_ns, found.wall_ns);
}

TEST(DeviceConservation, IsBrokenWhereTheDevicesClockLeavesTheRoundByMoreThanAHundredth) {
  std::vector<Made> late = good_round();
  const std::int64_t last_ns = late.back().end_ns;
  for (Made& kernel : late) {
    kernel.start_ns += round_ns - last_ns + 900;
    kernel.end_ns += round_ns - last_ns + 900;
  }
  EXPECT_THAT(broken_by(late), IsEmpty());  // a share of 0.9 %
  for (Made& kernel : late) {
    kernel.start_ns += 200;
    kernel.end_ns += 200;
  }
  EXPECT_THAT(broken_by(late), ElementsAre(HasSubstr("are 101100 ns, expected 100000 ns")));
  std::vector<Made> early = good_round();
  for (Made& kernel : early) {
    kernel.start_ns -= 22'000;
    kernel.end_ns -= 22'000;
  }
  EXPECT_THAT(broken_by(early), ElementsAre(HasSubstr("are 102000 ns, expected 100000 ns")));
}

TEST(DeviceConservation, SaysWhatIsWrongWithAKernel) {
  constexpr std::size_t qkv = 1, projection = 3, head = 11;
  const auto norms = [](std::vector<Made>& kernels, std::int32_t layer) {
    for (const auto& [name, start_ns] : {std::pair("attention norm", 70'000), {"mlp norm", 72'000}})
      kernels.push_back({std::string(name) + ": entry<Body>", layer, start_ns, start_ns + 1000});
  };
  const auto program = [](std::vector<Made>& kernels, std::int32_t layer) {
    kernels = {{.name = "round: program", .layer = layer, .start_ns = 1000, .end_ns = 90'000}};
  };
  const std::pair<std::function<void(std::vector<Made>&)>, const char*> cases[] = {
      {[](auto& kernels) { kernels[qkv].layer = -1; }, "kernel \"qkv: entry<Body>\" of round 1 has no layer"},
      {[](auto& kernels) { kernels[qkv].name = "entry<Body>"; },
       "kernel \"entry<Body>\" of round 1 has no known operation"},
      {[](auto& kernels) { kernels[head].layer = 3; }, "has layer 3, expected none"},
      {[](auto& kernels) { kernels.erase(kernels.begin() + projection); },
       "layer 0 of round 1 (draft) has 0 launches of output projection, and 1 of qkv"},
      {[&](auto& kernels) { norms(kernels, -1); }, "\"mlp norm: entry<Body>\" of round 1 has no layer"},
      {[&](auto& kernels) { norms(kernels, 2); }, nullptr},
      {[&](auto& kernels) { program(kernels, 3); }, "has layer 3, expected none"},
      {[&](auto& kernels) { program(kernels, -1); }, nullptr}};
  for (const auto& [change, message] : cases) {
    std::vector<Made> kernels = good_round();
    change(kernels);
    const std::vector<std::string> broken = broken_by(kernels);
    if (message == nullptr)
      EXPECT_THAT(broken, IsEmpty());
    else
      EXPECT_THAT(broken, testing::Contains(HasSubstr(message)));
  }
}

TEST(DeviceConservation, IsBrokenByWhatWasLost) {
  MadeTrace trace;
  trace.meta["device_dropped"] = "7";
  trace.meta.erase("device_failed_calls");
  trace.write({good_round()});
  EXPECT_THAT(checked(trace).broken,
              ElementsAre("device_dropped is 7, expected 0", "device_failed_calls is missing"));
  MadeTrace without;
  without.meta.clear();
  without.write({good_round(), {}});
  EXPECT_THAT(checked(without).broken,
              ElementsAre("there is no device trace, expected one", "round 2 has no device work"));
}

}  // namespace
}  // namespace draftscope::profiler

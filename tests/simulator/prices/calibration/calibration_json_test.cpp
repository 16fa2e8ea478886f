// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "planted_calibration.h"

namespace draftscope::simulator {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string planted_text() {
  return calibration_json(planted_calibration({.truth = planted_processor()}));
}

TEST(CalibrationFile, IsReadAsItWasWritten) {
  for (const CostModel& truth : {planted_processor(), planted_gpu()}) {
    MachineCalibration written = planted_calibration({.truth = truth, .with_operations = !truth.gpu});
    written.empty_pass_ns = speculation::Spread{312.5, 300.0, 451.25, 40};
    const std::string text = calibration_json(written);
    const auto read = parse_calibration(text, "machine.json");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(calibration_json(*read), text);
    EXPECT_EQ(read->empty_pass_ns->median, 312.5);
  }
}

struct Contradiction {
  const char* name;
  std::function<void(json&)> change;
  std::string says;
};

class ContradictingFile : public ::testing::TestWithParam<Contradiction> {};

TEST_P(ContradictingFile, IsRefusedInOneLineThatNamesTheField) {
  json file = json::parse(planted_text());
  GetParam().change(file);
  const auto read = parse_calibration(file.dump(), "machine.json");
  ASSERT_FALSE(read);
  const std::string& message = read.error().message;
  EXPECT_THAT(message, ::testing::StartsWith("machine.json: "));
  EXPECT_THAT(message, HasSubstr(GetParam().says));
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 0);
}

json& kernel(json& file) {
  return file["shapes"][0]["kernels"][0];
}

INSTANTIATE_TEST_SUITE_P(
    Calibration, ContradictingFile,
    ::testing::Values(
        Contradiction{"Format", [](json& f) { f["format"] = "something"; },
                      "format is 'something', expected 'draftscope calibration'"},
        Contradiction{"Version", [](json& f) { f["version"] = 2; }, "version is 2, expected 1"},
        Contradiction{"VersionText", [](json& f) { f["version"] = "1"; },
                      "version is '1', expected an integer"},
        Contradiction{"NoMachine", [](json& f) { f.erase("machine"); },
                      "machine is missing, expected an object"},
        Contradiction{"Device", [](json& f) { f["machine"]["device"] = "abacus"; },
                      "machine.device is 'abacus', expected cpu or cuda"},
        Contradiction{"Gpu", [](json& f) { f["machine"]["gpu"] = "H900"; }, "machine.gpu: GPU 'H900'"},
        Contradiction{"Threads", [](json& f) { f["machine"]["threads"] = 1.5; },
                      "machine.threads is 1.5, expected an integer"},
        Contradiction{"NoShapes", [](json& f) { f["shapes"] = json::array(); },
                      "shapes is empty, expected at least one"},
        Contradiction{"ShapesText", [](json& f) { f["shapes"] = "none"; },
                      "shapes is 'none', expected a list"},
        Contradiction{"Heads", [](json& f) { f["shapes"][0]["n_kv_heads"] = 7; },
                      "shapes[0]: n_kv_heads is 7, expected a divisor of n_heads 16"},
        Contradiction{"Weights", [](json& f) { f["shapes"][0]["weights"] = "int4"; },
                      "shapes[0].weights is 'int4'"},
        Contradiction{"NoPasses", [](json& f) { f["shapes"][0]["kernels"] = json::array(); },
                      "shapes[0].laws"},
        Contradiction{"Kind", [](json& f) { kernel(f)["kind"] = "dance"; },
                      "shapes[0].kernels[0].kind is 'dance', expected operation, draft_step,"},
        Contradiction{"Rows", [](json& f) { kernel(f)["rows"] = 0; },
                      "shapes[0].kernels[0].rows is 0, expected an integer from 1 to 4096"},
        Contradiction{"DraftRows",
                      [](json& f) {
                        kernel(f)["kind"] = "draft_step";
                        kernel(f)["rows"] = 2;
                      },
                      "shapes[0].kernels[0].rows is 2, expected an integer from 1 to 1"},
        Contradiction{"Sublayers", [](json& f) { kernel(f)["mlp_sublayers"] = 9; },
                      "shapes[0].kernels[0].mlp_sublayers is 9, expected an integer from 0 to 8"},
        Contradiction{"Bytes", [](json& f) { kernel(f)["bytes"] = 12345.0; },
                      "shapes[0].kernels[0].bytes is 12345, expected"},
        Contradiction{"Negative", [](json& f) { kernel(f)["ns"]["median"] = -1.0; },
                      "shapes[0].kernels[0].ns.median is -1"},
        Contradiction{"NoTime", [](json& f) { kernel(f)["ns"] = nullptr; },
                      "shapes[0].kernels[0].ns is null, expected an object"},
        Contradiction{"Quartiles",
                      [](json& f) { kernel(f)["ns"]["low"] = 2.0 * kernel(f)["ns"]["median"].get<double>(); },
                      "expected them in this order"},
        Contradiction{"Samples", [](json& f) { kernel(f)["ns"]["samples"] = 0; },
                      "shapes[0].kernels[0].ns.samples is 0"},
        Contradiction{"Law", [](json& f) { f["shapes"][0]["laws"]["products"]["ns_per_byte"] = 1.0; },
                      "shapes[0].laws.products.ns_per_byte is 1, expected 0.025"},
        Contradiction{"NoLaw", [](json& f) { f["shapes"][0]["laws"]["passes"] = nullptr; },
                      "shapes[0].laws.passes is null, expected a law by the kernels"},
        Contradiction{"Unknown", [](json& f) { f["machine"]["clock"] = 1; },
                      "machine.clock is not known, expected the keys of calibrate"},
        Contradiction{"UnknownOfAKernel", [](json& f) { kernel(f)["ns"]["mean"] = 1.0; },
                      "shapes[0].kernels[0].ns.mean is not known"},
        Contradiction{"Probe", [](json& f) { f["probes"]["memory_gb_s"] = 40; },
                      "probes.memory_gb_s is 40, expected an object"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(CalibrationFile, IsRefusedWhereItIsNoJson) {
  for (const char* text : {"", "[1, 2]", "{", "\"draftscope calibration\"", "null"}) {
    const auto read = parse_calibration(text, "machine.json");
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr("machine.json: "));
  }
}

TEST(CalibrationFile, NeitherCrashesNorLosesItsMindWhenBytesChange) {
  const std::string text = planted_text();
  std::mt19937_64 random(7);
  int refused = 0;
  for (int i = 0; i < 150; ++i) {
    std::string changed = text;
    const std::size_t changes = 1 + random() % 4;
    for (std::size_t j = 0; j < changes; ++j)
      changed[random() % changed.size()] = "0129.e-{}[],\":x"[random() % 15];
    if (random() % 8 == 0) changed.resize(random() % changed.size());
    const auto read = parse_calibration(changed, "machine.json");
    if (read) {
      const auto again = parse_calibration(calibration_json(*read), "again");
      EXPECT_TRUE(again) << again.error().message;
    } else {
      ++refused;
      EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
    }
  }
  EXPECT_GT(refused, 30);
}

}  // namespace
}  // namespace draftscope::simulator

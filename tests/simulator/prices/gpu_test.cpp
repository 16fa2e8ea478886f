// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/prices/roofline.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/speculation/published_models.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>

#include "fit/planted_trace.h"
#include "prices/fit/cost_parameters.h"
#include "prices/passes/cost_transfer.h"

namespace draftscope::simulator {

namespace {

using ::testing::HasSubstr;

TEST(Gpu, EveryRowOfTheTableParsesAndIsFoundByItsName) {
  std::ifstream table(DRAFTSCOPE_SOURCE_DIR "/simulator/data/gpus.csv");
  const auto lines = std::count(std::istreambuf_iterator<char>(table), {}, '\n');
  ASSERT_GT(lines, 1);
  ASSERT_EQ(known_gpus().size(), static_cast<std::size_t>(lines - 1));
  std::set<std::string> names;
  for (const GpuSpecification& gpu : known_gpus()) {
    EXPECT_TRUE(names.insert(gpu.name).second) << gpu.name;
    const auto found = find_gpu(gpu.name);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->bandwidth_gb_s, gpu.bandwidth_gb_s);
    EXPECT_GT(gpu.efficiency, 0.0) << gpu.name;
    EXPECT_LE(gpu.efficiency, gpu.read_efficiency) << gpu.name;
    EXPECT_LT(gpu.read_efficiency, 1.0) << gpu.name;
    EXPECT_GT(gpu.ridge(), 10.0) << gpu.name;
  }
}

TEST(Gpu, NamesCompareWithoutCaseAndSeparators) {
  const auto gpu = find_gpu("h100_sxm5 80gb");
  ASSERT_TRUE(gpu) << gpu.error().message;
  EXPECT_EQ(gpu->name, "H100-SXM5-80GB");
  EXPECT_EQ(gpu->bandwidth_gb_s, 3350.0);
  EXPECT_EQ(gpu->calibration, Calibration::fitted);
  EXPECT_EQ(find_gpu("RTX 4090")->memory, MemoryFamily::gddr);
  EXPECT_EQ(find_gpu("Jetson AGX Orin 64GB")->memory, MemoryFamily::lpddr);
}

TEST(Gpu, ABeginningIsEnoughWhereOneNameHasIt) {
  EXPECT_EQ(find_gpu("h200").value().name, "H200-SXM5-141GB");
  EXPECT_EQ(find_gpu("B200").value().name, "B200-SXM-180GB");
  EXPECT_EQ(find_gpu("L4").value().name, "L4");
  const auto several = find_gpu("H100");
  ASSERT_FALSE(several);
  EXPECT_THAT(several.error().message, HasSubstr("H100-SXM5-80GB"));
}

TEST(Gpu, AnUnknownNameListsTheClosest) {
  const auto gpu = find_gpu("H200-SXM5-142GB");
  ASSERT_FALSE(gpu);
  EXPECT_THAT(gpu.error().message, HasSubstr("GPU 'H200-SXM5-142GB' is unknown"));
  EXPECT_THAT(gpu.error().message, HasSubstr("H200-SXM5-141GB"));
  EXPECT_FALSE(find_gpu(""));
}

TEST(Gpu, JsonAndCsvOfOnesOwnSayTheSame) {
  const auto json = parse_gpu_specification(
      R"({"name": "Mine", "mem_type": "GDDR7", "mem_bw_gbs": 1000, "bf16_dense_tflops": 200})", "mine.json");
  const auto csv = parse_gpu_specification(
      "name,mem_type,mem_bw_gbs,bf16_dense_tflops\nMine,GDDR7,1000,200\n", "mine.csv");
  ASSERT_TRUE(json) << json.error().message;
  ASSERT_TRUE(csv) << csv.error().message;
  for (const GpuSpecification& gpu : {*json, *csv}) {
    EXPECT_EQ(gpu.name, "Mine");
    EXPECT_EQ(gpu.ridge(), 200.0);
    EXPECT_EQ(gpu.calibration, Calibration::family);
    EXPECT_GT(gpu.t0_us, 0.0);
    EXPECT_GT(gpu.t0_sigma(), find_gpu("H100-SXM5-80GB")->t0_sigma());
  }
  EXPECT_EQ(json->efficiency, csv->efficiency);
}

// The fit is relative to the specified bandwidth (vLLM's tables of an H200: 0.86); the columns split it in
// two.
TEST(Gpu, AProductsRateIsItsShareOfWhatReadingReaches) {
  const GpuSpecification h200 = *find_gpu("H200-SXM5-141GB");
  EXPECT_NEAR(h200.read_efficiency * h200.bandwidth_gb_s, 4550.0, 5.0);  // The expected value was measured.
  EXPECT_NEAR(h200.efficiency, 0.86, 1e-4);
  EXPECT_NEAR(h200.products(WeightType::fp8).efficiency, 0.79, 1e-4);
  for (const double read : {0.5, 0.8, 1.0})
    for (const double product : {0.25, 0.9, 1.0}) {
      const auto gpu = parse_gpu_specification(
          fmt::format(R"({{"name": "Mine", "mem_type": "HBM3", "mem_bw_gbs": 1000, "bf16_dense_tflops": 200,
                           "read_eff": {}, "t0_us": 4, "product_eff": {}, "fp8_t0_us": 5, "fp8_product_eff": {}}})",
                      read, product, product / 2),
          "mine.json");
      ASSERT_TRUE(gpu) << gpu.error().message;
      EXPECT_DOUBLE_EQ(gpu->read_efficiency, read);
      EXPECT_DOUBLE_EQ(gpu->efficiency, read * product);
      EXPECT_DOUBLE_EQ(gpu->products(WeightType::fp8).efficiency, read * product / 2);
    }
}

TEST(Gpu, AStatedReadRateScalesWhatAFamilyIsTakenToReach) {
  const auto of = [](const char* read) {
    return parse_gpu_specification(
               fmt::format(
                   R"({{"name": "Mine", "mem_type": "GDDR7", "mem_bw_gbs": 1000, "bf16_dense_tflops": 200{}}})",
                   read),
               "mine.json")
        .value();
  };
  const GpuSpecification family = of("");
  const GpuSpecification half = of(fmt::format(R"(, "read_eff": {})", family.read_efficiency / 2).c_str());
  EXPECT_DOUBLE_EQ(half.efficiency, family.efficiency / 2);
  for (const WeightType type : {WeightType::fp8, WeightType::int4})
    EXPECT_DOUBLE_EQ(half.products(type).efficiency, family.products(type).efficiency / 2);
}

struct Refused {
  const char* text;
  const char* says;
};

class RefusedSpecification : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedSpecification, NamesTheFieldInOneLine) {
  const auto gpu = parse_gpu_specification(GetParam().text, "own");
  ASSERT_FALSE(gpu);
  EXPECT_THAT(gpu.error().message, HasSubstr(GetParam().says));
  EXPECT_EQ(gpu.error().message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Gpu, RefusedSpecification,
    ::testing::Values(
        Refused{R"({"name":"G","mem_type":"HBM3","mem_bw_gbs":-1,"bf16_dense_tflops":9})",
                "mem_bw_gbs is -1"},
        Refused{R"({"name":"G","mem_type":"HBM3","mem_bw_gbs":0,"bf16_dense_tflops":9})", "mem_bw_gbs is 0"},
        Refused{R"({"name":"G","mem_type":"HBM3","mem_bw_gbs":10})", "bf16_dense_tflops is missing"},
        Refused{R"({"name":"G","mem_type":"DDR5","mem_bw_gbs":10,"bf16_dense_tflops":9})",
                "mem_type is 'DDR5'"},
        Refused{R"({"name":"G","mem_type":"HBM3","mem_bw_gbs":10,"bf16_dense_tflops":9,"product_eff":1.1})",
                "product_eff is 1.1, expected a share of mem_bw_gbs · read_eff"},
        Refused{R"({"name":"G","mem_type":"HBM3","mem_bw_gbs":10,"bf16_dense_tflops":9,"read_eff":1.1})",
                "read_eff is 1.1, expected a share of mem_bw_gbs"},
        Refused{R"({"name":"G","mem_type":"HBM3","mem_bw_gbs":10,"bf16_dense_tflops":9,"t0_us":-2})",
                "t0_us is -2"},
        Refused{
            R"({"name":"G","mem_type":"HBM3","mem_bw_gbs":10,"bf16_dense_tflops":9,"fp8_dense_tflops":4})",
            "fp8_dense_tflops is 4"},
        Refused{
            R"({"name":"G","mem_type":"HBM3","mem_bw_gbs":10,"bf16_dense_tflops":9,"ridge_flop_per_byte_bf16":450})",
            "ridge_flop_per_byte_bf16 is 450, expected 900.0"},
        Refused{R"({"name":"G","mem_bandwidth":10})", "unknown key 'mem_bandwidth'"},
        Refused{"name,mem_type,mem_bw_gbs,bf16_dense_tflops,fp8_bw_eff\nG,HBM3,10,9,0.8\n",
                "unknown key 'fp8_bw_eff'"},
        Refused{R"({"name":"G","mem_type":"HBM3","mem_bw_gbs":"inf","bf16_dense_tflops":9})", "'inf'"},
        Refused{"{", "not valid JSON"}, Refused{"[1]", "JSON array"}, Refused{"", "own"},
        Refused{"name,mem_type,mem_bw_gbs,bf16_dense_tflops\n", "0 rows"}));

TEST(Link, AllReduceTakesLongerWithMoreGpusMoreBytesAndWithoutNvlink) {
  const GpuSpecification h100 = *find_gpu("H100-SXM5-80GB");
  const GpuSpecification l40s = *find_gpu("L40S");
  EXPECT_EQ(all_reduce_ns(h100, 1, 1e6), 0.0);
  EXPECT_DOUBLE_EQ(all_reduce_ns(h100, 2, 8192.0), 4.5e3);
  EXPECT_DOUBLE_EQ(all_reduce_ns(h100, 8, 65536.0), 7.9e3);
  for (const std::int32_t degree : {2, 4, 8}) {
    EXPECT_LT(all_reduce_ns(h100, degree, 1e4), all_reduce_ns(l40s, degree, 1e4));
    EXPECT_LT(all_reduce_ns(h100, degree, 1e4), all_reduce_ns(h100, degree, 1e5));
    EXPECT_LE(all_reduce_ns(h100, degree, 1e4), all_reduce_ns(h100, 2 * degree, 1e4));
  }
}

TEST(Regime, NamesAreReadBack) {
  for (int i = 0; i < 6; ++i) {
    const auto regime = static_cast<Regime>(i);
    EXPECT_EQ(*parse_regime(regime_name(regime)), regime);
  }
  EXPECT_FALSE(parse_regime("graphs"));
}

Machine machine_of(const CostModel& model) {
  return {"as fitted", fitted_scenario(model)};
}

TEST(Roofline, OfASpecificationHasItsRatesAndRidge) {
  const GpuSpecification gpu = find_gpu("H100-SXM").value_or(known_gpus().front());
  const CostModel model =
      cost_model_of(gpu, speculation::find_model_shape("Llama-3-8B").value(), WeightType::bf16);
  const auto found = roofline(model, machine_of(model), 1024.0, {1, 8, 512});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->is_specified);
  EXPECT_DOUBLE_EQ(found->bytes_per_ns, gpu.bandwidth_gb_s);
  EXPECT_DOUBLE_EQ(*found->flops_per_ns, 1e3 * gpu.bf16_tflops);
  EXPECT_NEAR(found->attainable(gpu.ridge()), 1e3 * gpu.bf16_tflops, 1e-6 * 1e3 * gpu.bf16_tflops);
  EXPECT_DOUBLE_EQ(found->attainable(0.5 * gpu.ridge()), 0.5 * gpu.ridge() * gpu.bandwidth_gb_s);
  ASSERT_EQ(found->points.size(), 18U);
  for (const RooflinePoint& point : found->points)
    EXPECT_LE(point.flops_per_ns(), found->attainable(point.intensity()) * (1 + 1e-9))
        << speculation::operation_name(point.operation) << ", " << point.rows << " rows";
}

TEST(Roofline, PointsHaveTheTimesThatThePassesArePutTogetherFrom) {
  const CostModel model = planted_cpu();
  const Machine machine = machine_of(model);
  constexpr double context = 100.0;
  const auto found = roofline(model, machine, context, {1, 4});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_FALSE(found->is_specified);
  for (const RooflinePoint& point : found->points) {
    const CostCoefficients part =
        operation_coefficients(point.operation, model.shape, model.weights, model.width_law,
                               {.rows = static_cast<double>(point.rows), .batch = 1.0, .tensor_parallel = 1});
    double ns = 0.0;
    for (std::size_t i = 0; i < cost_parameter_count; ++i)
      ns += model.values[i] * (part.fixed[i] + context * part.a_context_row[i]);
    EXPECT_DOUBLE_EQ(point.ns, ns);
    EXPECT_LE(point.flops_per_ns(), found->attainable(point.intensity()) * (1 + 1e-9));
  }
}

TEST(Roofline, MoreRowsAreMoreArithmeticAByte) {
  const CostModel model = planted_cpu();
  const auto found = roofline(model, machine_of(model), 64.0, {1, 2, 4, 8});
  ASSERT_TRUE(found);
  for (std::size_t i = 1; i < found->points.size(); ++i)
    if (found->points[i].operation == found->points[i - 1].operation) {
      EXPECT_GT(found->points[i].intensity(), found->points[i - 1].intensity());
    }
}

TEST(Roofline, RefusesRowsBelowOne) {
  const CostModel model = planted_cpu();
  EXPECT_THAT(roofline(model, machine_of(model), 64.0, {0}).error().message,
              testing::HasSubstr("rows are 0"));
}

TEST(ScenarioName, SaysWhatDiffersFromTheRecording) {
  const Scenario recorded = fitted_scenario(planted_cpu());
  EXPECT_EQ(scenario_name(recorded, recorded), "as recorded");
  Scenario other = recorded;
  other.gpu = known_gpus().front();
  other.batch = 4;
  other.regime = Regime::graph;
  EXPECT_EQ(scenario_name(other, recorded), known_gpus().front().name + " graph batch 4");
  EXPECT_EQ(scenario_name(recorded, recorded, "desk (calibrated)"), "desk (calibrated)");
}

}  // namespace

}  // namespace draftscope::simulator

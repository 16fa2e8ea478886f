// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/simulator/prices/asked_machine.h>
#include <draftscope/speculation/published_models.h>
#include <gmock/gmock.h>

#include <fstream>
#include <thread>

#include "../../temporary_folder.h"
#include "../prices/calibration/planted_calibration.h"
#include "../prices/fit/planted_trace.h"
#include "advice/learnt.h"

namespace draftscope::simulator {
namespace {

using testing::HasSubstr;

class MachineFiles : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  test::TemporaryFolder folder_;
};

constexpr const char* card =
    R"({"name": "Card", "mem_type": "GDDR6", "mem_bw_gbs": 500, "bf16_dense_tflops": 80})";

TEST_F(MachineFiles, AreCalibrationsOrSpecifications) {
  const MachineCalibration planted = planted_calibration({.truth = planted_processor()});
  const auto measured = read_machine_file(write("machine.json", calibration_json(planted)));
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_FALSE(measured->gpu);
  ASSERT_NE(measured->calibrated, nullptr);
  EXPECT_EQ(calibration_json(measured->calibrated->calibration()), calibration_json(planted));

  const auto specified = read_machine_file(write("card.json", card));
  ASSERT_TRUE(specified) << specified.error().message;
  ASSERT_TRUE(specified->gpu);
  EXPECT_EQ(specified->gpu->name, "Card");
  EXPECT_EQ(specified->calibrated, nullptr);
  EXPECT_EQ(specified->path, folder_ / "card.json");
  const auto table = read_machine_file(
      write("card.csv", "name,mem_type,mem_bw_gbs,bf16_dense_tflops\nTable,GDDR6,500,80\n"));
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->gpu->name, "Table");
}

TEST_F(MachineFiles, AreRefusedInOneLineThatNamesThem) {
  const auto reason = [](const std::filesystem::path& path) {
    const auto file = read_machine_file(path);
    EXPECT_FALSE(file) << path;
    return file ? std::string() : file.error().message;
  };
  for (const std::filesystem::path& path :
       {write("other.json", R"({"format": "something else"})"), write("empty.json", "{}"),
        write("noise.csv", "a,b\n1,2\n"), folder_.path(), folder_ / "missing.json"}) {
    EXPECT_THAT(reason(path), HasSubstr(path.filename().string()));
    EXPECT_EQ(reason(path).find('\n'), std::string::npos);
  }
}

TEST_F(MachineFiles, ModelsAreNamedOrConfigured) {
  EXPECT_EQ(model_shape_of("Llama-2-7B").value().n_layers,
            speculation::find_model_shape("Llama-2-7B").value().n_layers);
  const std::string config = write("config.json", R"({"model_type": "llama", "num_hidden_layers": 6,
    "hidden_size": 256, "num_attention_heads": 8, "num_key_value_heads": 4, "intermediate_size": 512,
    "vocab_size": 1000})")
                                 .string();
  const auto shape = model_shape_of(config);
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_EQ(shape->n_layers, 6);
  EXPECT_THAT(model_shape_of((folder_ / "none.json").string()).error().message, HasSubstr("none.json"));
}

TEST(CalibratedMachine, FitsEachShapeAndNumberTypeOnce) {
  const MachineCalibration planted = planted_calibration({.truth = planted_processor()});
  const CalibratedMachine machine(planted);
  const ModelShape shape = planted_processor().shape;
  std::array<CalibratedMachine::Costs, 4> found;
  std::vector<std::thread> askers;
  for (CalibratedMachine::Costs& costs : found)
    askers.emplace_back([&] { costs = machine.costs(shape, WeightType::fp32).value(); });
  for (std::thread& asker : askers) asker.join();
  for (const CalibratedMachine::Costs& costs : found) EXPECT_EQ(costs.model, found[0].model);
  EXPECT_EQ(found[0].model->values, calibrated_model(planted, shape, WeightType::fp32).value().values);
  EXPECT_NE(machine.costs(shape, WeightType::bf16).value().model, found[0].model);
  ModelShape deeper = shape;
  deeper.n_layers *= 2;
  EXPECT_NE(machine.costs(deeper, WeightType::fp32).value().model, found[0].model);
}

TEST(AskedMachine, IsNamedForWhatDiffersFromTheRecordedOne) {
  const Scenario recorded{.shape = speculation::find_model_shape("Llama-3-8B").value()};
  Scenario asked = recorded;
  asked.batch = 4;
  EXPECT_EQ(asked_machine(asked, recorded).value().name, "as recorded batch 4");
  const CalibratedMachine measured(planted_calibration({.truth = planted_processor()}));
  const auto machine = asked_machine(asked, recorded, &measured);
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->name, measured.name() + " batch 4");
  EXPECT_NE(machine->costs, nullptr);
  EXPECT_FALSE(machine->cost_notes.empty());
  asked.tensor_parallel = 3;
  EXPECT_THAT(asked_machine(asked, recorded).error().message, HasSubstr("tensor_parallel is 3"));
}

TEST_F(MachineFiles, OfARecordedGpuAreKnownByTheDriversName) {
  PlantedTrace planted{
      .truth = cost_model_of(find_gpu("H200").value(), speculation::find_model_shape("Llama-3.2-1B").value(),
                             WeightType::bf16),
      .settings = {{0, 0}, {4, 4}},
      .device = "NVIDIA H200"};
  planted.rounds_per_setting = 30;
  const std::filesystem::path path = folder_ / "planted.dstrace";
  for (const char* device : {"NVIDIA H200", "NVIDIA Unheard-of"}) {
    planted.device = device;
    std::filesystem::remove(path);
    write_planted_trace(planted, path);
    const Learnt learnt = Learnt::from_file(path);
    const CostModel& costs = learnt.what_if().costs().model;
    EXPECT_EQ(costs.gpu ? costs.gpu->name : "", planted.device == "NVIDIA H200" ? "H200-SXM5-141GB" : "");
    if (!costs.gpu) continue;
    // No product reads faster than the memory.
    for (std::size_t product = 0; product < 5; ++product)
      EXPECT_GE(costs.values[2 * product + 1], 1.0 / costs.gpu->bandwidth_gb_s);
  }
}

}  // namespace
}  // namespace draftscope::simulator

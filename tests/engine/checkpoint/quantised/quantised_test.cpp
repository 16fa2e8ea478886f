// SPDX-License-Identifier: GPL-3.0-or-later
// Packed checkpoints hold the numbers that make_goldens.py drew for them. Unsupported folders are refused by
// name.

#include <draftscope/engine/checkpoint.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "../../../temporary_folder.h"
#include "checkpoint/quantised/quantised_matrix.h"
#include "checkpoint/tensor_slots.h"
#include "kept_layers.h"

namespace draftscope::engine {
namespace {

using draftscope::test::bytes_of;
using draftscope::test::TemporaryFolder;
using draftscope::test::write_bytes;
using ::testing::HasSubstr;
using ::testing::Not;

std::filesystem::path golden(std::string_view name) {
  return std::filesystem::path(DRAFTSCOPE_SOURCE_DIR "/tests/engine/checkpoint/quantised/goldens") / name;
}

/// A copy of a golden whose config.json and tensors may be changed before it is loaded.
class Copy {
 public:
  explicit Copy(std::string_view name, std::string_view tensors_file = "model.safetensors")
      : config(nlohmann::json::parse(bytes_of(golden(name) / "config.json"))),
        tensors(bytes_of(golden(name) / tensors_file)) {}

  [[nodiscard]] Result<Checkpoint> load() const {
    write_bytes(folder / "config.json", config.dump());
    write_bytes(folder / "model.safetensors", tensors);
    return load_checkpoint(folder.path());
  }
  [[nodiscard]] std::string message() const {
    const auto loaded = load();
    return loaded ? "is loaded" : loaded.error().message;
  }

  TemporaryFolder folder;
  nlohmann::json config;
  std::string tensors;
};

class QuantisedCheckpoint : public ::testing::TestWithParam<const char*> {};

TEST_P(QuantisedCheckpoint, HoldsTheNumbersThatItsFormatDefines) {
  const auto packed = load_checkpoint(golden(GetParam()));
  ASSERT_TRUE(packed) << packed.error().message;
  Copy copy(GetParam(), "plain.safetensors");
  copy.config.erase("quantization_config");
  copy.config.erase("quantization");
  const auto plain = copy.load();
  ASSERT_TRUE(plain) << plain.error().message;
  const auto expected = named_tensors(plain->shape, plain->weights);
  const auto found = named_tensors(packed->shape, packed->weights);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const TensorView& one = found[i].view;
    EXPECT_EQ(one.dtype, expected[i].view.dtype);
    EXPECT_TRUE(std::equal(one.data, one.data + one.bytes(), expected[i].view.data)) << found[i].name;
  }
  EXPECT_TRUE(check_finite(*packed));
  EXPECT_THAT(packed->stored_as, testing::StartsWith("safetensors "));
  EXPECT_NE(packed->hash, plain->hash);
}

INSTANTIATE_TEST_SUITE_P(Goldens, QuantisedCheckpoint,
                         ::testing::Values("awq", "awq-bf16", "gptq", "gptq-8-act", "fp8-block", "fp8-tensor",
                                           "fp8-channel", "pack-4", "pack-4-order", "pack-8", "int-8",
                                           "nvfp4", "mxfp4", "mxfp8", "modelopt-nvfp4", "mlx-4"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(QuantisedCheckpoint, IsTheSameModelWhereItsLayersStayInE4m3) {
  const std::string name = GetParam();
  const auto widened = load_checkpoint(golden(name));
  const auto kept = load_checkpoint(golden(name), BlockMatrices::cuda_as_stored);
  ASSERT_TRUE(widened && kept) << kept.error().message;
  const bool stays = name == "fp8-tensor" || name == "fp8-channel";
  EXPECT_EQ(kept->has_fp8(), stays);
  EXPECT_EQ(kept->weights.layers[0].down.is_fp8(), stays);
  EXPECT_FALSE(kept->weights.head.is_fp8());
  EXPECT_EQ(kept->hash, widened->hash);
  EXPECT_EQ(kept->weight_bytes() < widened->weight_bytes(), stays);
  EXPECT_TRUE(check_finite(*kept));
  const auto expected = named_tensors(widened->shape, widened->weights);
  const auto found = named_tensors(kept->shape, kept->weights);
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(numbers_of(found[i].view), numbers_of(expected[i].view)) << found[i].name;
}

/// A part of a matrix has the same numbers wherever it begins.
TEST(QuantisedMatrices, AnyPartIsThatPartOfTheWhole) {
  constexpr std::int64_t rows = 144;  // more than one tile
  constexpr std::int64_t columns = 96;
  std::vector<std::uint8_t> bytes(rows * columns);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 37 % 127);
  const std::vector<float> scales(rows * columns, 0.5F);
  for (const PackedForm form : {PackedForm::awq, PackedForm::gptq, PackedForm::fp8}) {
    QuantisedMatrix matrix{.form = form, .rows = rows, .columns = columns};
    matrix.values = reinterpret_cast<const std::byte*>(bytes.data());
    matrix.zeros = matrix.values + 5;
    matrix.scales = reinterpret_cast<const std::byte*>(scales.data());
    matrix.scale_dtype = DType::f32;
    matrix.block = {form == PackedForm::fp8 ? 10 : 1, 24};
    std::vector<float> whole(rows * columns);
    unpack(matrix, 0, rows, 0, columns, whole.data());
    std::vector<float> part(131 * 50);
    unpack(matrix, 7, 131, 33, 50, part.data());
    for (std::int64_t r = 0; r < 131; ++r)
      for (std::int64_t c = 0; c < 50; ++c)
        ASSERT_EQ(part[static_cast<std::size_t>(r * 50 + c)],
                  whole[static_cast<std::size_t>((r + 7) * columns + c + 33)])
            << static_cast<int>(form) << ' ' << r << ' ' << c;
  }
}

TEST(QuantisationConfig, PassesOverWhatNewerWritersAddAndTheWeightsDoNotNeed) {
  for (const auto& [name, fields] :
       {std::pair("awq", R"({"format": "gemm", "backend": "auto"})"),
        std::pair("fp8-block", R"({"expert_dtype": "fp8", "modules_to_convert": ["model.embed"]})"),
        std::pair(
            "gptq",
            R"({"to_quant_block_names": "model.layers", "train_bs": 8, "supported_types": ["Linear"]})")}) {
    Copy copy(name);
    copy.config["quantization_config"].update(nlohmann::json::parse(fields));
    const auto checkpoint = copy.load();
    EXPECT_TRUE(checkpoint) << checkpoint.error().message;
  }
}

struct Refusal {
  const char* name;
  const char* golden;
  std::function<void(nlohmann::json&)> change;  ///< changes the quantization_config
  const char* expected;
};

class RefusedQuantisation : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusedQuantisation, IsOneLineThatNamesTheField) {
  Copy copy(GetParam().golden);
  GetParam().change(copy.config["quantization_config"]);
  const std::string message = copy.message();
  EXPECT_THAT(message, HasSubstr(GetParam().expected));
  EXPECT_THAT(message, Not(HasSubstr("\n")));
  EXPECT_LT(message.size(), 300U);
}

/// Sets a field to the JSON value in this text.
auto field(const char* name, const char* value) {
  return [=](nlohmann::json& config) { config[name] = nlohmann::json::parse(value); };
}
auto weights(const char* name, const char* value) {
  return [=](nlohmann::json& config) {
    config["config_groups"]["group_0"]["weights"][name] = nlohmann::json::parse(value);
  };
}

std::vector<Refusal> refusals() {
  return {
      {"OtherMethod", "awq", field("quant_method", R"("bitsandbytes")"),
       "quantization_config.quant_method is 'bitsandbytes', expected 'auto-round', 'awq', "},
      {"AwqInThreeBits", "awq", field("bits", "3"), "quantization_config.bits is 3, expected 4"},
      {"AwqForGemv", "awq", field("version", R"("gemv")"), "version is 'gemv', expected 'gemm'"},
      {"AwqForGemvByItsNewName", "awq", field("format", R"("gemv")"), "format is 'gemv', expected 'gemm'"},
      {"AwqWithoutZeros", "awq", field("zero_point", "false"), "zero_point is false, expected true"},
      {"AwqOtherGroups", "awq", field("group_size", "32"),
       "model.layers.0.self_attn.q_proj.qzeros: shape is [2, 4], expected [1, 4]"},
      {"AwqGroupOfNone", "awq", field("group_size", "0"), "group_size is 0, expected an integer from 1"},
      {"AwqReadAsGptq", "awq",
       [](nlohmann::json& config) {
         config = {{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 16}};
       },
       "model.layers.0.self_attn.q_proj.qweight: shape is [32, 4], expected [4, 32]"},
      {"AwqReadAsFp8", "awq",
       [](nlohmann::json& config) {
         config = {{"quant_method", "fp8"}};
       },
       "tensor model.layers.0.self_attn.q_proj.weight is missing"},
      {"GptqInTwoBits", "gptq", field("bits", "2"), "bits is 2, expected 4 or 8"},
      {"GptqForMarlin", "gptq", field("checkpoint_format", R"("marlin")"),
       "checkpoint_format is 'marlin', expected 'gptq' or 'gptq_v2'"},
      {"GptqOfSeveralKinds", "gptq", field("dynamic", R"({"x": {}})"), "dynamic is an object, expected none"},
      {"GptqFewerGroups", "gptq-8-act", field("group_size", "16"),
       "qzeros: shape is [4, 8], expected [2, 8]"},
      {"Fp8OtherFormat", "fp8-block", field("fmt", R"("e5m2")"), "fmt is 'e5m2', expected 'e4m3'"},
      {"Fp8OtherBlocks", "fp8-block", field("weight_block_size", "[12, 12]"),
       "q_proj.weight_scale_inv: shape is [3, 2], expected [3, 3]"},
      {"Fp8BlockOfOneSize", "fp8-block", field("weight_block_size", "[128]"),
       "weight_block_size is an array, expected two sizes"},
      {"Fp8WithoutItsBlocks", "fp8-block", field("weight_block_size", "null"),
       "q_proj.weight_scale_inv: shape is [3, 2], expected [], [1] or [32, 1]"},
      {"CompressedAsMarlin", "fp8-channel", field("format", R"("marlin-24")"),
       "format is 'marlin-24', expected 'float-quantized', 'int-quantized',"},
      {"CompressedIntegers", "fp8-channel", field("format", R"("pack-quantized")"),
       "weights.type is 'float', expected 'int'"},
      {"CompressedInFourBits", "fp8-channel", weights("num_bits", "4"), "weights.num_bits is 4, expected 8"},
      {"CompressedByRows", "fp8-channel", weights("strategy", R"("token")"),
       "weights.strategy is 'token', expected 'tensor', 'channel', 'group' or 'block'"},
      {"CompressedAndRotated", "fp8-channel", field("transform_config", R"({"config_groups": {"a": {}}})"),
       "transform_config is an object, expected none: it is not understood"},
      {"CompressedSparse", "fp8-channel", field("sparsity_config", R"({"format": "sparse-24-bitmask"})"),
       "sparsity_config.format is 'sparse-24-bitmask', expected 'dense'"},
      {"CompressedOnTheFly", "fp8-channel", weights("dynamic", "true"),
       "weights.dynamic is true, expected none"},
      {"PackedInThreeBits", "pack-4", weights("num_bits", "3"), "weights.num_bits is 3, expected 4 or 8"},
      {"PackedInOtherGroups", "pack-4", weights("group_size", "8"),
       "q_proj.weight_scale: shape is [32, 2], expected [32, 4]"},
      {"PackedSymmetric", "pack-4", weights("symmetric", "true"), ".weight_zero_point', expected those"},
      {"PackedWithoutItsOrder", "pack-4", weights("actorder", R"("group")"),
       "q_proj.weight_g_idx is missing"},
      {"Nvfp4InOtherGroups", "nvfp4", weights("group_size", "32"), "group_size is 32, expected 16"},
      {"Mxfp4AsNvfp4", "mxfp4", field("format", R"("nvfp4-pack-quantized")"),
       "group_size is 32, expected 16"},
      {"ModeloptInOtherForms", "modelopt-nvfp4", field("quant_algo", R"("W4A16_AWQ")"),
       "quant_algo is 'W4A16_AWQ', expected 'FP8', 'MXFP8' or 'NVFP4'"},
      {"AutoRoundInItsOwnOrder", "gptq",
       [](nlohmann::json& config) {
         config["quant_method"] = "auto-round";
         config["packing_format"] = "auto_round:triton";
       },
       "packing_format is 'auto_round:triton', expected 'auto_round:auto_gptq' or"},
      {"AutoRoundInSeveralWidths", "gptq",
       [](nlohmann::json& config) {
         config["quant_method"] = "auto-round";
         config["packing_format"] = "auto_round:auto_gptq";
         config["extra_config"]["model.layers.0.mlp.up_proj"]["bits"] = 8;
       },
       "up_proj.bits is 8, expected 4, as the other modules have, or 16"},
      {"CompressedInt8", "fp8-channel", weights("type", R"("int")"),
       "weights.type is 'int', expected 'float'"},
  };
}

INSTANTIATE_TEST_SUITE_P(Table, RefusedQuantisation, ::testing::ValuesIn(refusals()),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(QuantisedCheckpoints, AutoRoundsFoldersAreThoseOfTheFormThatTheyName) {
  Copy copy("gptq");
  copy.config["quantization_config"] = {{"quant_method", "auto-round"},
                                        {"bits", 4},
                                        {"group_size", 16},
                                        {"sym", false},
                                        {"data_type", "int"},
                                        {"packing_format", "auto_round:auto_gptq"},
                                        {"extra_config", {{"lm_head", {{"bits", 16}}}}}};
  const auto found = copy.load();
  ASSERT_TRUE(found) << found.error().message;
  const Checkpoint expected = opened(golden("gptq"), BlockMatrices::widened);
  EXPECT_EQ(numbers_of(found->weights.layers[0].down), numbers_of(expected.weights.layers[0].down));
}

TEST(QuantisedCheckpoints, ModeloptMaySayItInAFileOfItsOwn) {
  Copy copy("modelopt-nvfp4");
  copy.config.erase("quantization_config");
  const auto own = [&](const char* algorithm) {
    write_bytes(copy.folder / "hf_quant_config.json",
                fmt::format(R"({{"producer": {{"name": "modelopt"}}, "quantization": {{"quant_algo": "{}",
                           "kv_cache_quant_algo": "FP8", "group_size": 16, "exclude_modules": ["lm_head"]}}}})",
                            algorithm));
  };
  own("NVFP4");
  const Checkpoint expected = opened(golden("modelopt-nvfp4"), BlockMatrices::widened);
  const auto found = copy.load();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(numbers_of(found->weights.layers[0].up), numbers_of(expected.weights.layers[0].up));
  EXPECT_EQ(expected.stored_as, "safetensors nvfp4");
  own("NVFP4_AWQ");
  EXPECT_THAT(copy.message(),
              HasSubstr("hf_quant_config.json: quantization.quant_algo is 'NVFP4_AWQ', expected"));
}

TEST(QuantisedCheckpoints, MlxsOtherWidthsAndModesAreRefusedByName) {
  for (const auto& [change, expected] :
       {std::pair{R"({"bits": 3})", "quantization.bits is 3, expected 4 or 8"},
        std::pair{R"({"mode": "nvfp4"})", "quantization.mode is 'nvfp4', expected 'affine' or 'mxfp4'"},
        std::pair{R"({"model.layers.0.mlp.up_proj": {"bits": 6}})", "up_proj.bits is 6, expected 4 or 8"},
        std::pair{R"({"model.layers.0.mlp.up_proj": {"bits": 8}})",
                  "up_proj.weight: shape is [64, 4], expected"},
        std::pair{R"({"twice": 1})", "quantization.twice is 1, expected none"}}) {
    Copy copy("mlx-4");
    copy.config["quantization"].update(nlohmann::json::parse(change));
    copy.config["quantization_config"] = copy.config["quantization"];
    EXPECT_THAT(copy.message(), HasSubstr(expected));
  }
}

struct Tampering {
  const char* name;
  const char* golden;
  const char* from;  ///< text in the header
  const char* to;    ///< replacement of the same length
  const char* expected;
};

class DamagedQuantisation : public ::testing::TestWithParam<Tampering> {};

TEST_P(DamagedQuantisation, IsRefusedByTheTensorsName) {
  Copy copy(GetParam().golden);
  const std::string_view from = GetParam().from;
  ASSERT_EQ(from.size(), std::string_view(GetParam().to).size());
  const auto place = copy.tensors.find(from);
  ASSERT_NE(place, std::string::npos);
  copy.tensors.replace(place, from.size(), GetParam().to);
  EXPECT_THAT(copy.message(), HasSubstr(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    Table, DamagedQuantisation,
    ::testing::Values(
        Tampering{"NoZeros", "awq", "q_proj.qzeros", "q_proj.qzeroX",
                  "tensor model.layers.0.self_attn.q_proj.qzeros is missing, expected one of [2, 4]"},
        Tampering{"NoScales", "gptq", "v_proj.scales", "v_proj.scaleX", "v_proj.scales is missing"},
        Tampering{"NoMatrix", "awq", "up_proj.qweight", "up_proj.qweighX",
                  "tensor model.layers.0.mlp.up_proj.weight is missing"},
        Tampering{"UnknownPart", "gptq", "up_proj.g_idx", "up_proj.g_idX",
                  "found tensor 'model.layers.0.mlp.up_proj.g_idX'"},
        Tampering{"NoGlobalScale", "nvfp4", "up_proj.weight_global_scale", "up_proj.weight_global_scalX",
                  "up_proj.weight_global_scale is missing"},
        Tampering{"NoScalesOfRows", "mxfp8", "up_proj.weight_scale", "up_proj.weight_scalX",
                  "up_proj.weight_scale is missing"},
        Tampering{"NoMinima", "mlx-4", "up_proj.biases", "up_proj.biaseX", "up_proj.biases is missing"},
        Tampering{"NoPackedZeros", "pack-4", "up_proj.weight_zero_point", "up_proj.weight_zero_poinX",
                  "up_proj.weight_zero_point is missing"},
        Tampering{"NoScale", "fp8-tensor", "up_proj.weight_scale", "up_proj.weight_scalX",
                  "up_proj.weight_scale is missing, expected it or"}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(QuantisedCheckpoints, AGroupThatIsNotThereIsRefused) {
  Copy copy("gptq-8-act");
  std::string& bytes = copy.tensors;
  // Every g_idx of this file is a permutation. Change one entry to a group that the model does not have.
  const std::string_view name = "model.layers.0.mlp.up_proj.g_idx";
  const auto place = bytes.find(name);
  ASSERT_NE(place, std::string::npos);
  const auto offsets = bytes.find("\"data_offsets\":[", place) + 16;
  std::uint64_t json_bytes = 0;
  for (int i = 7; i >= 0; --i)
    json_bytes = json_bytes << 8U | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  const std::size_t data = 8 + json_bytes + std::stoul(bytes.substr(offsets, 12));
  bytes[data + 4] = 99;
  EXPECT_THAT(copy.message(), HasSubstr("up_proj.g_idx: element 1 is 99, expected a group from 0 to 3"));
}

}  // namespace
}  // namespace draftscope::engine

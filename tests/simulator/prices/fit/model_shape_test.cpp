// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/csv_table.h>
#include <draftscope/simulator/prices/layer_plan.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/speculation/model_config.h>
#include <draftscope/speculation/model_families.h>
#include <draftscope/speculation/model_shape_json.h>
#include <draftscope/speculation/published_models.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "prices/fit/cost_parameters.h"

namespace draftscope::simulator {
namespace {

using ::testing::HasSubstr;

std::string models_csv() {
  std::ifstream file(DRAFTSCOPE_SOURCE_DIR "/models/models.csv");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The columns of the table were computed from parameter counts, norms included, and rounded.
TEST(Work, BytesAgreeWithTheTableOfPublishedModels) {
  const auto table = CsvTable::parse(models_csv(), "models.csv");
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_GT(table->rows(), 20U);
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const auto shape = speculation::find_model_shape(*table->text(row, "name"));
    ASSERT_TRUE(shape) << shape.error().message;
    double layer = 0.0;
    for (const speculation::Operation operation :
         {speculation::Operation::qkv, speculation::Operation::output, speculation::Operation::gate_up,
          speculation::Operation::down})
      layer += work_of(operation, *shape, WeightType::bf16, 1.0).weight_bytes;
    EXPECT_NEAR(layer / 1e6, **table->number(row, "layer_mb_bf16"), 0.1) << shape->name;
    EXPECT_NEAR(work_of(speculation::Operation::head, *shape, WeightType::bf16, 1.0).weight_bytes / 1e6,
                **table->number(row, "lm_head_mb_bf16"), 0.1)
        << shape->name;
    EXPECT_EQ(shape->n_layers * work_of(speculation::Operation::attention, *shape, WeightType::bf16, 1.0)
                                    .kv_bytes_per_context_row,
              **table->number(row, "kv_bytes_per_token_bf16"))
        << shape->name;
    // The difference is within norms and the rounding to MB.
    const double step_gb = weight_bytes_per_step(*shape, WeightType::bf16) / 1e9;
    EXPECT_NEAR(step_gb / **table->number(row, "weights_read_per_step_gb_bf16"), 1.0, 5e-4) << shape->name;
  }
}

TEST(Work, DtypeAndTensorParallelismScaleBytes) {
  const ModelShape shape = *speculation::find_model_shape("Llama-3-8B");
  for (const speculation::Operation operation :
       {speculation::Operation::qkv, speculation::Operation::output, speculation::Operation::gate_up,
        speculation::Operation::down}) {
    const double bf16 = work_of(operation, shape, WeightType::bf16, 1.0).weight_bytes;
    EXPECT_EQ(work_of(operation, shape, WeightType::fp16, 1.0).weight_bytes, bf16);
    EXPECT_EQ(work_of(operation, shape, WeightType::fp32, 1.0).weight_bytes, 2.0 * bf16);
    EXPECT_EQ(work_of(operation, shape, WeightType::fp8, 1.0).weight_bytes, 0.5 * bf16);
    EXPECT_EQ(work_of(operation, shape, WeightType::bf16, 1.0, 4).weight_bytes, 0.25 * bf16);
  }
  // The head stays as stored; K/V heads can't be split below one.
  EXPECT_EQ(work_of(speculation::Operation::head, shape, WeightType::fp8, 1.0).weight_bytes,
            work_of(speculation::Operation::head, shape, WeightType::bf16, 1.0).weight_bytes);
  EXPECT_EQ(
      work_of(speculation::Operation::attention, shape, WeightType::bf16, 1.0, 16).kv_bytes_per_context_row,
      work_of(speculation::Operation::attention, shape, WeightType::bf16, 1.0, 8).kv_bytes_per_context_row);
}

TEST(Work, AnMlpWithoutAGateHasTwoMatricesHoweverTheModelIsNamed) {
  ModelShape shape = *speculation::find_model_shape("Apertus-8B");
  const auto gate_up = [](const ModelShape& of) {
    return work_of(speculation::Operation::gate_up, of, WeightType::bf16, 1.0).weight_bytes;
  };
  EXPECT_EQ(gate_up(shape), work_of(speculation::Operation::down, shape, WeightType::bf16, 1.0).weight_bytes);
  const auto recorded = speculation::parse_recorded_shape(speculation::recorded_shape_json(shape), "meta");
  ASSERT_TRUE(recorded) << recorded.error().message;
  EXPECT_EQ(gate_up(*recorded), gate_up(shape));
  const nlohmann::json named = speculation::named_sizes_json(shape);
  const auto calibrated = speculation::parse_named_sizes(JsonField(named, "calibration"));
  ASSERT_TRUE(calibrated) << calibrated.error().message;
  EXPECT_EQ(gate_up(*calibrated), gate_up(shape));
  EXPECT_TRUE(speculation::same_sizes(*calibrated, shape));
  shape.traits.gated_mlp = true;
  EXPECT_FALSE(speculation::same_sizes(*calibrated, shape));
  EXPECT_EQ(gate_up(shape), 2.0 * gate_up(*recorded));
  const auto planned = parse_planned_model(
      R"({"model_type":"arcee","num_hidden_layers":2,"hidden_size":64,"num_attention_heads":4,
          "intermediate_size":96,"vocab_size":10,"num_nextn_predict_layers":1})",
      "config.json");
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(planned->shape.mlp_matrices(), 2);
  EXPECT_EQ(planned->plan->mlps.front().matrices, 2);
}

TEST(ModelShape, AConfigurationAndATraceSayTheSame) {
  const auto config = speculation::parse_model_sizes(
      {R"({"num_hidden_layers":16,"hidden_size":2048,"num_attention_heads":32,"num_key_value_heads":8,
          "head_dim":64,"intermediate_size":8192,"vocab_size":128256})",
       "config.json"});
  const auto recorded = recorded_shape(
      {{"model", "m"},
       {"model_shape",
        R"({"n_layers":16,"d_model":2048,"n_heads":32,"n_kv_heads":8,"head_dim":64,"d_ff":8192,"vocab":128256})"}});
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_TRUE(recorded) << recorded.error().message;
  const ModelShape known = *speculation::find_model_shape("meta-llama/llama-3.2-1b");
  for (const ModelShape& shape : {*config, *recorded}) {
    EXPECT_EQ(weight_bytes_per_step(shape, WeightType::bf16), weight_bytes_per_step(known, WeightType::bf16));
    EXPECT_EQ(shape.kv_width(), known.kv_width());
  }
  const auto defaults = speculation::parse_model_sizes(
      {R"({"num_hidden_layers":2,"hidden_size":64,"num_attention_heads":4,"intermediate_size":96,"vocab_size":10,
          "head_dim":null})",
       "config.json"});
  ASSERT_TRUE(defaults) << defaults.error().message;
  EXPECT_EQ(defaults->n_kv_heads, 4);
  EXPECT_EQ(defaults->head_dim, 16);
}

TEST(ModelShape, EveryShapeOfTheTableIsFoundByItsName) {
  const auto shapes = speculation::known_model_shapes();
  ASSERT_TRUE(shapes) << shapes.error().message;
  EXPECT_GT(shapes->size(), 20U);
  for (const ModelShape& shape : *shapes) {
    const auto found = speculation::find_model_shape(shape.name);
    ASSERT_TRUE(found) << shape.name;
    EXPECT_EQ(found->name, shape.name);
    EXPECT_EQ(found->d_ff, shape.d_ff);
  }
}

TEST(ModelShape, AbsentKvHeadsAreTheFamilysInEngineAndSimulatorAlike) {
  constexpr std::string_view text =
      R"({"architectures":["MistralForCausalLM"],"num_hidden_layers":2,"hidden_size":512,
          "num_attention_heads":32,"intermediate_size":96,"vocab_size":10})";
  const auto priced = speculation::parse_model_sizes({text, "config.json"});
  const auto run = speculation::parse_model_config({text, "config.json"});
  ASSERT_TRUE(priced) << priced.error().message;
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(priced->n_kv_heads, 8);
  EXPECT_TRUE(speculation::same_sizes(*priced, *run));
}

TEST(ModelShape, ADecoderNestedInAModelOfImagesIsPricedByItself) {
  constexpr std::string_view text =
      R"({"architectures":["Gemma3ForConditionalGeneration"],"vision_config":{"hidden_size":1152},
          "text_config":{"hidden_size":2560,"intermediate_size":10240,"num_hidden_layers":34}})";
  const auto priced = speculation::parse_model_sizes({text, "config.json"});
  const auto run = speculation::parse_model_config({text, "config.json"});
  ASSERT_TRUE(priced) << priced.error().message;
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(speculation::same_sizes(*priced, *run));
  EXPECT_TRUE(speculation::same_sizes(*priced, *speculation::find_model_shape("Gemma-3-4B")));
}

TEST(ModelShape, AWidthThatTheHeadsDoNotDivideIsRefusedNotTruncated) {
  constexpr std::string_view text =
      R"({"num_hidden_layers":2,"hidden_size":65,"num_attention_heads":4,"intermediate_size":96,"vocab_size":10})";
  const auto shape = speculation::parse_model_sizes({text, "config.json"});
  ASSERT_FALSE(shape);
  EXPECT_EQ(shape.error().message,
            "config.json: hidden_size is 65, expected a multiple of num_attention_heads 4");
}

TEST(ModelShape, TraitsThatNoDenseDecoderHasAreRefusedByName) {
  const auto refusal = [](const std::string& more) {
    const std::string text = R"({"num_hidden_layers":2,"hidden_size":64,"num_attention_heads":4,
        "intermediate_size":96,"vocab_size":10)" +
                             more + "}";
    const auto shape = speculation::parse_model_sizes({text, "config.json"});
    return shape ? std::string("accepted") : shape.error().message;
  };
  EXPECT_EQ(
      refusal(R"(,"num_local_experts":8)"),
      "config.json: num_local_experts is 8: the model has a mixture of experts, expected a dense decoder");
  EXPECT_THAT(refusal(R"(,"model_type":"deepseek_v3","n_routed_experts":256)"),
              HasSubstr("mixture of experts"));
  EXPECT_THAT(refusal(R"(,"num_experts":128)"), HasSubstr("mixture of experts"));
  EXPECT_THAT(refusal(R"(,"kv_lora_rank":512)"), HasSubstr("latent attention"));
  EXPECT_THAT(refusal(R"(,"text_config":{})"), HasSubstr("text_config is an object"));
  EXPECT_THAT(refusal(R"(,"architectures":["GPTBigCodeForCausalLM"])"), HasSubstr("'GPTBigCodeForCausalLM'"));
  EXPECT_THAT(refusal(R"(,"model_type":"bloom")"), HasSubstr("'bloom'"));
  // A dense model may have these keys as well.
  for (const char* more :
       {"", R"(,"num_local_experts":1)", R"(,"num_experts":null)", R"(,"kv_lora_rank":null)",
        R"(,"is_encoder_decoder":false)", R"(,"architectures":[])",
        R"(,"architectures":["Gemma2ForCausalLM"])", R"(,"model_type":"olmo2")"})
    EXPECT_EQ(refusal(more), "accepted") << more;
  for (const speculation::ModelFamily& family : speculation::model_families())
    EXPECT_EQ(refusal(fmt::format(R"(,"head_dim":16,"num_key_value_heads":4,"model_type":"{}")",
                                  family.model_type)),
              "accepted");
}

TEST(ModelShape, ARecordingGivesBackWhatWasWritten) {
  ModelShape shape = *speculation::find_model_shape("Qwen2.5-0.5B");
  shape.eos_tokens = {7, 9};
  shape.sliding_window = 128;
  const std::string text = speculation::recorded_shape_json(shape);
  const auto read = speculation::parse_recorded_shape(text, "meta model_shape");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(speculation::recorded_shape_json(*read), text);
  EXPECT_TRUE(speculation::same_sizes(*read, shape));
  EXPECT_EQ(read->eos_tokens, shape.eos_tokens);
}

TEST(ModelShape, BadInputIsNamed) {
  EXPECT_THAT(speculation::find_model_shape("Llama-3-9B").error().message, HasSubstr("Llama-3-8B"));
  EXPECT_THAT(speculation::parse_model_sizes({"{}", "config.json"}).error().message,
              HasSubstr("num_hidden_layers is missing"));
  EXPECT_THAT(speculation::parse_model_sizes({"[", "config.json"}).error().message, HasSubstr("config.json"));
  const auto with = [](const char* layers, const char* heads) {
    const std::string text = fmt::format(
        R"({{"num_hidden_layers":{},"hidden_size":64,"num_attention_heads":4,
        "num_key_value_heads":{},"intermediate_size":96,"vocab_size":10}})",
        layers, heads);
    return speculation::parse_model_sizes({text, "c"});
  };
  EXPECT_TRUE(with("2", "2"));
  EXPECT_THAT(with("0", "2").error().message, HasSubstr("num_hidden_layers is 0"));
  EXPECT_THAT(with("-1", "2").error().message, HasSubstr("num_hidden_layers is -1"));
  EXPECT_THAT(with("99999999999999999999", "2").error().message, HasSubstr("num_hidden_layers"));
  EXPECT_THAT(with("18446744073709551615", "2").error().message, HasSubstr("num_hidden_layers"));
  EXPECT_THAT(with("2.5", "2").error().message, HasSubstr("num_hidden_layers is 2.5"));
  EXPECT_THAT(with("2", "3").error().message, HasSubstr("num_key_value_heads is 3"));
  EXPECT_FALSE(recorded_shape({}));
  EXPECT_FALSE(recorded_shape({{"model_shape", "7"}}));
}

}  // namespace
}  // namespace draftscope::simulator

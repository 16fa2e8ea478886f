// SPDX-License-Identifier: GPL-3.0-or-later
// `draftscope inspect` on models, and on files that are neither a model nor a trace.
#include <draftscope/engine/checkpoint.h>
#include <draftscope/speculation/catalogue/strategy_catalogue.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "printed.h"
#include "terminal/table.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* inspected_model = DRAFTSCOPE_SOURCE_DIR "/models/demo-layerskip";
constexpr const char* tiny_gguf = DRAFTSCOPE_SOURCE_DIR "/tests/fuzz/corpus/gguf/llama";

/// The text without the rows of strategies that the golden text does not name: a new one may be anywhere.
std::string without_new_strategies(const std::string& text, const std::string& golden) {
  std::string kept;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string row = line.substr(0, line.find(' ', 2));
    const bool is_strategy =
        row.starts_with("  ") && speculation::strategy_catalogue().find(row.substr(2)) != nullptr;
    if (!is_strategy || golden.find("\n" + row + (line == row ? "\n" : " ")) != std::string::npos)
      kept += line + "\n";
  }
  return kept;
}

TEST(InspectModel, ShowsAModelOnOneScreen) {
  const CommandResult result = run_line("inspect {}", inspected_model);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string path = DRAFTSCOPE_SOURCE_DIR "/tests/cli/golden/inspect_model.txt";
  if (std::getenv("DRAFTSCOPE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << result.out;
  const std::string golden = bytes_of(path);
  EXPECT_EQ(without_new_strategies(result.out, golden), golden);
}

TEST(InspectModel, FitsATerminalWhateverTheModel) {
  for (const std::string& model :
       {std::string(inspected_model), std::string(tiny_gguf), std::string("synthetic:Llama-3-70B"),
        std::string("synthetic:Gemma-3-4B"), std::string("synthetic:Phi-4-mini")}) {
    const CommandResult result = run_line("inspect {}", model);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_LE(std::count(result.out.begin(), result.out.end(), '\n'), 40) << model;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100U) << line;
  }
}

TEST(InspectModel, GivesAProgramEveryNumberAndEveryStrategy) {
  const json found = printed_json("inspect {} --json", inspected_model);
  const auto checkpoint = engine::load_checkpoint(inspected_model);
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  // The expected count follows the shape's formula, with two norms per layer and one after the last layer.
  const speculation::ModelShape& shape = checkpoint->shape;
  const std::int64_t d = shape.d_model;
  const std::int64_t layer = 2 * d * shape.q_width() + 2 * d * shape.kv_width() + 3 * d * shape.d_ff + 2 * d;
  EXPECT_EQ(found["parameters"], shape.n_layers * layer + d * shape.vocab + d);
  EXPECT_EQ(found["weight_bytes"], checkpoint->weight_bytes());
  EXPECT_EQ(found["bytes_per_step"], checkpoint->bytes_per_step());
  EXPECT_EQ(found["kv_bytes_per_token"], 2 * 2 * shape.kv_width() * shape.n_layers);
  EXPECT_EQ(found["file_bytes"],
            std::filesystem::file_size(std::filesystem::path(inspected_model) / "model.safetensors"));
  EXPECT_EQ(found["eos"], json::parse(R"([{"id": 4095, "text": "<|end_of_text|>"}])"));
  EXPECT_EQ(found["bos"], json::parse(R"({"id": 4094, "text": "<|begin_of_text|>"})"));
  EXPECT_EQ(found["chat_template"], false);
  EXPECT_TRUE(found["chat_template_problem"].is_null());
  const auto rows = speculation::strategy_catalogue().strategies();
  ASSERT_EQ(found["strategies"].size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(found["strategies"][i]["name"], rows[i].name);
  const json& layerskip = found["strategies"][1];
  const double exit = layerskip["parameters"]["exit"].get<double>();
  EXPECT_DOUBLE_EQ(layerskip["draft_layers"].get<double>(), exit + found["head_in_layers"].get<double>());
}

TEST(InspectModel, SaysWhatDraftsOrWhatIsLackingForEveryStrategy) {
  for (const std::string model : {DRAFTSCOPE_SOURCE_DIR "/models/demo-mtp", inspected_model, tiny_gguf}) {
    const json found = printed_json("inspect {} --json", model);
    for (const speculation::StrategyRow& row : speculation::strategy_catalogue().strategies()) {
      const auto& shown = *std::find_if(found["strategies"].begin(), found["strategies"].end(),
                                        [&](const json& strategy) { return strategy["name"] == row.name; });
      EXPECT_EQ(shown["draft"].is_null() && shown["lacks"].is_null(), row.is_baseline)
          << row.name << " on " << model;
    }
  }
}

TEST(InspectModel, SaysWhatAStrategyLacks) {
  // The model has one layer, so there is no exit before the last, and nothing to skip.
  const json small = printed_json("inspect {} --json", tiny_gguf);
  for (const json& strategy : small["strategies"])
    if (strategy["name"] == "swift" || strategy["name"] == "two-model" || strategy["name"] == "tuned") {
      EXPECT_THAT(strategy["lacks"].get<std::string>(), HasSubstr("expected")) << strategy["name"];
      EXPECT_TRUE(strategy["draft_layers"].is_null());
    }
}

TEST(InspectModel, GoesByTheContentAndNotByTheName) {
  const TemporaryFolder folder;
  const std::string model = (folder / "model.dstrace").string();
  const std::string trace = (folder / "trace.gguf").string();
  std::filesystem::copy_file(tiny_gguf, model);
  write_trace(trace, small_recording(), small_spans());
  EXPECT_THAT(run_line("inspect {}", model).out, HasSubstr("parameters"));
  EXPECT_THAT(run_line("inspect {}", trace).out, HasSubstr("schema"));
}

TEST(InspectModel, RefusesWhatIsNeitherInOneLine) {
  const TemporaryFolder folder;
  const std::string text = (folder / "notes.gguf").string();
  std::ofstream(text) << "some notes";
  const std::string empty = (folder / "empty.dstrace").string();
  std::ofstream(empty) << "";
  const std::string truncated = (folder / "truncated").string();
  std::ofstream(truncated) << "GGUF";
  for (const std::string& odd :
       {text, empty, truncated, (folder / "absent").string(), (folder / "").string(),
        std::string("synthetic:"), std::string("synthetic:nothing"), std::string()}) {
    const CommandResult result = run_line("inspect {}", odd);
    EXPECT_EQ(result.exit_code, 1) << odd;
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err, "") << odd;
  }
  EXPECT_THAT(run_line("inspect {}", text).err, HasSubstr("neither a trace (SQLite) nor a model (GGUF)"));
  EXPECT_THAT(run_line("inspect {}", empty).err,
              HasSubstr(empty + ": found an empty file, expected a trace or a model\n"));
  EXPECT_THAT(run_line("inspect {} --validate", inspected_model).err,
              HasSubstr("validate: given for a model"));
}

}  // namespace
}  // namespace draftscope::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Recordings whose texts and times follow a rule (shadowed_recording.h), opened and trained on.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "../cli/trace_files.h"
#include "../simulator/answers/advice/shadowed_recording.h"
#include "../simulator/prices/calibration/planted_calibration.h"
#include "sample.h"
#include "what_if/questions/trained_recording.h"

namespace draftscope::gui {

class WhatIfRecordings : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path write(const simulator::ShadowedRecording& what = {},
                                            const std::string& name = "run.dstrace") const {
    write_shadowed_recording(what, folder_ / name);
    return folder_ / name;
  }
  [[nodiscard]] static TrainedPointer train(const std::filesystem::path& path,
                                            const std::string& recorded_gpu = {}) {
    return TrainedRecording::train(OpenedRecording::open(path).value(), recorded_gpu).value();
  }

  /// Imports a recording of 20 answers with these options. It has only accepted lengths, with an acceptance
  /// rate of 0.7.
  [[nodiscard]] std::filesystem::path import_answers(const std::vector<std::string>& options,
                                                     const std::string& name = "imported.dstrace") const {
    std::mt19937_64 random(5);
    std::bernoulli_distribution is_accepted(0.7);
    std::ofstream file(folder_ / "answers.jsonl");
    for (int question = 0; question < 20; ++question) {
      nlohmann::json lengths = nlohmann::json::array();
      for (int round = 0; round < 60; ++round) {
        int accepted = 0;
        while (accepted < 5 && is_accepted(random)) ++accepted;
        lengths.push_back(accepted);
      }
      file << nlohmann::json{{"question_id", question}, {"accepted", lengths}} << '\n';
    }
    file.close();
    std::vector<std::string> command{
        "import", (folder_ / "answers.jsonl").string(), "-q", "--overwrite", "-o", (folder_ / name).string()};
    command.insert(command.end(), options.begin(), options.end());
    const cli::CommandResult imported = cli::run_command(command);
    EXPECT_EQ(imported.exit_code, 0) << imported.err;
    return folder_ / name;
  }

  [[nodiscard]] std::filesystem::path write_text(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  /// The following files describe a measured machine, a specified one, and a model.
  [[nodiscard]] std::filesystem::path calibration_file() const {
    return write_text("machine.json", simulator::calibration_json(simulator::planted_calibration(
                                          {.truth = simulator::planted_processor()})));
  }
  [[nodiscard]] std::filesystem::path specification_file() const {
    return write_text(
        "card.json",
        R"({"name": "Card", "mem_type": "GDDR6", "mem_bw_gbs": 500, "bf16_dense_tflops": 80, "link_gbs_unidir": 30})");
  }
  [[nodiscard]] std::filesystem::path config_file() const {
    return write_text("config.json",
                      R"({"model_type": "llama", "num_hidden_layers": 12, "hidden_size": 512,
                          "num_attention_heads": 8, "num_key_value_heads": 4, "intermediate_size": 1024,
                          "vocab_size": 2000})");
  }

  traces::TestFolder folder_;
};

}  // namespace draftscope::gui

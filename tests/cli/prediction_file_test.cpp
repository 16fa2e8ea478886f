// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the file that `simulate -o` writes, and `validate`, which compares it with a later recording.

#include <draftscope/base/sha256.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "../value_of.h"
#include "printed.h"
#include "report/answers/check_prediction.h"
#include "report/answers/prediction_file.h"
#include "terminal/messages.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// These are FIPS 180-4's examples, as NIST publishes them.
TEST(Digest, IsSha256) {
  EXPECT_EQ(sha256_of(""), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abc"), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "sha256:248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  const TemporaryFolder folder;
  const std::string million(1'000'000, 'a');
  std::ofstream(folder / "a") << million;
  EXPECT_EQ(sha256_of_file(folder / "a").value(),
            "sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_FALSE(sha256_of_file(folder / "absent"));
  EXPECT_FALSE(sha256_of_file(folder / "."));
}

json small_question(const std::string& gpu) {
  return {{"gpu", gpu},
          {"model_shape",
           {{"name", "hand-made"},
            {"n_layers", 8},
            {"d_model", 64},
            {"n_heads", 4},
            {"n_kv_heads", 4},
            {"head_dim", 16},
            {"d_ff", 128},
            {"vocab", 100}}},
          {"weights", "f32"},
          {"batch", 1},
          {"tensor_parallel", 1}};
}

/// A prediction of small_recording(), as if simulate had written it; the second question is about a GPU.
json small_document() {
  json document{{"format", 2}, {"recording", "small.dstrace"}, {"costs", json::object()}};
  json answer{{"strategy", "layerskip:exit=2,gamma=4"},
              {"machine", "as recorded"},
              {"speedup", 1.3},
              {"speedup_max_drafted", 1.1},
              {"interval_80", {1.0, 1.5}},
              {"interval_95", {0.1, 1.75}},
              {"tokens_per_round", 2.5}};
  document["answers"] = json::array({answer});
  answer["interval_80"] = answer["interval_95"] = answer["speedup_max_drafted"] = nullptr;
  answer["machine"] = "H200";
  document["answers"].push_back(answer);
  document["refusals"] = json::array({{{"strategy", "swift"}, {"machine", ""}, {"reason", "no rounds"}}});
  document["prediction"] = {{"created", "2023-11-14T22:13:20Z"},
                            {"created_realtime_ns", 1'700'000'000'123'456'789},
                            {"tool_version", "0.2.0"},
                            {"command_line", "draftscope simulate \"caf\xc3\xa9\""},
                            {"recording_sha256", sha256_of("recording")},
                            {"recording_meta", small_recording().meta},
                            {"prompts", {sha256_of("Why?"), sha256_of("1+1")}},
                            {"questions", {small_question(""), small_question("H200-SXM5-141GB")}}};
  return document;
}

/// The document's text with a new seal.
std::string sealed(json document) {
  document["prediction"].erase("digest");
  document["prediction"]["digest"] = sha256_of(document.dump());
  return document.dump(2);
}

TEST(PredictionText, IsReadAsItWasWritten) {
  const auto read = value_of(parse_prediction(sealed(small_document()), "p.json"));
  EXPECT_EQ(read.recording, "small.dstrace");
  EXPECT_EQ(read.created_realtime_ns, 1'700'000'000'123'456'789);
  EXPECT_EQ(read.recording_meta, small_recording().meta);
  ASSERT_EQ(read.answers.size(), 2U);
  EXPECT_DOUBLE_EQ(read.answers[0].speedup, 1.2) << "the middle of a bounded answer";
  EXPECT_EQ(read.answers[0].interval_80->high, 1.5);
  EXPECT_EQ(read.answers[0].shape.n_layers, 8);
  EXPECT_EQ(read.answers[1].speedup, 1.3);
  EXPECT_FALSE(read.answers[1].interval_95);
  EXPECT_EQ(read.answers[1].gpu, "H200-SXM5-141GB");
  ASSERT_EQ(read.refusals.size(), 1U);
  EXPECT_EQ(read.refusals[0].reason, "no rounds");
}

TEST(PredictionText, RefusesEveryChangedCharacter) {
  const std::string text = sealed(small_document());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = text[i] == 'x' ? 'y' : 'x';
    EXPECT_FALSE(parse_prediction(changed, "p.json")) << "character " << i << ": " << changed.substr(i, 40);
  }
}

TEST(PredictionText, DoesNotDependOnTheOrderOfKeysOrWhiteSpace) {
  const std::string text = sealed(small_document());
  nlohmann::ordered_json turned;
  const auto ordered = nlohmann::ordered_json::parse(text);
  for (auto member = ordered.rbegin(); member != ordered.rend(); ++member)
    turned[member.key()] = member.value();
  ASSERT_NE(turned.dump(), json::parse(text).dump());
  EXPECT_TRUE(parse_prediction(turned.dump(), "p.json"));
}

TEST(PredictionText, NamesFieldsThatAreMissingOrOfAnotherType) {
  const auto message = [](const std::function<void(json&)>& change) {
    json content = small_document();
    change(content);
    const auto read = parse_prediction(sealed(content), "p.json");
    return read ? "was read" : read.error().message;
  };
  const auto prediction = [](const char* key, const json& value) {
    return [=](json& content) { content["prediction"][key] = value; };
  };
  EXPECT_EQ(message([](json&) {}), "was read");
  EXPECT_EQ(message([](json& content) { content["answers"][0].erase("speedup"); }),
            "p.json: answers[0].speedup is missing, expected a number");
  EXPECT_EQ(message([](json& content) { content["answers"][0]["interval_80"] = 7; }),
            "p.json: answers[0].interval_80 is 7, expected [low, high] or null");
  EXPECT_EQ(message([](json& content) { content["answers"][0].erase("interval_95"); }),
            "p.json: answers[0].interval_95 is missing, expected [low, high] or null");
  EXPECT_EQ(message([](json& content) { content["prediction"]["questions"][1]["batch"] = 1LL << 40; }),
            "p.json: prediction.questions[1].batch is 1099511627776, expected an integer from -2147483648 to "
            "2147483647");
  EXPECT_EQ(message([](json& content) { content["prediction"]["questions"].erase(1); }),
            "p.json: prediction.questions are 1, expected one for each of 2 answers");
  EXPECT_EQ(message([](json& content) { content["prediction"]["questions"][0] = 1; }),
            "p.json: prediction.questions[0] is 1, expected an object");
  EXPECT_EQ(message(prediction("created_realtime_ns", "now")),
            "p.json: prediction.created_realtime_ns is 'now', expected an integer");
  EXPECT_EQ(message(prediction("recording_meta", {{"dtype", 1}})),
            "p.json: prediction.recording_meta.dtype is 1, expected a string");
  for (const char* key : {"created_realtime_ns", "tool_version", "command_line", "recording_sha256",
                          "recording_meta", "prompts", "questions"})
    EXPECT_THAT(message([&](json& content) { content["prediction"].erase(key); }),
                HasSubstr(std::string("prediction.") + key + " is missing"));
  EXPECT_EQ(parse_prediction(R"({"answers":[]})", "p.json").error().message,
            "p.json: found no prediction, expected what simulate -o writes");
  EXPECT_FALSE(parse_prediction("7", "p.json"));
}

class CheckPrediction : public ::testing::Test {
 protected:
  CheckPrediction() : measured_(small_recording()) {
    prediction_ = parse_prediction(sealed(small_document()), "p.json").value();
    prediction_.answers.resize(1);
    prediction_.refusals.clear();
    measured_.path = "measured.dstrace";
    measured_.meta["model_shape"] = shape_;
    prediction_.recording_meta["model_shape"] = shape_;
    measured_.meta["clock_start_realtime_ns"] = std::to_string(prediction_.created_realtime_ns + 1);
  }
  [[nodiscard]] PredictionCheck check() const { return check_prediction(prediction_, measured_).value(); }
  [[nodiscard]] std::string error() const {
    const auto found = check_prediction(prediction_, measured_);
    return found ? "was compared" : found.error().message;
  }

  const std::string shape_ =
      R"({"n_layers":8,"d_model":64,"n_heads":4,"n_kv_heads":4,"head_dim":16,"d_ff":128,"vocab":100})";
  PredictionFile prediction_;
  traces::Recording measured_;
};

TEST_F(CheckPrediction, ComparesThePredictedWithTheMeasured) {
  const PredictionCheck found = check();
  ASSERT_EQ(found.answers.size(), 1U);
  EXPECT_TRUE(found.differences.empty());
  // Vanilla takes eight steps of 4 ms, the draft 4 + 3 draft steps of 1 ms and 3 verifications; both end with
  // 2 ms without activity.
  EXPECT_DOUBLE_EQ(found.answers[0].measured.speedup, 34.0 / 21.0);
  EXPECT_DOUBLE_EQ(found.answers[0].measured.draft_step_ns, 1e6);
}

TEST_F(CheckPrediction, SaysInASentenceWhetherThePredictionHolds) {
  const auto meaning = [&](simulator::Interval inner, simulator::Interval outer) {
    prediction_.answers[0].interval_80 = inner;
    prediction_.answers[0].interval_95 = outer;
    return check().answers[0].meaning();
  };
  EXPECT_EQ(meaning({1.5, 1.7}, {1.4, 1.8}),
            "The measured speedup lies in the 80 % interval: the prediction holds.");
  EXPECT_EQ(meaning({1.0, 1.5}, {0.9, 1.7}),
            "The measured speedup lies in the 95 % interval, but not in that of 80 %: the prediction holds, "
            "narrowly.");
  EXPECT_EQ(meaning({1.1, 1.2}, {1.0, 1.3}),
            "The measured speedup lies outside the 95 % interval: the prediction is wrong here, 25.9 % lower "
            "than measured.");
  prediction_.answers[0].interval_80.reset();
  prediction_.answers[0].interval_95.reset();
  prediction_.answers[0].speedup = 2.0;
  EXPECT_EQ(check().answers[0].meaning(),
            "The predicted speedup is 23.5 % higher than measured; no interval was predicted.");
}

TEST_F(CheckPrediction, RefusesWhatWasNotPredictedBefore) {
  measured_.meta["clock_start_realtime_ns"] = std::to_string(prediction_.created_realtime_ns - 120'000'000);
  EXPECT_EQ(error(),
            "measured.dstrace: was begun at 2023-11-14T22:13:20.003456789Z, expected after the prediction of "
            "2023-11-14T22:13:20.123456789Z");
  measured_.meta["clock_start_realtime_ns"] = std::to_string(prediction_.created_realtime_ns);
  EXPECT_THAT(error(), HasSubstr("was begun at 2023-11-14T22:13:20.123456789Z"));
  measured_.meta["clock_start_realtime_ns"] = "yesterday";
  EXPECT_THAT(error(), HasSubstr("clock_start_realtime_ns is 'yesterday'"));
  measured_.meta.erase("clock_start_realtime_ns");
  EXPECT_THAT(error(), HasSubstr("clock_start_realtime_ns"));
}

TEST_F(CheckPrediction, NamesWhatDiffersFromThePredictedExperiment) {
  measured_.meta["threads"] = "64";
  measured_.prompts[1].text = "2+2";
  EXPECT_EQ(check().differences,
            (std::vector<std::string>{"threads: learnt from \"2\", measured \"64\"",
                                      "prompts: 1 of the 2 measured are among the 2 learnt from"}));
}

TEST_F(CheckPrediction, LeavesOutWhatTheRecordingSaysNothingAbout) {
  prediction_ = parse_prediction(sealed(small_document()), "p.json").value();
  prediction_.recording_meta["model_shape"] = shape_;
  const PredictionCheck found = check();
  EXPECT_EQ(found.answers.size(), 1U);
  ASSERT_EQ(found.unmeasured.size(), 2U);
  EXPECT_EQ(found.unmeasured[0].reason, "predicted for H200-SXM5-141GB, measured on cpu");
  EXPECT_EQ(found.unmeasured[1].reason, "no answer was predicted: no rounds");
  prediction_.answers.resize(1);
  prediction_.refusals.clear();
  prediction_.answers[0].strategy = "layerskip:exit=3,gamma=4";
  EXPECT_EQ(error(), "measured.dstrace: answers none of the 1 predictions: no run of it was recorded");
  prediction_.answers[0].batch = 2;
  EXPECT_THAT(error(), HasSubstr("predicted for a batch of 2 on 1 GPUs"));
  prediction_.answers[0].weights = "q8_0";
  EXPECT_THAT(error(), HasSubstr("predicted for q8_0 weights"));
  prediction_.answers[0].shape.n_layers = 9;
  EXPECT_THAT(error(), HasSubstr("predicted for the sizes of hand-made, measured on hand-made"));
  prediction_.answers.clear();
  EXPECT_EQ(error(), "measured.dstrace: answers none of the 0 predictions: there is none");
}

TEST_F(CheckPrediction, OfAnotherGpuNeedsThatGpu) {
  prediction_.answers[0].gpu = "H200-SXM5-141GB";
  measured_.meta["device"] = "cuda";
  measured_.meta["processor"] = "NVIDIA H200";
  EXPECT_EQ(error(), "was compared");
  measured_.meta["processor"] = "NVIDIA L4";
  EXPECT_THAT(error(), HasSubstr("predicted for H200-SXM5-141GB, measured on NVIDIA L4"));
  prediction_.answers[0].gpu = "a card of one's own";
  measured_.meta["processor"] = "a card of one's own";
  EXPECT_EQ(error(), "was compared");
}

class SimulateAndValidate : public ::testing::Test {
 protected:
  static void record(const std::string& trace, const std::string& more) {
    record_trace(trace, "--repeats 1 --max-tokens 16 --quiet -s vanilla -s layerskip:exit=5,gamma=4 " + more);
  }
  void record_learnt() { record(trace_, "--shadow"); }
  void record_measured(const std::string& more = "") {
    record(measured_, "-s layerskip:exit=7,gamma=2 --overwrite " + more);
  }
  [[nodiscard]] CommandResult simulate(const std::string& more = "") const {
    return run_line("simulate {} -s layerskip:exit=5,gamma=4 -s layerskip:exit=7,gamma=2 -o {} " + more,
                    trace_, prediction_);
  }

  TemporaryFolder folder_;
  std::string trace_ = (folder_ / "learnt.dstrace").string();
  std::string prediction_ = (folder_ / "prediction.json").string();
  std::string measured_ = (folder_ / "measured.dstrace").string();
};

TEST_F(SimulateAndValidate, WalkFromARecordingToAComparison) {
  record_learnt();
  const CommandResult predicted = simulate();
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  const PredictionFile file = read_prediction(prediction_).value();
  EXPECT_THAT(predicted.err, HasSubstr(file.digest));
  EXPECT_THAT(file.command_line, HasSubstr("draftscope simulate "));
  EXPECT_EQ(file.recording_sha256, sha256_of(bytes_of(trace_)));
  EXPECT_EQ(file.prompts.size(), 6U);

  record_measured();
  const json found = printed_json("validate {} {} --json", prediction_, measured_);
  EXPECT_EQ(found["differences"], json::array());
  EXPECT_EQ(found["prediction"]["digest"], file.digest);
  ASSERT_EQ(found["answers"].size(), 2U);
  for (const json& answer : found["answers"]) {
    // Rounds are replayed exactly, so the tokens per round do not depend on the clock.
    EXPECT_DOUBLE_EQ(answer["predicted_tokens_per_round"], answer["measured_tokens_per_round"]);
    EXPECT_GT(answer["measured_speedup"], 0.0);
    EXPECT_DOUBLE_EQ(
        answer["error"].get<double>(),
        answer["predicted_speedup"].get<double>() / answer["measured_speedup"].get<double>() - 1.0);
  }
  EXPECT_THAT(run_line("validate {} {}", prediction_, measured_).out, HasSubstr("none: the experiment is"));

  expect_one_line(run_line("validate {} {}", prediction_, trace_), "expected after the prediction");
  std::string text = bytes_of(prediction_);
  text.replace(text.find("\"speedup\": "), 11, "\"speedup\": 1");
  std::ofstream(prediction_) << text;
  expect_one_line(run_line("validate {} {}", prediction_, measured_), "was changed after it was written");
}

TEST_F(SimulateAndValidate, DocumentEveryKeyOfTheFileAndTheComparison) {
  record_learnt();
  expect_success(simulate("--quiet"));
  record_measured("--limit 2");
  std::set<std::string> keys = keys_of(json::parse(bytes_of(prediction_)), {"recording_meta"});
  const CommandResult compared = run_line("validate {} {} --json", prediction_, measured_);
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  keys.merge(keys_of(json::parse(compared.out)));
  EXPECT_THAT(compared.out, HasSubstr("only 2 of the 6 learnt from were measured"));
  EXPECT_GT(keys.size(), 50U);
  expect_documented(keys);
}

TEST_F(SimulateAndValidate, RefuseInOneLineAndLeaveNothingBehind) {
  record_learnt();
  expect_one_line(simulate("--gpu H-nothing"), "H-nothing");
  expect_one_line(run_line("simulate {} -s del -o {}", prediction_, prediction_ + "2"), "prediction.json");
  EXPECT_FALSE(std::filesystem::exists(prediction_));
  expect_success(simulate("--quiet"));
  expect_success(simulate("--overwrite --quiet"));
  expect_one_line(run_line("validate {}", prediction_), "is a prediction with 0 recordings, expected one");
  for (const std::string of_recordings : {"--learn-from x", "--recorded-gpu L4", "--draws 200", "--seed 1"})
    expect_one_line(
        run_line("validate {} {} " + of_recordings, prediction_, trace_),
        "is a prediction, found " + of_recordings.substr(0, of_recordings.find(' ')) + " with it");
  std::ofstream(prediction_) << "{}";
  expect_one_line(run_line("validate {} {}", prediction_, trace_), "found no prediction");
  EXPECT_EQ(read_prediction(folder_ / ".").error().message,
            (folder_ / ".").string() + ": found a folder, expected a regular file");
}

}  // namespace
}  // namespace draftscope::cli

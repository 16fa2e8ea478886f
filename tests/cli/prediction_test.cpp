// SPDX-License-Identifier: GPL-3.0-or-later
// predict, measure, score.

#include <draftscope/base/sha256.h>
#include <draftscope/simulator/prediction/prediction_file.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "printed.h"
#include "terminal/outcome.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;

// FIPS 180-4's examples, as NIST publishes them.
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

/// A prediction of small_recording(), as if somebody had predicted it.
simulator::PredictionFile small_prediction() {
  simulator::PredictionFile prediction{.tool_version = "0.1.0",
                                       .command_line = "draftscope predict \"caf\xc3\xa9\"",
                                       .created_realtime_ns = 1'700'000'000'123'456'789,
                                       .recording = "small.dstrace",
                                       .recording_sha256 = sha256_of("recording"),
                                       .recording_meta = small_recording().meta,
                                       .prompts = {{81, 0, sha256_of("Why?")}, {82, 0, sha256_of("1+1")}},
                                       .draws = 1000,
                                       .seed = 0xFFFF'FFFF'FFFF'FFFFULL,
                                       .questions = {}};
  simulator::PredictedQuestion question{.kind = simulator::QuestionKind::unseen_length,
                                        .strategy = "layerskip:exit=2,gamma=4",
                                        .machine = "as recorded",
                                        .gpu = "",
                                        .shape = {"hand-made", "", 8, 64, 4, 4, 16, 128, 100},
                                        .weights = "f32",
                                        .regime = "as-fitted",
                                        .decoding = {.status = simulator::AnswerStatus::bounded,
                                                     .source = simulator::RoundSource::replayed,
                                                     .speedup = 1.2345678901234567,
                                                     .speedup_min_drafted = 1.3,
                                                     .speedup_max_drafted = 1.1,
                                                     .interval_80 = simulator::Interval{1.0, 1.5},
                                                     .interval_95 = simulator::Interval{0.1, 1.75},
                                                     .vanilla_step_ns = 4e6}};
  prediction.questions.push_back(question);
  question.decoding.interval_80.reset();
  question.decoding.interval_95.reset();
  question.decoding.no_interval_reason = "too few requests";
  question.notes = {"a note"};
  question.requests = {{sha256_of("Why?"), {9, 20, 7, 16}, {9, 24, 7, 16}}};
  question.gpu = "H200";
  prediction.questions.push_back(question);
  return prediction;
}

TEST(PredictionText, IsReadBackAsItWasWritten) {
  const std::string text = simulator::prediction_text(small_prediction());
  const auto read = simulator::parse_prediction(text, "p.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(simulator::prediction_text(*read), text);
  EXPECT_EQ(read->questions[0].decoding.speedup, 1.2345678901234567);
  EXPECT_EQ(read->questions[0].decoding.interval_80->high, 1.5);
  EXPECT_FALSE(read->questions[1].decoding.interval_95);
  ASSERT_EQ(read->questions[1].requests.size(), 1U);
  EXPECT_EQ(read->questions[1].requests[0].most.drafted, 24);
  EXPECT_EQ(read->seed, 0xFFFF'FFFF'FFFF'FFFFULL);
  EXPECT_THAT(text, HasSubstr("2023-11-14T22:13:20Z"));
}

TEST(PredictionText, RefusesEveryChangedCharacter) {
  const std::string text = simulator::prediction_text(small_prediction());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = text[i] == 'x' ? 'y' : 'x';
    EXPECT_FALSE(simulator::parse_prediction(changed, "p.json"))
        << "character " << i << ": " << changed.substr(i, 40);
  }
}

TEST(PredictionText, DoesNotDependOnTheOrderOfKeysOrWhiteSpace) {
  const std::string text = simulator::prediction_text(small_prediction());
  const std::string sorted = json::parse(text).dump();
  ASSERT_NE(sorted, text);
  EXPECT_TRUE(simulator::parse_prediction(sorted, "p.json"));
}

TEST(PredictionText, NamesFieldsThatAreMissingOrOfAnotherType) {
  const auto message = [](const std::function<void(json&)>& change) {
    json content = json::parse(simulator::prediction_text(small_prediction()));
    change(content);
    content.erase("digest");
    content["digest"] = sha256_of(content.dump());
    const auto read = simulator::parse_prediction(content.dump(), "p.json");
    return read ? std::string("was read") : read.error().message;
  };
  EXPECT_EQ(message([](json& content) { content["seed"] = "one"; }),
            "p.json: seed is 'one', expected an integer");
  EXPECT_EQ(
      message([](json& content) { content["predictions"][1]["batch"] = 1e12; }),
      "p.json: predictions[1].batch is 1000000000000.0, expected an integer from -2147483648 to 2147483647");
  EXPECT_EQ(
      message([](json& content) { content["predictions"][1]["batch"] = 1LL << 40; }),
      "p.json: predictions[1].batch is 1099511627776, expected an integer from -2147483648 to 2147483647");
  EXPECT_EQ(message([](json& content) { content["predictions"][0]["predicted"].erase("speedup"); }),
            "p.json: predictions[0].predicted.speedup is missing, expected a number");
  EXPECT_THAT(message([](json& content) { content["predictions"][0]["kind"] = "colour"; }),
              ::testing::StartsWith("p.json: predictions[0].kind is 'colour', expected "));
  EXPECT_EQ(message([](json& content) { content["predictions"] = json::array({1}); }),
            "p.json: predictions[0] is 1, expected an object");
  EXPECT_EQ(message([](json& content) { content["version"] = 2; }), "p.json: version is 2, expected 1");
  EXPECT_EQ(message([](json& content) { content["format"] = 7; }),
            "p.json: found no prediction, expected what draftscope predict writes");
}

class ScorePrediction : public ::testing::Test {
 protected:
  ScorePrediction() : measured_(small_recording()) {
    prediction_.digest = "sha256:mine";
    prediction_.questions.resize(1);
    measured_.path = "measured.dstrace";
    measured_.meta["model_shape"] = shape_;
    prediction_.recording_meta["model_shape"] = shape_;
    measured_.meta["clock_start_realtime_ns"] = std::to_string(prediction_.created_realtime_ns + 1);
  }
  [[nodiscard]] std::string error() const {
    const auto score = simulator::score_prediction(prediction_, measured_);
    return score ? "was scored" : score.error().message;
  }

  const std::string shape_ =
      R"({"n_layers":8,"d_model":64,"n_heads":4,"n_kv_heads":4,"head_dim":16,"d_ff":128,"vocab":100})";
  simulator::PredictionFile prediction_ = small_prediction();
  traces::Recording measured_;
};

TEST_F(ScorePrediction, SetsThePredictedBesideTheMeasured) {
  const auto score = simulator::score_prediction(prediction_, measured_);
  ASSERT_TRUE(score) << score.error().message;
  ASSERT_EQ(score->answers.size(), 1U);
  EXPECT_TRUE(score->differences.empty());
  EXPECT_FALSE(score->recorded_for_it);
  // Eight steps of 4 ms against 4 + 3 draft steps of 1 ms and 3 verifications; both end with 2 ms of nothing.
  EXPECT_DOUBLE_EQ(score->answers[0].measured.speedup, 34.0 / 21.0);
  EXPECT_DOUBLE_EQ(score->answers[0].measured.draft_step_ns, 1e6);
  EXPECT_EQ(score->answers[0].kind, simulator::QuestionKind::unseen_length);
}

TEST_F(ScorePrediction, ComparesRoundsWhereTheyWerePredicted) {
  using simulator::RoundMatch;
  EXPECT_EQ(simulator::score_prediction(prediction_, measured_)->answers[0].rounds.match,
            RoundMatch::not_compared);
  std::vector<simulator::PredictedRequest>& requests = prediction_.questions[0].requests;
  for (const simulator::RunRows& run : simulator::rows_by_run(measured_)) {
    if (run.run->is_baseline) continue;
    for (const simulator::RequestRows& rows : run.requests) {
      simulator::PredictedRequest::Counts counts;
      for (const traces::Round& round : rows.rounds) {
        ++counts.rounds;
        counts.drafted += round.drafted;
        counts.accepted += round.accepted;
        counts.emitted += round.emitted;
      }
      requests.push_back({sha256_of(rows.prompt->text), counts, counts});
    }
  }
  ASSERT_FALSE(requests.empty());
  const auto match = [&] {
    return simulator::score_prediction(prediction_, measured_)->answers[0].rounds.match;
  };
  EXPECT_EQ(match(), RoundMatch::exact);
  for (simulator::PredictedRequest& request : requests) ++request.most.drafted;
  EXPECT_EQ(match(), RoundMatch::bounded);
  for (simulator::PredictedRequest& request : requests) {
    ++request.least.rounds;
    ++request.most.rounds;
  }
  EXPECT_EQ(match(), RoundMatch::differs);
}

TEST_F(ScorePrediction, RefusesWhatWasNotPredictedBefore) {
  measured_.meta["clock_start_realtime_ns"] = std::to_string(prediction_.created_realtime_ns);
  EXPECT_EQ(error(),
            "measured.dstrace: was begun at 2023-11-14T22:13:20Z, expected after the prediction of "
            "2023-11-14T22:13:20Z");
  measured_.meta["clock_start_realtime_ns"] = "yesterday";
  EXPECT_THAT(error(), HasSubstr("clock_start_realtime_ns is 'yesterday'"));
  measured_.meta.erase("clock_start_realtime_ns");
  EXPECT_THAT(error(), HasSubstr("clock_start_realtime_ns"));
}

TEST_F(ScorePrediction, KnowsWhetherTheRecordingWasMadeForIt) {
  measured_.meta["prediction_digest"] = "sha256:mine";
  EXPECT_TRUE(simulator::score_prediction(prediction_, measured_).value().recorded_for_it);
  measured_.meta["prediction_digest"] = "sha256:yours";
  EXPECT_EQ(error(), "measured.dstrace: was recorded for the prediction sha256:yours, expected sha256:mine");
}

TEST_F(ScorePrediction, NamesWhatDiffersAndCallsOtherPromptsAnotherTask) {
  measured_.meta["threads"] = "64";
  measured_.prompts[1].text = "2+2";
  const simulator::PredictionScore score = simulator::score_prediction(prediction_, measured_).value();
  EXPECT_EQ(score.differences,
            (std::vector<std::string>{"threads: learnt from \"2\", measured \"64\"",
                                      "prompts: 1 of the 2 measured are among the 2 learnt from"}));
  EXPECT_EQ(score.answers[0].kind, simulator::QuestionKind::unseen_task);
}

TEST_F(ScorePrediction, LeavesOutWhatTheRecordingSaysNothingAbout) {
  prediction_ = small_prediction();  // its second question is about a GPU
  const simulator::PredictionScore score = simulator::score_prediction(prediction_, measured_).value();
  EXPECT_EQ(score.answers.size(), 1U);
  ASSERT_EQ(score.unmeasured.size(), 1U);
  EXPECT_EQ(score.unmeasured[0].reason, "predicted for H200, measured on cpu");
  prediction_.questions.resize(1);
  prediction_.questions[0].strategy = "layerskip:exit=3,gamma=4";
  EXPECT_EQ(error(), "measured.dstrace: answers none of the 1 predictions: no run of it was recorded");
  prediction_.questions[0].shape.n_layers = 9;
  EXPECT_THAT(error(), HasSubstr("predicted for the sizes of hand-made, measured on hand-made"));
  prediction_.questions.clear();
  EXPECT_EQ(error(), "measured.dstrace: answers none of the 0 predictions: there is none");
}

TEST_F(ScorePrediction, OfAnotherGpuNeedsThatGpu) {
  prediction_.questions[0].gpu = "H200-SXM5-141GB";
  measured_.meta["device"] = "cuda";
  measured_.meta["processor"] = "NVIDIA H200";
  EXPECT_EQ(error(), "was scored");
  measured_.meta["processor"] = "NVIDIA L4";
  EXPECT_THAT(error(), HasSubstr("predicted for H200-SXM5-141GB, measured on NVIDIA L4"));
  prediction_.questions[0].gpu = "a card of one's own";
  measured_.meta["processor"] = "a card of one's own";
  EXPECT_EQ(error(), "was scored");
}

class PredictMeasureScore : public ::testing::Test {
 protected:
  static CommandResult decode(Arguments arguments, const std::vector<std::string>& more) {
    const std::string source = DRAFTSCOPE_SOURCE_DIR;
    arguments.insert(arguments.end(), {"--model", source + "/models/demo-layerskip", "--prompts",
                                       source + "/traces/prompts/demo.jsonl", "--repeats", "1", "--quiet"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(arguments);
  }
  void record() {
    const CommandResult result = decode({"record", "-s", "vanilla", "-s", "layerskip:exit=5,gamma=4"},
                                        {"--shadow", "--threads", "1", "--max-tokens", "16", "-o", trace_});
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  [[nodiscard]] CommandResult predict(const Arguments& more) const {
    Arguments arguments{
        "predict", trace_,     "-s", "layerskip:exit=5,gamma=4", "-s", "layerskip:exit=7,gamma=2",
        "-o",      prediction_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(arguments);
  }
  static void expect_refused(const CommandResult& result, const std::string& says) {
    EXPECT_EQ(result.exit_code, exit_failure);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(says));
  }

  TemporaryFolder folder_;
  std::string trace_ = (folder_ / "learnt.dstrace").string();
  std::string prediction_ = (folder_ / "prediction.json").string();
  std::string measured_ = (folder_ / "measured.dstrace").string();
};

TEST_F(PredictMeasureScore, WalksFromARecordingToAScore) {
  record();
  const CommandResult predicted = predict({});
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  const simulator::PredictionFile file = simulator::read_prediction(prediction_).value();
  EXPECT_THAT(predicted.out, HasSubstr(file.digest));
  EXPECT_EQ(file.recording_sha256, sha256_of(read_file(trace_)));
  EXPECT_EQ(file.prompts.size(), 6U);

  // Token budget and threads are not given: they are the learnt recording's.
  const CommandResult measured = decode({"measure", prediction_}, {"-o", measured_});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const CommandResult scored = run_command({"score", prediction_, measured_, "--json"});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  const json score = json::parse(scored.out);
  EXPECT_EQ(score["differences"], json::array());
  EXPECT_EQ(score["measurement"]["recorded_for_it"], true);
  EXPECT_EQ(score["prediction"]["digest"], file.digest);
  ASSERT_EQ(score["answers"].size(), 2U);
  EXPECT_EQ(score["answers"][0]["kind"], "again");
  EXPECT_EQ(score["answers"][1]["kind"], "exit");
  for (const json& answer : score["answers"]) {
    // Rounds are replayed exactly, so the tokens per round are not a matter of the clock.
    EXPECT_DOUBLE_EQ(answer["predicted"]["tokens_per_round"], answer["measured"]["tokens_per_round"]);
    EXPECT_GT(answer["measured"]["speedup"], 0.0);
    EXPECT_EQ(answer["rounds"]["match"], "exact");
    EXPECT_EQ(answer["rounds"]["requests"], 6);
  }
  EXPECT_THAT(run_command({"score", prediction_, measured_}).out, HasSubstr("none: the experiment is"));
  EXPECT_EQ(run_command({"score", prediction_, measured_, "--bound", "exit=100000"}).exit_code, 0);
  EXPECT_EQ(run_command({"score", prediction_, measured_, "--bound", "exit=0"}).exit_code, exit_failure);

  expect_refused(run_command({"score", prediction_, trace_}), "expected after the prediction");
  std::string text = read_file(prediction_);
  text.replace(text.find("\"speedup\": "), 11, "\"speedup\": 1");
  std::ofstream(prediction_) << text;
  expect_refused(run_command({"score", prediction_, measured_}), "was changed after it was written");
  expect_refused(decode({"measure", prediction_}, {"-o", (folder_ / "again.dstrace").string()}),
                 "was changed after it was written");
}

TEST_F(PredictMeasureScore, EveryKeyOfTheFileAndTheScoreIsDocumented) {
  record();
  ASSERT_EQ(predict({"--quiet"}).exit_code, 0);
  ASSERT_EQ(decode({"measure", prediction_}, {"--limit", "2", "-o", measured_}).exit_code, 0);
  const std::string document = read_file(std::string(DRAFTSCOPE_SOURCE_DIR) + "/cli/OUTPUT.md");
  std::set<std::string> keys;
  const std::function<void(const json&)> collect = [&](const json& value) {
    for (const auto& [key, inner] : value.items()) {
      if (value.is_object()) keys.insert(key);
      if (inner.is_structured() && key != "meta") collect(inner);
    }
  };
  collect(json::parse(read_file(prediction_)));
  const CommandResult scored = run_command({"score", prediction_, measured_, "--json"});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  collect(json::parse(scored.out));
  EXPECT_THAT(scored.out, HasSubstr("only 2 of the 6 learnt from were measured"));
  EXPECT_GT(keys.size(), 50U);
  for (const std::string& key : keys) EXPECT_THAT(document, HasSubstr("`" + key + "`"));
}

TEST_F(PredictMeasureScore, PredictRefusesInOneLineAndLeavesNothingBehind) {
  record();
  expect_refused(predict({"-s", "turbo"}), "turbo");
  expect_refused(predict({"-s", "swift"}), "swift");
  expect_refused(predict({"--gpu", "H-nothing"}), "H-nothing");
  expect_refused(run_command({"predict", prediction_, "-s", "del", "-o", prediction_ + "2"}),
                 "prediction.json");
  EXPECT_FALSE(std::filesystem::exists(prediction_));
  ASSERT_EQ(predict({"--quiet"}).exit_code, 0);
  const std::string before = read_file(prediction_);
  expect_refused(predict({}), "exists already, expected a new file (or --overwrite)");
  EXPECT_EQ(read_file(prediction_), before);
  EXPECT_EQ(predict({"--overwrite", "--quiet"}).exit_code, 0);
  EXPECT_NE(read_file(prediction_), before) << "written later";
  expect_refused(run_command({"predict", trace_, "-s", "del", "-o", trace_, "--overwrite"}),
                 "is the same file as the input");
  EXPECT_EQ(run_command({"predict", trace_, "-o", prediction_}).exit_code, exit_usage);
  expect_refused(run_command({"score", trace_, trace_}), "found no prediction");
  expect_refused(run_command({"score", (folder_ / "none.json").string(), trace_}), "none.json");
  EXPECT_EQ(simulator::read_prediction(folder_ / ".").error().message,
            (folder_ / ".").string() + ": found a folder, expected a regular file");
}

}  // namespace
}  // namespace draftscope::cli

// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the what-if page's answers and pictures, without a window, with the command line and with plain
// computations.
#include <draftscope/base/shell_words.h>
#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/simulator/answers/advice.h>
#include <draftscope/simulator/answers/answer_figures.h>
#include <draftscope/simulator/prices/closed_forms.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <random>

#include "../cli/trace_files.h"
#include "what_if/questions/heat_map.h"
#include "what_if/questions/what_if_answer.h"
#include "what_if_recordings.h"

namespace draftscope::gui {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Question fixed(std::int32_t exit, std::int32_t gamma) {
  return {.kind = StrategyKind::fixed_length, .exit = exit, .gamma = gamma};
}

/// The name of a GPU in the table.
std::string some_gpu() {
  for (const simulator::GpuSpecification& gpu : simulator::known_gpus())
    if (gpu.name.find("H200") != std::string::npos) return gpu.name;
  return simulator::known_gpus().front().name;
}

/// Questions that use every choice at least once.
std::vector<Question> questions() {
  std::vector<Question> all{{.kind = StrategyKind::recorded, .recorded = "layerskip:exit=5,gamma=9"},
                            fixed(2, 3),
                            fixed(3, 4),
                            {.kind = StrategyKind::threshold, .exit = 4, .gamma = 8, .threshold = 0.6}};
  Question above = fixed(3, 6);
  above.verifies_above_exit = true;
  Question elsewhere = fixed(4, 5);
  elsewhere.gpu = some_gpu();
  elsewhere.regime = simulator::Regime::graph;
  elsewhere.batch = 4;
  Question other_model = fixed(4, 5);
  other_model.model = "Llama-3.2-1B";
  other_model.longer_context = 512;
  Question batch = {.kind = StrategyKind::recorded, .recorded = "layerskip:exit=3,gamma=4"};
  batch.batch = 8;
  Question shared = fixed(4, 5);
  shared.gpu = some_gpu();
  shared.model = "Llama-3-8B";
  shared.tensor_parallel = 4;
  shared.weights = simulator::WeightType::fp8;
  Question hosted = fixed(4, 5);
  hosted.gpu = some_gpu();
  hosted.host = "serving";
  hosted.draft_cost = "0.15";
  for (const Question& question : {above, elsewhere, other_model, batch, shared, hosted})
    all.push_back(question);
  return all;
}

class WhatIfAnswers : public WhatIfRecordings {};

/// Asks the page and the command, and compares every number that the page shows.
void expect_answer_of_command(const TrainedRecording& trained, const Question& question) {
  const std::string line = command_line_of(question, trained.recording().path.string());
  const WhatIfAnswer answer = answer_of(trained, question);
  ASSERT_EQ(answer.refusal, "") << line;
  std::vector<std::string> command = shell_words(line).value();
  command.erase(command.begin());
  command.emplace_back("--json");
  const cli::CommandResult printed = cli::run_command(command);
  ASSERT_EQ(printed.exit_code, 0) << line << printed.err;
  const json there = json::parse(printed.out)["answers"][0];
  EXPECT_EQ(there["strategy"], strategy_of(question));
  EXPECT_EQ(there["machine"], answer.machine.name);
  EXPECT_EQ(there["status"], answer_status_name(answer.prediction.status));
  EXPECT_EQ(there["rounds_source"], round_source_name(answer.prediction.source));
  EXPECT_DOUBLE_EQ(there["speedup"], answer.prediction.speedup.min_drafted.value) << line;
  EXPECT_DOUBLE_EQ(there["decode_tokens_per_second"], answer.prediction.tokens_per_second) << line;
  EXPECT_DOUBLE_EQ(there["vanilla_decode_tokens_per_second"], answer.prediction.vanilla_tokens_per_second)
      << line;
  EXPECT_DOUBLE_EQ(there["draft_cost"], answer.prediction.c);
  EXPECT_DOUBLE_EQ(there["verify_cost"], answer.prediction.v);
  const auto of_80 = answer.prediction.speedup.interval_80();
  const auto of_95 = answer.prediction.speedup.interval_95();
  ASSERT_TRUE(of_80 && of_95);
  EXPECT_DOUBLE_EQ(there["interval_80"][0], of_80->low) << line;
  EXPECT_DOUBLE_EQ(there["interval_80"][1], of_80->high) << line;
  EXPECT_DOUBLE_EQ(there["interval_95"][0], of_95->low) << line;
  EXPECT_DOUBLE_EQ(there["interval_95"][1], of_95->high) << line;
  EXPECT_EQ(there["notes"].get<std::vector<std::string>>(), answer.prediction.notes);
  EXPECT_EQ(there["cost_notes"].size(), answer.prediction.cost_notes.size());
}

MachineFilePointer machine_file(const std::filesystem::path& path) {
  return std::make_shared<const simulator::MachineFile>(simulator::read_machine_file(path).value());
}

TEST_F(WhatIfAnswers, AreThoseOfTheCommandThatTheyName) {
  const TrainedPointer trained = train(write());
  for (const Question& question : questions()) expect_answer_of_command(*trained, question);
}

/// Words and numbers of an answer, exact to the bit.
std::string shown(const WhatIfAnswer& answer) {
  if (!answer.refusal.empty()) return answer.refusal;
  const simulator::Answer& prediction = answer.prediction;
  std::string all = fmt::format("{} {} {} {} {} {}", prediction.machine, prediction.tokens_per_second,
                                prediction.c, prediction.v, prediction.o, prediction.auxiliary);
  const auto add = [&](const simulator::RatioEstimate& estimate) {
    all += fmt::format(" {}", estimate.value);
    for (const auto& interval : {estimate.interval_80, estimate.interval_95})
      if (interval) all += fmt::format(" {} {}", interval->low, interval->high);
  };
  add(answer.prediction.rate.min_drafted);
  if (answer.prediction.rate.max_drafted) add(*answer.prediction.rate.max_drafted);
  add(prediction.speedup.min_drafted);
  all += fmt::format(" {}", prediction.speedup.min_drafted.cluster_mean);
  if (prediction.speedup.max_drafted) add(*prediction.speedup.max_drafted);
  for (const std::string& note : notes_of(answer)) all += "\n" + note;
  return all;
}

TEST_F(WhatIfAnswers, AreTheSameBitsBehindOneAnother) {
  const TrainedPointer trained = train(write());
  std::vector<Question> asked = questions();
  for (const double threshold : {0.2, 0.5, 0.6, 0.95})
    for (const std::int32_t longest : {9, 9, 4})
      asked.push_back({.kind = StrategyKind::threshold, .exit = 3, .gamma = longest, .threshold = threshold});
  Question longer = fixed(3, 6);
  longer.longer_context = 100;
  Question calibrated = fixed(3, 6);
  calibrated.machine_file = machine_file(calibration_file());
  // Alternate between the recording, another context, another machine and a setting without an answer.
  for (const Question& question : {fixed(3, 6), longer, fixed(3, 6), fixed(5, 6), calibrated, fixed(99, 6),
                                   calibrated, fixed(3, 6), fixed(3, 6)})
    asked.push_back(question);
  simulator::CachedPrices kept;
  for (const Question& question : asked)
    EXPECT_EQ(shown(answer_of(*trained, question, {}, &kept)), shown(answer_of(*trained, question)))
        << command_line_of(question, "run.dstrace");
  // Vary the number of draws and the seed.
  for (const simulator::PredictionOptions& options :
       {simulator::PredictionOptions{.draws = 300}, simulator::PredictionOptions{.draws = 500},
        simulator::PredictionOptions{.draws = 500, .seed = 9}, simulator::PredictionOptions{.draws = 5000}})
    EXPECT_EQ(shown(answer_of(*trained, fixed(3, 6), options, &kept)),
              shown(answer_of(*trained, fixed(3, 6), options)))
        << options.draws;
}

TEST_F(WhatIfAnswers, AreThoseOfTheCommandOnMachinesAndModelsOfFiles) {
  const TrainedPointer trained = train(write());
  Question measured = fixed(3, 4);
  measured.machine_file = machine_file(calibration_file());
  measured.batch = 2;
  EXPECT_THAT(command_line_of(measured, "run.dstrace"), HasSubstr("--calibration '"));
  Question specified = fixed(2, 6);
  specified.machine_file = machine_file(specification_file());
  specified.model = config_file().string();
  specified.tensor_parallel = 2;
  EXPECT_THAT(command_line_of(specified, "run.dstrace"), HasSubstr("--gpu-spec '"));
  for (const Question& question : {measured, specified}) expect_answer_of_command(*trained, question);
}

TEST_F(WhatIfAnswers, AreThoseOfTheCommandWhereTheRecordedGpuIsSaid) {
  const TrainedPointer trained = train(write(), some_gpu());
  Question question = fixed(3, 4);
  question.recorded_gpu = some_gpu();
  question.regime = simulator::Regime::graph;
  EXPECT_THAT(command_line_of(question, "run.dstrace"), HasSubstr("--recorded-gpu '"));
  expect_answer_of_command(*trained, question);
}

TEST_F(WhatIfAnswers, OfImportedAnswersAreThoseOfTheCommand) {
  const std::vector<std::string> stated{"--strategy", "layerskip:exit=8,gamma=5", "--draft-length", "5"};
  for (const auto& options : {std::vector<std::string>{}, stated}) {
    const TrainedPointer trained = train(import_answers(options));
    ASSERT_TRUE(trained->is_imported());
    Question question = fixed(8, 3);
    question.gpu = some_gpu();
    question.model = "Llama-2-7B";
    expect_answer_of_command(*trained, question);
    question.weights = simulator::WeightType::fp8;
    question.batch = 4;
    question.longer_context = 256;
    expect_answer_of_command(*trained, question);
    question.gpu.clear();
    question.machine_file = machine_file(specification_file());
    question.regime = simulator::Regime::graph;
    expect_answer_of_command(*trained, question);
    // Ask at once for the earlier specification again.
    Question shallow = fixed(8, 2);
    shallow.gpu = some_gpu();
    shallow.model = config_file().string();
    expect_answer_of_command(*trained, shallow);
    expect_answer_of_command(*trained, question);
    if (options.empty()) continue;
    question.kind = StrategyKind::recorded;
    question.recorded = trained->strategies().front();
    expect_answer_of_command(*trained, question);
    EXPECT_EQ(answer_of(*trained, question).prediction.source, simulator::RoundSource::recorded);
  }
}

TEST_F(WhatIfAnswers, OfImportedAnswersSayWhichChoicesAreMissing) {
  const TrainedPointer trained = train(import_answers({}));
  Question question = fixed(8, 3);
  const auto refusal = [&] {
    const WhatIfAnswer answer = answer_of(*trained, question);
    EXPECT_EQ(answer.what_if, nullptr);
    EXPECT_FALSE(ladder_of(answer));
    EXPECT_FALSE(waterfall_of(*trained, answer));
    EXPECT_FALSE(HeatMapRounds(trained).map(question));
    return answer.refusal;
  };
  EXPECT_FALSE(trained->n_layers(question));
  EXPECT_THAT(refusal(), testing::AllOf(HasSubstr("choose a GPU"), HasSubstr("and a model")));
  question.model = "Llama-2-7B";
  EXPECT_EQ(trained->n_layers(question), 32);
  EXPECT_THAT(refusal(), testing::AllOf(HasSubstr("choose a GPU"), testing::Not(HasSubstr("a model"))));
  question.machine_file = machine_file(calibration_file());
  EXPECT_THAT(refusal(), HasSubstr("choose a GPU")) << "what was measured prices no other machine's answers";
  question.machine_file.reset();
  question.gpu = some_gpu();
  question.model.clear();
  EXPECT_THAT(refusal(), HasSubstr("choose a model"));
  question.model = "Llama-2-7B";
  EXPECT_EQ(answer_of(*trained, question).refusal, "");
}

TEST_F(WhatIfAnswers, OfImportedAnswersHaveAMapOfTheChosenModelsExits) {
  const TrainedPointer trained = train(import_answers({}));
  Question question = fixed(4, 3);
  question.gpu = some_gpu();
  HeatMapRounds rounds(trained);
  for (const auto& [model, layers] :
       {std::pair(std::string("Llama-2-7B"), 32), {config_file().string(), 12}}) {
    question.model = model;
    const auto map = rounds.map(question);
    ASSERT_TRUE(map) << map.error().message;
    EXPECT_EQ(map->exits, layers - 1);
    EXPECT_NEAR(map->at(4, 3).speedup / answer_of(*trained, question).prediction.speedup.min_drafted.value,
                1.0, 1e-4);
  }
}

TEST_F(WhatIfAnswers, HaveARateAroundTheirTokensASecond) {
  const TrainedPointer trained = train(write());
  for (const Question& question : questions()) {
    const WhatIfAnswer answer = answer_of(*trained, question);
    const simulator::RatioEstimate& rate = answer.prediction.rate.min_drafted;
    EXPECT_NEAR(rate.value / answer.prediction.tokens_per_second, 1.0, 1e-9) << strategy_of(question);
    ASSERT_TRUE(rate.interval_80 && rate.interval_95);
    EXPECT_LT(rate.interval_95->low, rate.interval_80->low);
    EXPECT_LT(rate.interval_80->low, rate.value);
    EXPECT_GT(rate.interval_80->high, rate.value);
    EXPECT_GT(rate.interval_95->high, rate.interval_80->high);
  }
}

TEST_F(WhatIfAnswers, SayWhenTimesAreBeyondWhatWasMeasured) {
  const TrainedPointer trained = train(write());
  EXPECT_FALSE(answer_of(*trained, {.kind = StrategyKind::recorded, .recorded = "layerskip:exit=3,gamma=4"})
                   .is_extrapolated);
  Question large = fixed(3, 4);
  large.batch = 64;
  const WhatIfAnswer answer = answer_of(*trained, large);
  EXPECT_TRUE(answer.is_extrapolated);
  EXPECT_THAT(standing(answer), HasSubstr("extrapolated"));
  EXPECT_THAT(notes_of(answer), testing::Contains(HasSubstr("extrapolated: passes of more than")));
}

TEST_F(WhatIfAnswers, BreakEvenWhereARoundTakesWhatItsTokensTakeByVanilla) {
  const TrainedPointer trained = train(write());
  const WhatIfAnswer answer = answer_of(*trained, fixed(3, 4));
  ASSERT_TRUE(answer.break_even);
  const simulator::Answer& prediction = answer.prediction;
  EXPECT_NEAR(answer.break_even->mean_accepted_length,
              prediction.steps_per_round * prediction.c + prediction.v + prediction.o, 1e-9);
  ASSERT_TRUE(answer.break_even->alpha);
}

TEST_F(WhatIfAnswers, RefuseWhatTheRecordingCantTellWithWhatToRecord) {
  const TrainedPointer trained = train(write({.with_shadow = false}));
  EXPECT_THAT(trained->no_replay_reason(), HasSubstr("--shadow"));
  const WhatIfAnswer unrecorded = answer_of(*trained, fixed(2, 3));
  EXPECT_THAT(unrecorded.refusal, HasSubstr("record"));
  const WhatIfAnswer threshold = answer_of(*trained, {.kind = StrategyKind::threshold, .exit = 2});
  EXPECT_THAT(threshold.refusal, HasSubstr("shadow"));
  EXPECT_EQ(answer_of(*trained, {.kind = StrategyKind::threshold, .exit = 3}).refusal, "")
      << "what a run drafted tells other stop rules of its exit";
  EXPECT_EQ(
      answer_of(*trained, {.kind = StrategyKind::recorded, .recorded = "layerskip:exit=3,gamma=4"}).refusal,
      "")
      << "a recorded run is known without them";
  EXPECT_FALSE(ladder_of(unrecorded));
  EXPECT_FALSE(roofline_of(unrecorded));
  EXPECT_FALSE(waterfall_of(*trained, unrecorded));
  Question regime = {.kind = StrategyKind::recorded, .recorded = "layerskip:exit=3,gamma=4"};
  regime.regime = simulator::Regime::graph;
  EXPECT_THAT(answer_of(*trained, regime).refusal, HasSubstr("regime"));
}

TEST_F(WhatIfAnswers, NeedVanillaDecodingAndTimes) {
  const auto reason = [](const std::filesystem::path& path) {
    const auto trained = TrainedRecording::train(OpenedRecording::open(path).value());
    EXPECT_FALSE(trained) << path;
    return trained ? std::string() : trained.error().message;
  };
  const std::string without_vanilla = reason(write({.strategies = {"layerskip:exit=3,gamma=4"}}));
  EXPECT_THAT(without_vanilla, HasSubstr("--strategy vanilla"));
  const std::string timeline = (folder_ / "timeline.dstrace").string();
  const std::filesystem::path events =
      write_text("timeline.json",
                 R"({"traceEvents":[{"ph":"X","name":"k","ts":1,"dur":5,"pid":1,"tid":1,"cat":"kernel"}]})");
  ASSERT_EQ(cli::run_command({"import", events.string(), "-q", "-o", timeline}).exit_code, 0);
  EXPECT_THAT(reason(timeline), HasSubstr("without accepted lengths"));
  const std::string predicted = (folder_ / "predicted.dstrace").string();
  ASSERT_EQ(cli::run_command(
                {"simulate", write().string(), "-q", "-s", "layerskip:exit=2,gamma=2", "--write", predicted})
                .exit_code,
            0);
  EXPECT_THAT(reason(predicted), HasSubstr("predicted"));
  for (const std::string& line : {without_vanilla, reason(timeline), reason(predicted)})
    EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST_F(WhatIfAnswers, LearningStopsWhenItIsToldTo) {
  const std::filesystem::path path = write();
  int calls = 0;
  const auto trained = TrainedRecording::train(OpenedRecording::open(path).value(), {},
                                               [&](std::int64_t done, std::int64_t all) {
                                                 EXPECT_LE(done, all);
                                                 return ++calls < 2;
                                               });
  ASSERT_FALSE(trained);
  EXPECT_THAT(trained.error().message, HasSubstr("stopped"));
}

TEST_F(WhatIfAnswers, KnowWhereRecordedRunsAreInTheMap) {
  const TrainedPointer trained = train(write());
  ASSERT_EQ(trained->points().size(), 2U);
  EXPECT_EQ(trained->points()[0].exit, 3);
  EXPECT_EQ(trained->points()[0].gamma, 4);
  EXPECT_EQ(trained->points()[1].exit, 5);
  EXPECT_EQ(trained->points()[1].gamma, 9);
}

TEST_F(WhatIfAnswers, HeatMapHasTheAnswerOfEachOfItsCells) {
  const TrainedPointer trained = train(write());
  HeatMapRounds rounds(trained);
  std::mt19937_64 random(3);
  for (const Question& question : questions()) {
    const auto map = rounds.map(question);
    ASSERT_TRUE(map) << map.error().message;
    ASSERT_EQ(map->cells.size(), static_cast<std::size_t>(7 * longest_in_heat_map));
    std::vector<std::pair<std::int32_t, std::int32_t>> places{{3, 4}, {5, 9}};
    for (int trial = 0; trial < 4; ++trial)
      places.emplace_back(1 + random() % 7, 1 + random() % longest_in_heat_map);
    for (const auto& [exit, gamma] : places) {
      Question one = heat_map_question(question);
      one.exit = exit;
      one.gamma = gamma;
      const HeatCell& cell = map->at(exit, gamma);
      EXPECT_EQ(cell.strategy, strategy_of(one));
      const WhatIfAnswer answer = answer_of(*trained, one);
      EXPECT_EQ(cell.refusal, answer.refusal);
      // All cells share one set of prices, while corrections of passes depend a little on which passes are
      // priced.
      EXPECT_NEAR(cell.speedup / answer.prediction.speedup.lower(), 1.0, 1e-4)
          << cell.strategy << " on " << answer.machine.name;
      EXPECT_EQ(cell.status, answer.prediction.status);
    }
    const HeatCell* best = map->best();
    ASSERT_NE(best, nullptr);
    for (const HeatCell& cell : map->cells) EXPECT_LE(cell.speedup, best->speedup);
  }
}

TEST_F(WhatIfAnswers, HeatMapGoesOnWhereItWasStopped) {
  const TrainedPointer trained = train(write());
  HeatMapRounds whole(trained);
  HeatMapRounds parts(trained);
  const auto expected = whole.map(fixed(1, 1));
  ASSERT_TRUE(expected);
  constexpr std::int64_t first_stop = 50;
  EXPECT_FALSE(parts.map(fixed(1, 1), [&](std::int64_t done, std::int64_t) { return done < first_stop; }));
  std::vector<std::int64_t> reports;
  const auto got = parts.map(fixed(1, 1), [&](std::int64_t done, std::int64_t) {
    reports.push_back(done);
    return true;
  });
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(reports.front(), first_stop + 1) << "what was replayed is kept";
  for (std::size_t i = 0; i < expected->cells.size(); ++i)
    EXPECT_EQ(got->cells[i].speedup, expected->cells[i].speedup);
}

TEST_F(WhatIfAnswers, LadderEndsAtTheAnswer) {
  const TrainedPointer trained = train(write());
  const WhatIfAnswer answer = answer_of(*trained, fixed(3, 4));
  const auto ladder = ladder_of(answer);
  ASSERT_TRUE(ladder) << ladder.error().message;
  EXPECT_NEAR(ladder->back().speedup, answer.prediction.speedup.min_drafted.value, 1e-9);
}

TEST_F(WhatIfAnswers, WaterfallHasTheStrategyBelowTheOracle) {
  const TrainedPointer trained = train(write());
  const WhatIfAnswer answer = answer_of(*trained, fixed(3, 4));
  const auto levels = waterfall_of(*trained, answer);
  ASSERT_TRUE(levels) << levels.error().message;
  ASSERT_EQ(levels->found.strategies.size(), 1U);
  EXPECT_NEAR(levels->found.strategies[0].speedup, answer.prediction.speedup.min_drafted.value, 1e-4);
  const auto& oracle = simulator::step_at(levels->found.waterfall, simulator::WaterfallLevel::oracle);
  EXPECT_LE(levels->found.strategies[0].speedup, oracle.speedup.value + 1e-9);
}

TEST_F(WhatIfAnswers, WaterfallStopsWhenNobodyWantsIt) {
  const TrainedPointer trained = train(write());
  const WhatIfAnswer answer = answer_of(*trained, fixed(3, 4));
  int calls = 0;
  const auto stopped =
      waterfall_of(*trained, answer, [&](std::int64_t, std::int64_t) { return ++calls < 20; });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(calls, 20);
}

TEST_F(WhatIfAnswers, NoOperationIsAboveTheRoof) {
  const TrainedPointer trained = train(write());
  for (const std::string& gpu : {std::string(), some_gpu()})
    for (const std::int32_t batch : {1, 16}) {
      Question question = fixed(3, 4);
      question.gpu = gpu;
      question.batch = batch;
      const WhatIfAnswer answer = answer_of(*trained, question);
      ASSERT_EQ(answer.refusal, "");
      const auto roofline = roofline_of(answer);
      ASSERT_TRUE(roofline) << roofline.error().message;
      EXPECT_EQ(roofline->is_specified, !gpu.empty());
      ASSERT_FALSE(roofline->points.empty());
      for (const simulator::RooflinePoint& point : roofline->points) {
        EXPECT_LE(point.flops_per_ns(), roofline->attainable(point.intensity()) * (1 + 1e-9))
            << operation_name(point.operation) << ", " << point.rows << " rows, batch " << batch << ' '
            << gpu;
        EXPECT_TRUE(point.rows == 1 || point.rows == 5);
      }
    }
}

TEST_F(WhatIfAnswers, RooflineCountsArithmeticAndBytesOfAPass) {
  const TrainedPointer trained = train(write());
  const WhatIfAnswer answer = answer_of(*trained, fixed(3, 4));
  const auto roofline = roofline_of(answer);
  ASSERT_TRUE(roofline);
  const simulator::ModelShape& shape = answer.machine.scenario.shape;
  const double element = answer.machine.scenario.weights == simulator::WeightType::fp32 ? 4.0 : 2.0;
  for (const simulator::RooflinePoint& point : roofline->points) {
    if (point.operation == speculation::Operation::down) {
      const double weights = static_cast<double>(shape.d_ff) * shape.d_model;
      EXPECT_DOUBLE_EQ(point.flops, 2.0 * point.rows * weights);
      EXPECT_DOUBLE_EQ(point.bytes, element * (weights + point.rows * (shape.d_ff + shape.d_model)));
    } else if (point.operation == speculation::Operation::attention) {
      // Each row takes two products with as many keys and values as the context has.
      const double rows_of_context = point.flops / (4.0 * point.rows * static_cast<double>(shape.q_width()));
      EXPECT_GT(rows_of_context, 6.0) << "the prompt alone";
      EXPECT_LT(rows_of_context, 46.0);
    }
  }
}

TEST_F(WhatIfAnswers, PolicyIsReadAsItWasWritten) {
  const TrainedPointer trained = train(write());
  const WhatIfAnswer answer =
      answer_of(*trained, {.kind = StrategyKind::threshold, .exit = 3, .gamma = 6, .threshold = 0.7});
  const simulator::PolicyOrigin origin{
      .trace = trained->recording().path, .command_line = "draftscope-gui", .tool_version = "1.2.3"};
  const auto policy =
      simulator::asked_policy(answer.prediction, answer.machine, trained->recording(), origin);
  ASSERT_TRUE(policy) << policy.error().message;
  const std::string text = speculation::policy_json(*policy);
  const auto read = speculation::parse_policy(text, "policy.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->finished);
  EXPECT_EQ(read->strategy, "mix:stop=threshold,exit=3,gamma=6,threshold=0.7");
  ASSERT_EQ(read->repeats.size(), 1U);
  EXPECT_DOUBLE_EQ(read->repeats[0].score, answer.prediction.speedup.lower());
  EXPECT_EQ(read->model.at("n_layers"), "8");
  EXPECT_EQ(read->settings.at("search"), "what-if");
  EXPECT_EQ(speculation::policy_json(*read), text);
}

TEST_F(WhatIfAnswers, NoPolicyForAnotherModel) {
  const TrainedPointer trained = train(write());
  Question question = fixed(3, 4);
  question.model = "Llama-3.2-1B";
  const WhatIfAnswer answer = answer_of(*trained, question);
  ASSERT_EQ(answer.refusal, "");
  const auto policy = simulator::asked_policy(answer.prediction, answer.machine, trained->recording(),
                                              {.trace = trained->recording().path});
  ASSERT_FALSE(policy);
  EXPECT_THAT(policy.error().message, HasSubstr("Llama-3.2-1B"));
}

}  // namespace
}  // namespace draftscope::gui

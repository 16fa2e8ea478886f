// SPDX-License-Identifier: GPL-3.0-or-later
// Answers written as a trace: the content of the file must equal the answer.
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/simulator/answers/predicted_trace.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <draftscope/speculation/published_models.h>
#include <draftscope/traces/missing_data.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "../../cli/trace_files.h"
#include "advice/learnt.h"

namespace draftscope::simulator {
namespace {

using testing::HasSubstr;

/// Records the demo model with a small shape.
std::filesystem::path record(const std::filesystem::path& file, const std::vector<std::string>& strategies,
                             bool shadow) {
  std::vector<std::string> arguments =
      cli::record_arguments(file, "--limit 4 --max-tokens 40 --repeats 1 --quiet");
  for (const std::string& strategy : strategies) arguments.insert(arguments.end(), {"--strategy", strategy});
  if (shadow) arguments.emplace_back("--shadow");
  const cli::CommandResult result = cli::run_command(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return file;
}

struct Opened {
  traces::Recording recording;
  std::vector<traces::Span> spans;
  std::vector<traces::Violation> violations;
};

Opened open(const std::filesystem::path& file) {
  auto reader = traces::Reader::open(file);
  EXPECT_TRUE(reader) << reader.error().message;
  Opened opened{*reader->recording(), {}, *reader->validate()};
  EXPECT_TRUE(reader->spans([&](const traces::Span& span) {
    opened.spans.push_back(span);
    return true;
  }));
  return opened;
}

const traces::Run& run_named(const traces::Recording& recording, std::string_view specification) {
  const auto found = std::find_if(recording.runs.begin(), recording.runs.end(),
                                  [&](const traces::Run& run) { return run.specification == specification; });
  EXPECT_NE(found, recording.runs.end()) << specification;
  return *found;
}

struct Sums {
  double tokens = 0.0;
  double rounds = 0.0;
  double drafted = 0.0;
  double accepted = 0.0;
  double ns = 0.0;
  double decode_ns = 0.0;  ///< Time of requests from the first token on.
  std::size_t requests = 0;
};

Sums sums_of(const traces::Recording& recording, const std::string& specification) {
  Sums sums;
  const std::vector<RunRows> runs = rows_by_run(recording);
  for (const RunRows& run : runs) {
    if (run.run->id != run_named(recording, specification).id) continue;
    sums.requests = run.requests.size();
    for (const RequestRows& rows : run.requests) {
      sums.decode_ns += static_cast<double>(rows.request->end_ns - rows.request->first_token_ns);
      for (const traces::Round& round : rows.rounds) {
        sums.tokens += round.emitted;
        sums.drafted += round.drafted;
        sums.accepted += round.accepted;
        sums.ns += static_cast<double>(round.end_ns - round.start_ns);
        ++sums.rounds;
      }
    }
  }
  return sums;
}

/// Checks a time to half a nanosecond per request, plus the rounding of the rates that it is computed from.
void expect_time(double found_ns, double tokens, double tokens_per_second, std::size_t requests,
                 const std::string& name) {
  const double expected_ns = 1e9 * tokens / tokens_per_second;
  EXPECT_NEAR(found_ns, expected_ns, 0.5 * static_cast<double>(requests) + 1e-9 * expected_ns) << name;
}

/// Checks that a report of the file has the answer's costs, and that either's give the speedup.
void expect_costs(const traces::Recording& recording, const Answer& answer) {
  const double law = answer.mean_accepted_length / (answer.steps_per_round * answer.c + answer.v + answer.o);
  EXPECT_NEAR(answer.speedup.min_drafted.value, law, 1e-9 * law) << answer.strategy;
  for (const RunFigures& run : measure(recording).runs) {
    // Vanilla decoding in the file has no ratio of its own.
    if (run.all.run->specification != answer.strategy || run.all.run->is_baseline) continue;
    const DraftCost& cost = run.all.cost;
    constexpr double rounding = 1e-3;
    EXPECT_NEAR(*run.all.acceptance.mean_accepted_length, answer.mean_accepted_length, 1e-9);
    EXPECT_NEAR(*cost.v, answer.v, rounding * answer.v) << answer.strategy;
    EXPECT_NEAR(*cost.o, answer.o, rounding) << answer.strategy;
    EXPECT_NEAR(cost.c.value_or(0.0) * *run.all.acceptance.steps_per_round, answer.c * answer.steps_per_round,
                rounding)
        << answer.strategy;
    EXPECT_NEAR(*cost.closed_form_speedup, law, rounding * law) << answer.strategy;
  }
}

void expect_what_was_answered(const Opened& opened, const PredictedRun& run) {
  const Sums sums = sums_of(opened.recording, run.rounds.strategy);
  const Answer& answer = run.answer;
  EXPECT_EQ(sums.requests, run.rounds.vanilla.size());
  EXPECT_EQ(sums.tokens, answer.tokens) << answer.strategy;
  EXPECT_DOUBLE_EQ(sums.tokens / sums.rounds, answer.mean_accepted_length) << answer.strategy;
  EXPECT_DOUBLE_EQ(sums.drafted > 0.0 ? sums.accepted / sums.drafted : 0.0, answer.acceptance_rate);
  EXPECT_EQ(sums.ns, sums.decode_ns) << "rounds follow one another without a gap";
  expect_time(sums.ns, answer.tokens, answer.tokens_per_second, sums.requests, answer.strategy);
  expect_costs(opened.recording, answer);
  const Sums vanilla = sums_of(opened.recording, "vanilla");
  EXPECT_EQ(vanilla.tokens, answer.tokens);
  expect_time(vanilla.ns, answer.tokens, answer.vanilla_tokens_per_second, vanilla.requests, "vanilla");
}

void expect_phases_fill_rounds(const Opened& opened) {
  double spans_ns = 0.0;
  for (const traces::Span& span : opened.spans)
    if (span.round_id != 0) spans_ns += static_cast<double>(span.end_ns - span.start_ns);
  double rounds_ns = 0.0;
  for (const traces::Round& round : opened.recording.rounds) {
    rounds_ns += static_cast<double>(round.end_ns - round.start_ns);
    EXPECT_EQ(round.draft_ns + round.verify_ns + round.accept_ns + round.optimise_ns + round.control_ns,
              round.end_ns - round.start_ns);
  }
  EXPECT_EQ(spans_ns, rounds_ns);
}

class Prediction : public testing::Test {
 protected:
  static PredictedRun ask(const WhatIf& what_if, const std::string& strategy, const Machine& machine,
                          std::int32_t longer_context = 0) {
    auto rounds = what_if.rounds(strategy);
    EXPECT_TRUE(rounds) << rounds.error().message;
    if (longer_context > 0) lengthen_context(*rounds, longer_context);
    StrategyRounds fitting =
        for_shape(*std::move(rounds), what_if.recorded_scenario().shape, machine.scenario.shape);
    const auto answer = simulator::ask(what_if.costs().model, fitting, machine);
    EXPECT_TRUE(answer) << answer.error().message;
    return {std::move(fitting), *answer};
  }

  static const std::vector<std::string>& recorded_strategies() {
    static const std::vector<std::string> all{"vanilla",
                                              "layerskip:exit=3,gamma=4",
                                              "layerskip:exit=6,gamma=3,verify=above-exit",
                                              "swift:window=4",
                                              "prompt-lookup",
                                              "lookahead",
                                              "dv:exit=4",
                                              "del"};
    return all;
  }
  static const std::vector<std::string>& asked_strategies() {
    static const std::vector<std::string> all{"layerskip:exit=2,gamma=5", "fs:exit=5,verify=above-exit",
                                              "dv:exit=3", "del:mode=published,omega=0.9"};
    return all;
  }

  cli::TemporaryFolder folder_;
};

TEST_F(Prediction, HasTheTotalsOfItsAnswers) {
  const Learnt learnt = Learnt::from_file(record(folder_ / "run.dstrace", recorded_strategies(), true));
  const WhatIf& what_if = learnt.what_if();
  std::vector<Machine> machines{{"as recorded", what_if.recorded_scenario()}};
  machines.push_back({"an H200", what_if.recorded_scenario()});
  machines.back().scenario.gpu = *find_gpu("H200");
  machines.push_back({"four of them", machines.back().scenario});
  machines.back().scenario.batch = 4;
  machines.push_back({"a calibrated one", what_if.recorded_scenario()});
  machines.back().costs = std::make_shared<const CostModel>(what_if.costs().model);
  for (const Machine& machine : machines) {
    PredictedTrace trace{.machine = machine, .runs = {}, .meta = {}, .overwrite = true};
    const std::int32_t longer = machine.scenario.batch > 1 ? 300 : 0;
    for (const auto* const strategies : {&recorded_strategies(), &asked_strategies()})
      for (const std::string& strategy : *strategies)
        trace.runs.push_back(ask(what_if, strategy, machine, longer));
    const auto written =
        write_predicted_trace(what_if, learnt.recording(), trace, folder_ / "predicted.dstrace");
    ASSERT_TRUE(written) << written.error().message;
    const Opened opened = open(folder_ / "predicted.dstrace");
    EXPECT_TRUE(opened.violations.empty()) << opened.violations.front().rule;
    for (const PredictedRun& run : trace.runs) expect_what_was_answered(opened, run);
    expect_phases_fill_rounds(opened);
    EXPECT_EQ(opened.recording.runs.size(), trace.runs.size()) << "vanilla is there once";
    EXPECT_TRUE(is_predicted(opened.recording.meta));
    EXPECT_EQ(traces::is_missing(opened.recording.meta, traces::MissingData::prefill_times),
              machine.name != "as recorded");
    EXPECT_EQ(opened.recording.meta.contains("processor"), machine.name == "as recorded");
    EXPECT_EQ(opened.recording.requests.front().start_ns, 0);
  }
}

TEST_F(Prediction, OfAnotherDepthKeepsExitsAndRefusesSkipSets) {
  const Learnt learnt = Learnt::from_file(
      record(folder_ / "run.dstrace", {"vanilla", "layerskip:exit=6,gamma=3", "swift:window=4"}, true));
  const WhatIf& what_if = learnt.what_if();
  Machine machine{"Llama-3-8B on an H200", what_if.recorded_scenario()};
  machine.scenario.gpu = *find_gpu("H200");
  machine.scenario.shape = *speculation::find_model_shape("Llama-3-8B");
  PredictedTrace trace{.machine = machine, .runs = {}, .meta = {}};
  for (const char* const strategy : {"layerskip:exit=6,gamma=3", "layerskip:exit=3,gamma=2"})
    trace.runs.push_back(ask(what_if, strategy, machine));
  const auto file = folder_ / "predicted.dstrace";
  const auto written = write_predicted_trace(what_if, learnt.recording(), trace, file);
  ASSERT_TRUE(written) << written.error().message;
  const Opened opened = open(file);
  EXPECT_TRUE(opened.violations.empty()) << opened.violations.front().rule;
  for (const PredictedRun& run : trace.runs) expect_what_was_answered(opened, run);
  for (const traces::Round& round : opened.recording.rounds)
    EXPECT_THAT(round.exit_layer, testing::AnyOf(0, 8, 16)) << "of 32 layers as 3 and 6 are of 12";
  EXPECT_EQ(opened.recording.meta.at("model"), "Llama-3-8B");

  trace.runs.push_back(ask(what_if, "swift:window=4", machine));
  trace.overwrite = true;
  const auto refused = write_predicted_trace(what_if, learnt.recording(), trace, file);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("swift:window=4"));
  EXPECT_EQ(open(file).recording.runs.size(), 3U) << "what was there stays";
}

TEST_F(Prediction, OfTheRecordedSettingHasItsRoundsAndItsText) {
  const Learnt learnt = Learnt::from_file(record(folder_ / "run.dstrace", recorded_strategies(), false));
  const Machine machine{"as recorded", learnt.what_if().recorded_scenario()};
  PredictedTrace trace{.machine = machine, .runs = {}, .meta = {}};
  for (const std::string& strategy : recorded_strategies())
    trace.runs.push_back(ask(learnt.what_if(), strategy, machine));
  const auto file = folder_ / "predicted.dstrace";
  ASSERT_TRUE(write_predicted_trace(learnt.what_if(), learnt.recording(), trace, file));
  const Opened opened = open(file);
  const std::vector<RunRows> recorded = rows_by_run(learnt.recording());
  const std::vector<RunRows> predicted = rows_by_run(opened.recording);
  ASSERT_EQ(recorded.size(), predicted.size());
  for (std::size_t run = 0; run < recorded.size(); ++run) {
    ASSERT_EQ(recorded[run].run->specification, predicted[run].run->specification);
    EXPECT_EQ(recorded[run].run->parameters, predicted[run].run->parameters);
    const OutputIdentity identity =
        *output_identity(pair_requests(Baseline(recorded[run]), Comparison(predicted[run])));
    EXPECT_EQ(identity.compared_prompts, 4U);
    EXPECT_EQ(identity.differing_prompts, 0U);
    for (std::size_t i = 0; i < recorded[run].requests.size(); ++i) {
      const RequestRows& a = recorded[run].requests[i];
      const RequestRows& b = predicted[run].requests[i];
      ASSERT_EQ(a.rounds.size(), b.rounds.size()) << recorded[run].run->specification;
      EXPECT_EQ(a.tested_tokens, b.tested_tokens);
      EXPECT_GT(b.request->first_token_ns - b.request->start_ns, 1)
          << "as long as the prompt's recorded ones";
      for (std::size_t k = 0; k < a.rounds.size(); ++k) {
        EXPECT_EQ(a.rounds[k].root_position, b.rounds[k].root_position);
        EXPECT_EQ(a.rounds[k].tree_depth, b.rounds[k].tree_depth);
        EXPECT_EQ(a.rounds[k].exit_layer, b.rounds[k].exit_layer);
        EXPECT_EQ(a.rounds[k].verify_rows, b.rounds[k].verify_rows);
        EXPECT_EQ(a.rounds[k].draft_stop, b.rounds[k].draft_stop);
        EXPECT_EQ(a.rounds[k].bonus_token, b.rounds[k].bonus_token);
      }
    }
  }
  const cli::CommandResult compared =
      cli::run_command({"compare", (folder_ / "run.dstrace").string(), file.string(), "--json"});
  const auto json = nlohmann::json::parse(compared.out);
  for (const auto& run : json["against_first"][0]["runs"])
    EXPECT_EQ(run["identity"]["differing_requests"], 0);
  EXPECT_THAT(json["recordings"][1]["warnings"].dump(), HasSubstr("predicted from run.dstrace"));
}

/// The rounds of recorded settings, predicted from a recording of vanilla decoding only.
TEST_F(Prediction, FromShadowTokensHasTheRoundsThatARecordingHas) {
  const std::vector<std::string> strategies{"layerskip:exit=3,gamma=4", "fs:exit=5",
                                            "layerskip:exit=6,gamma=50",
                                            "mix:exit=4,stop=threshold,threshold=0.5", "del"};
  std::vector<std::string> all{"vanilla"};
  all.insert(all.end(), strategies.begin(), strategies.end());
  const Opened known = open(record(folder_ / "known.dstrace", all, false));
  const Learnt learnt = Learnt::from_file(record(folder_ / "vanilla.dstrace", {"vanilla"}, true));
  const Machine machine{"as recorded", learnt.what_if().recorded_scenario()};
  PredictedTrace trace{.machine = machine, .runs = {}, .meta = {}};
  for (const std::string& strategy : strategies)
    trace.runs.push_back(ask(learnt.what_if(), strategy, machine));
  const auto file = folder_ / "predicted.dstrace";
  ASSERT_TRUE(write_predicted_trace(learnt.what_if(), learnt.recording(), trace, file));
  const Opened opened = open(file);
  EXPECT_TRUE(opened.violations.empty());
  const auto describe = [](const traces::Recording& recording, const std::string& strategy) {
    std::vector<std::string> lines;
    const auto token = [](const traces::DraftToken& t) {
      return t.tested ? fmt::format("{}:{:.6f}{}", t.token, t.confidence, t.accepted ? "+" : "-") : "?";
    };
    for (const RunRows& run : rows_by_run(recording))
      for (const RequestRows& rows : run.requests)
        for (const traces::Round& round : rows.rounds) {
          if (run.run->specification != strategy) continue;
          std::string line = fmt::format(
              "{} of {}: E {} planned {} drafted {} accepted {} emitted {} bonus {} stop {}", round.index,
              round.root_position, round.exit_layer, round.planned, round.drafted, round.accepted,
              round.emitted, round.bonus_token, traces::draft_stop_name(round.draft_stop));
          auto tokens = std::find_if(recording.draft_tokens.begin(), recording.draft_tokens.end(),
                                     [&](const traces::DraftToken& t) { return t.round_id == round.id; });
          for (; tokens != recording.draft_tokens.end() && tokens->round_id == round.id; ++tokens)
            line += " " + token(*tokens);
          lines.push_back(std::move(line));
        }
    return lines;
  };
  for (std::size_t i = 0; i < strategies.size(); ++i) {
    if (trace.runs[i].answer.status != AnswerStatus::exact) continue;
    EXPECT_EQ(describe(opened.recording, strategies[i]), describe(known.recording, strategies[i]));
  }
  EXPECT_EQ(trace.runs[0].answer.status, AnswerStatus::exact);
}

TEST_F(Prediction, OfModelledAcceptanceIsRefused) {
  const auto file = record(folder_ / "run.dstrace", {"vanilla", "layerskip:exit=5,gamma=4"}, false);
  const auto target = (folder_ / "predicted.dstrace").string();
  const auto refused = [&](std::vector<std::string> more, const std::string& says) {
    more.insert(more.begin(), {"simulate", file.string(), "--quiet", "--write", target});
    const cli::CommandResult result = cli::run_command(more);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(says));
    EXPECT_FALSE(std::filesystem::exists(target));
  };
  refused({"--strategy", "layerskip:exit=5,gamma=2"}, "modelled");
  refused({"--gpu", "H200", "--gpu", "L4"}, "2 machines");
  ASSERT_EQ(cli::run_command({"simulate", file.string(), "--quiet", "--write", target}).exit_code, 0);
  const cli::CommandResult again =
      cli::run_command({"simulate", file.string(), "--quiet", "--write", target});
  EXPECT_THAT(again.err, HasSubstr("exists already"));
  const cli::CommandResult of_prediction = cli::run_command({"simulate", target});
  EXPECT_THAT(of_prediction.err, HasSubstr("is predicted itself"));
  EXPECT_EQ(cli::run_command({"report", target}).exit_code, 0);
}

}  // namespace
}  // namespace draftscope::simulator

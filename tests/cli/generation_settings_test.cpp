// SPDX-License-Identifier: GPL-3.0-or-later
// What a generation is asked for: templates, system prompts, stop strings, penalties and samplings.
#include <draftscope/engine/tokenizer.h>
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>

#include "../value_of.h"
#include "printed.h"
#include "terminal/token_printer.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* shipped = DRAFTSCOPE_SOURCE_DIR "/models/demo-layerskip";

TEST(ChatTemplate, IsHintedAtWherePromptsGoWithoutIt) {
  const TemporaryFolder folder;
  give_chat_template(folder, "{{ messages[0]['content'] }}");
  const auto generate = [](const std::string& model, const std::string& more) {
    const CommandResult result = run_line("generate --model {} --prompt def --max-tokens 1 " + more, model);
    expect_success(result);
    return result.err;
  };
  const std::string model = folder / "";
  EXPECT_THAT(generate(model, ""), HasSubstr("--chat puts prompts into it"));
  EXPECT_THAT(generate(model, "--chat"), Not(HasSubstr("hint")));
  EXPECT_THAT(generate(model, "--quiet"), Not(HasSubstr("hint")));
  EXPECT_THAT(generate(shipped, ""), Not(HasSubstr("hint")));
}

TEST(SystemPrompt, GoesInFrontOfEveryTurnOfARecording) {
  const TemporaryFolder folder;
  give_chat_template(folder,
                     "{% for m in messages %}{{ m['role'] }}: {{ m['content'] | trim }};{% endfor %}");
  std::ofstream(folder / "prompts.jsonl") << R"({"turns": ["One", "Two"]})" << '\n';
  const auto trace = folder / "run.dstrace";
  expect_success(run_line(
      "record --model {} --prompts {} --strategy vanilla --max-tokens 2 --repeats 1 --warmup 0 --chat "
      "--system {} --quiet --output {}",
      folder / "", folder / "prompts.jsonl", " Be brief. ", trace));
  auto reader = value_of(traces::Reader::open(trace));
  const auto recording = value_of(reader.recording());
  ASSERT_EQ(recording.prompts.size(), 2U);
  EXPECT_EQ(recording.prompts[0].text, "system: Be brief.;user: One;");
  EXPECT_THAT(recording.prompts[1].text, testing::StartsWith("system: Be brief.;user: One;assistant:"));
}

TEST(SystemPrompt, IsRefusedInOneLineWhereNothingTakesIt) {
  const auto expect_refused = [](const std::string& model, const std::string& more, const std::string& says) {
    expect_one_line(
        run_line("generate --model {} --prompt def --max-tokens 1 --system {} " + more, model, "Be brief."),
        says);
  };
  const TemporaryFolder folder;
  const std::string model = folder / "";
  expect_refused(shipped, "", "system: found a system prompt without --chat");
  expect_refused(shipped, "--chat", "chat");
  give_chat_template(folder, "{{ messages[-1]['content'] }}");
  expect_refused(model, "--chat --quiet", "template leaves it out");
  give_chat_template(folder,
                     "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}"
                     "{% endif %}{{ messages[-1]['content'] }}");
  expect_refused(model, "--chat --quiet", "template refuses it");
}

TEST(SystemPrompt, MayBeChangedByTheTemplate) {
  const TemporaryFolder folder;
  give_chat_template(folder,
                     "{{ messages[0].content.replace('/no_think', '').rstrip() }}{{ messages[-1].content }}");
  expect_success(run_line("generate --model {} --prompt def --max-tokens 1 --chat --system {} --quiet",
                          folder / "", "Be brief. /no_think"));
}

TEST(ChatTemplate, ThatCannotBeRenderedIsToldFromNone) {
  const TemporaryFolder folder;
  give_chat_template(folder, "{{ messages | nothing }}");
  const CommandResult text = run_line("inspect {}", folder / "");
  EXPECT_THAT(text.out, HasSubstr("has a chat template that cannot be rendered: "));
  EXPECT_THAT(text.out, HasSubstr("found a filter 'nothing', expected one of Jinja's\n"));
  EXPECT_THAT(run_line("inspect {} --json", folder / "").out, HasSubstr("found a filter 'nothing'"));
  expect_one_line(run_line("chat --model {} --max-tokens 1", folder / ""),
                  "cannot be rendered, expected one that can");
}

TEST(ChatTemplate, TakesVariablesWhichTheTraceNames) {
  const TemporaryFolder folder;
  give_chat_template(folder,
                     "{{ messages[0].content }}{% if mode is defined %}{{ mode }}{{ deep.a }}{% endif %}");
  std::ofstream(folder / "prompts.jsonl") << R"({"question_id": "first", "prompt": "One"})" << '\n'
                                          << R"({"prompt": ")" << std::string(3'000, 'x') << "\"}\n";
  const auto trace = folder / "run.dstrace";
  const auto record = [&](const std::string& options, const std::string& argument) {
    return run_line(
        "record --model {} --prompts {} --strategy vanilla --repeats 1 --warmup 0 --max-tokens 1 --output {} "
        "--context 64 --skip-unfit --template-arg mode=\"slow\" --template-arg {} " +
            options,
        folder / "", folder / "prompts.jsonl", trace, argument);
  };
  const CommandResult recorded = record("--chat", "deep={\"a\": 1}");
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  EXPECT_THAT(recorded.err,
              HasSubstr("1 of 2 questions left out: their prompts are longer than the context"));
  auto reader = value_of(traces::Reader::open(trace));
  const auto recording = value_of(reader.recording());
  ASSERT_EQ(recording.prompts.size(), 1U);
  EXPECT_EQ(recording.prompts[0].text, "Oneslow1");
  EXPECT_EQ(recording.meta.at("template_arguments"), R"({"mode":"slow","deep":{"a":1}})");
  EXPECT_EQ(recording.meta.at("question_names"), R"({"1":"first"})");
  expect_one_line(record("--chat --overwrite", "mode=slow"), "'mode' is 'slow', expected JSON");
  expect_one_line(record("--chat --overwrite", "mode=2"), "'mode' is given twice");
  expect_one_line(record("--overwrite", "mode=2"), "template-arg: found 'mode=\"slow\"' without --chat");
  expect_one_line(record("--chat --overwrite", "messages=1"),
                  "template argument messages: is what the conversation gives");
}

TEST(Record, LeavesOutTurnsThatNoLongerFitTheContext) {
  const TemporaryFolder folder;
  std::ofstream(folder / "prompts.jsonl")
      << R"({"turns": ["One", ")" << std::string(100, 'x') << R"(", "Three"]})" << '\n'
      << R"({"turns": ["Four"]})" << '\n';
  const CommandResult recorded = run_line(
      "record --model synthetic:SmolLM2-135M,layers=2,vocab=300 --prompts {} --strategy vanilla --strategy "
      "layerskip:exit=1 --repeats 1 --warmup 0 --max-tokens 2 --output {} --context 64 --skip-unfit",
      folder / "prompts.jsonl", folder / "run.dstrace");
  EXPECT_EQ(recorded.exit_code, 0);
  EXPECT_THAT(recorded.err,
              HasSubstr("4 requests left out: answers made their prompts longer than the context of "));
  EXPECT_THAT(recorded.err, HasSubstr("4 of 4 requests recorded"));
}

/// Records one prompt under vanilla and an early exit, once, with shadow tokens; returns the trace.
template <typename... Values>
std::string record_one_prompt(const TemporaryFolder& folder, const std::string& more,
                              const Values&... values) {
  std::ofstream(folder / "prompts.jsonl") << R"({"turns": ["def bytes_of(path):"]})" << '\n';
  expect_success(
      run_line("record --model {} --prompts {} --output {} --strategy vanilla --strategy "
               "layerskip:exit=7,gamma=5 --repeats 1 --warmup 0 --shadow --quiet " +
                   more,
               shipped, folder / "prompts.jsonl", folder / "run.dstrace", values...));
  return folder / "run.dstrace";
}

/// Text that generate prints for the same prompt.
template <typename... Values>
std::string generated(const std::string& more, const Values&... values) {
  return printed_text("generate --model {} --prompt {} --max-tokens 40 --quiet " + more, shipped,
                      "def bytes_of(path):", values...);
}

TEST(StopStrings, CutWhatIsPrintedAndKeepWhatHappenedInTheRecord) {
  const std::string whole = generated("");
  ASSERT_GT(whole.size(), 30U);
  const std::string stop = whole.substr(20, 3);
  const std::string cut = whole.substr(0, whole.find(stop));
  for (const char* strategy : {"vanilla", "layerskip:exit=7,gamma=5", "jacobi"})
    EXPECT_EQ(generated("--strategy {} --stop {} --stop {}", strategy, "never said", stop), cut + '\n')
        << strategy;

  const TemporaryFolder folder;
  const std::string trace = record_one_prompt(folder, "--max-tokens 40 --stop {}", stop);
  auto reader = value_of(traces::Reader::open(trace));
  const auto recording = value_of(reader.recording());
  EXPECT_EQ(recording.meta.at("stop_strings"), json({stop}).dump());
  const auto tokenizer = value_of(engine::Tokenizer::load(shipped));
  ASSERT_EQ(recording.requests.size(), 2U);
  for (const traces::Request& request : recording.requests) {
    EXPECT_EQ(request.stop, traces::RequestStop::stop_string);
    EXPECT_EQ(request.text, cut);
    EXPECT_THAT(tokenizer.decode(request.tokens), HasSubstr(stop));
    const std::span<const std::int32_t> before(request.tokens.data(), request.tokens.size() - 1);
    EXPECT_THAT(tokenizer.decode(before), Not(HasSubstr(stop)));
  }
  expect_success(run_line("inspect {} --validate", trace));
  expect_success(run_line("simulate {} --strategy layerskip:exit=5,gamma=3", trace));
}

TEST(StopStrings, LeaveFiguresThatAgreeInEveryAnswer) {
  const std::string whole = generated("");
  for (const std::size_t at : {12U, 20U, 31U}) {
    const TemporaryFolder folder;
    const std::string trace = record_one_prompt(
        folder, "--max-tokens 40 --stop {} --strategy layerskip:exit=11,gamma=16", whole.substr(at, 3));
    auto reader = value_of(traces::Reader::open(trace));
    const auto recording = value_of(reader.recording());
    const json report = printed_json("report {} --json", trace);
    for (const json& run : report["runs"]) {
      std::int64_t rounds = 0;
      std::int64_t drafted = 0;
      std::int64_t accepted = 0;
      std::int64_t emitted = 0;
      for (const traces::Request& request : recording.requests) {
        if (request.run_id.value() != run["run_id"].get<std::int64_t>()) continue;
        for (const traces::Round& round : recording.rounds) {
          if (round.request_id != request.id) continue;
          ++rounds;
          drafted += round.drafted;
          accepted += std::min(round.accepted, round.emitted);
          emitted += round.emitted;
        }
      }
      EXPECT_DOUBLE_EQ(run["mean_accepted_length"],
                       static_cast<double>(emitted) / static_cast<double>(rounds));
      EXPECT_EQ(run["mean_accepted_length"], run["tokens_per_round"]);
      EXPECT_EQ(run["accepted_tokens"], accepted);
      if (run["specification"] == "vanilla") continue;
      const json asked =
          printed_json("simulate {} --strategy {} --json", trace, run["specification"].get<std::string>());
      const json& answer = asked["answers"][0];
      EXPECT_EQ(answer["tokens_per_round"], run["tokens_per_round"]);
      EXPECT_DOUBLE_EQ(answer["acceptance_rate"],
                       static_cast<double>(accepted) / static_cast<double>(drafted));
    }
  }
}

TEST(RepetitionPenalty, IsRecordedAndItsRoundsAreNotReplayed) {
  const TemporaryFolder folder;
  const std::string trace = record_one_prompt(folder, "--max-tokens 30 --repetition-penalty 1.3");
  const json report = printed_json("report {} --json", trace);
  EXPECT_EQ(report["recording"]["meta"]["repetition_penalty"], "1.3");
  EXPECT_THAT(run_line("report {}", trace).out, HasSubstr("repetition penalty 1.3"));
  EXPECT_TRUE(report["recording"]["warnings"].empty()) << "greedy texts are the same";
  for (const char* strategy : {"layerskip:exit=5,gamma=3", "prompt-lookup"})
    expect_one_line(run_line("simulate {} --strategy {}", trace, strategy),
                    "recorded with a penalty or a logit bias");
}

TEST(SamplingOptions, AreRecordedAndKeepTheStrategysTextVanillas) {
  const TemporaryFolder folder;
  const std::string trace = record_one_prompt(
      folder,
      "--max-tokens 30 --frequency-penalty 0.6 --presence-penalty -0.2 --logit-bias 13=-4 --logit-bias "
      "300=2.5");
  const json report = printed_json("report {} --json", trace);
  const json& meta = report["recording"]["meta"];
  EXPECT_EQ(meta["frequency_penalty"], "0.6");
  EXPECT_EQ(meta["presence_penalty"], "-0.2");
  EXPECT_EQ(meta["logit_bias"], R"({"13":-4.0,"300":2.5})");
  EXPECT_THAT(run_line("report {}", trace).out, HasSubstr("frequency penalty 0.6"));
  EXPECT_TRUE(report["recording"]["warnings"].empty()) << "greedy texts are the same";
  expect_one_line(run_line("simulate {} --strategy layerskip:exit=5,gamma=3", trace),
                  "recorded with a penalty or a logit bias");
  for (const auto& [odd, says] : {std::pair("--logit-bias x=1", "ID=VALUE"),
                                  {"--logit-bias 1", "ID=VALUE"},
                                  {"--logit-bias 1=101", "expected -100 to 100"},
                                  {"--logit-bias 99999=1", "token 99999"},
                                  {"--frequency-penalty 3", "from -2 to 2"},
                                  {"--repetition-penalty 0", "expected a number from "},
                                  {"--top-p 0", "above 0, up to 1"}}) {
    const CommandResult result = run_line(std::string("generate --model {} --prompt def ") + odd, shipped);
    EXPECT_NE(result.exit_code, 0) << odd;
    EXPECT_THAT(result.err, HasSubstr(says));
  }
}

TEST(SamplingOptions, OfATemperatureAreRecorded) {
  const TemporaryFolder folder;
  const std::string trace = record_one_prompt(
      folder, "--max-tokens 4 --temperature 0.8 --min-p 0.05 --top-p 0.9 --top-k 40 --coupled");
  const json meta = printed_json("report {} --json", trace)["recording"]["meta"];
  EXPECT_EQ(meta["min_p"], "0.05");
  EXPECT_EQ(meta["top_p"], "0.9");
  EXPECT_EQ(meta["top_k"], "40");
  EXPECT_EQ(meta["coupling"], "gumbel");
}

TEST(Prompts, ThatAreNoTextAreNamed) {
  const TemporaryFolder folder;
  std::ofstream(folder / "bad.txt") << "ab\xff";
  expect_one_line(run_line("generate --model {} --prompt-file {}", shipped, folder / "bad.txt"),
                  "bad.txt: text");
  expect_one_line(run_line("generate --model {} --prompt {}", shipped, "\xff"), "prompt: text");
}

TEST(ChatTemplate, ThatIsAbsentTakesNoArguments) {
  expect_one_line(run_line("chat --model {} --max-tokens 1 --template-arg deep=1", shipped),
                  "expected none: the model has no chat template");
}

// In a tree the accepted tokens need not come first.
TEST(Colours, StrikeWhatWasNotAcceptedWhereverItStands) {
  const engine::Tokenizer tokenizer = engine::Tokenizer::bytes(256);
  const std::array<traces::DraftToken, 2> draft{
      {{.token = 'a'}, {.index = 1, .token = 'b', .accepted = true}}};
  const std::array<std::int32_t, 2> emitted{'b', 'c'};
  TokenPrinter printer(tokenizer, {}, true, [] {});
  testing::internal::CaptureStdout();
  printer.on_round(
      {.round = {.drafted = 2, .accepted = 1, .emitted = 2}, .draft_tokens = draft, .emitted = emitted});
  EXPECT_TRUE(printer.finish());
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(text.find('b'), text.rfind('b')) << text;
  EXPECT_NE(text.find('a'), std::string::npos) << text;
}

TEST(StopStrings, AreRefusedWhereTheyAreNoText) {
  for (const std::string& odd : {std::string(), std::string("\xC3")})
    expect_one_line(run_line("generate --model {} --prompt def --stop {}", shipped, odd), "stop: found");
}

}  // namespace
}  // namespace draftscope::cli

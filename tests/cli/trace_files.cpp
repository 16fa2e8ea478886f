// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace_files.h"

#include <draftscope/traces/writer.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "program.h"
#include "terminal/messages.h"

namespace draftscope::cli {

void write_trace(const std::filesystem::path& path, const traces::Recording& recording,
                 const std::vector<traces::Span>& phase_spans, const std::vector<traces::Kernel>& kernels) {
  auto created = traces::Writer::create(path, recording.meta);
  ASSERT_TRUE(created) << created.error().message;
  traces::Writer& writer = **created;
  for (const traces::Run& run : recording.runs) ASSERT_EQ(writer.add(run), run.id);
  for (const traces::Prompt& prompt : recording.prompts) ASSERT_EQ(writer.add(prompt), prompt.id);
  for (const traces::LayerSet& set : recording.layer_sets) ASSERT_EQ(writer.add(set), set.id);
  traces::Track track;
  track.kind = "host";
  track.name = "decoding thread";
  const traces::TrackId host = writer.add(track);
  for (const traces::Request& request : recording.requests) {
    ASSERT_EQ(writer.next_request_id(), request.id);
    writer.begin(request);
    for (const traces::Round& round : recording.rounds) {
      if (round.request_id != request.id) continue;
      std::vector<traces::DraftToken> tokens;
      for (const traces::DraftToken& token : recording.draft_tokens)
        if (token.round_id == round.id) tokens.push_back(token);
      ASSERT_EQ(writer.next_round_id(), round.id);
      writer.add(round, tokens);
    }
    writer.finish(request);
  }
  std::vector<traces::Span> spans = phase_spans;
  for (traces::Span& span : spans) {
    span.id = writer.next_span_id();
    span.track_id = host;
    span.name_id = writer.intern(traces::phase_name(span.phase));
  }
  writer.add(std::span<const traces::Span>(spans));
  if (!kernels.empty()) {
    track.kind = "stream";
    track.name = "device 0, stream 7";
    const traces::TrackId stream = writer.add(track);
    std::vector<traces::Kernel> rows = kernels;
    for (traces::Kernel& row : rows) {
      row.id = writer.next_kernel_id();
      row.track_id = stream;
      row.short_name_id = writer.intern("[graph]");
    }
    writer.add(std::span<const traces::Kernel>(rows));
  }
  const auto closed = writer.close();
  ASSERT_TRUE(closed) << closed.error().message;
}

namespace {

constexpr std::int64_t millisecond = 1'000'000;

/// The small recording and its spans, built together on one clock.
struct Small {
  traces::Recording recording;
  std::vector<traces::Span> spans;
  std::int64_t now_ns = 1'000 * millisecond;
  traces::RequestId request_id;

  std::int64_t spend(traces::Phase phase, std::int64_t length_ns) {
    traces::Span span;
    span.request_id = request_id;
    span.round_id = phase == traces::Phase::prefill ? traces::RoundId()
                                                    : traces::RoundId::from(recording.rounds.size() + 1);
    span.start_ns = now_ns;
    span.end_ns = now_ns += length_ns;
    span.phase = phase;
    spans.push_back(span);
    return length_ns;
  }

  void round(std::int32_t index, std::int32_t drafted, std::int32_t accepted) {
    traces::Round round;
    round.id = traces::RoundId::from(recording.rounds.size() + 1);
    round.request_id = request_id;
    round.index = index;
    round.root_position = 2 + index;
    round.start_ns = now_ns;
    if (drafted > 0) {
      round.layer_set_id = 1;
      round.exit_layer = 2;
      round.planned = 4;
      round.draft_stop = drafted == 4 ? traces::DraftStop::length : traces::DraftStop::threshold;
      round.draft_ns = spend(traces::Phase::draft, drafted * millisecond);
    }
    round.drafted = round.tree_depth = drafted;
    round.accepted = accepted;
    round.emitted = accepted + 1;
    round.verify_rows = drafted + 1;
    round.bonus_token = 7;
    for (std::int32_t k = 0; k < drafted; ++k)
      recording.draft_tokens.push_back({round.id, k, k - 1, 9, 0.75, 1.0, k < accepted, k <= accepted});
    round.verify_ns = spend(traces::Phase::verify, 4 * millisecond);
    round.end_ns = now_ns;
    recording.rounds.push_back(round);
  }

  /// Decodes nine tokens: one from the prefill, eight from rounds.
  void decode(traces::RunId run_id, traces::PromptId prompt_id, std::int32_t repeat) {
    traces::Request row;
    row.id = request_id = traces::RequestId::from(recording.requests.size() + 1);
    row.run_id = run_id;
    row.prompt_id = prompt_id;
    row.repeat = repeat;
    row.start_ns = now_ns;
    spend(traces::Phase::prefill, 6 * millisecond);
    row.first_token_ns = now_ns;
    if (run_id == 1) {
      for (std::int32_t i = 0; i < 8; ++i) round(i, 0, 0);
    } else {
      round(0, 4, 3);
      round(1, 3, 2);
      round(2, 0, 0);
    }
    now_ns += 2 * millisecond;  // covered by no phase
    row.end_ns = now_ns;
    row.text = "nine tokens";
    for (std::int32_t i = 0; i < 9; ++i)
      row.tokens.push_back(static_cast<std::int32_t>(prompt_id.value()) * 10 + i);
    recording.requests.push_back(row);
  }
};

Small build_small() {
  Small small;
  traces::Recording& recording = small.recording;
  recording.meta = {{"tool_version", "0.1.0"},  {"model", "hand-made"}, {"model_shape", R"({"n_layers":8})"},
                    {"synthetic", "1"},         {"dtype", "f32"},       {"device", "cpu"},
                    {"processor", "Processor"}, {"threads", "2"},       {"hostname", "machine"},
                    {"temperature", "0"},       {"max_tokens", "9"},    {"seed", "1"}};
  recording.meta["run_memory"] =
      R"({"1":{"peak_bytes":1048576,"weight_bytes":524288,"draft_weight_bytes":0,"kv_bytes":131072,"workspace_bytes":65536},)"
      R"("2":{"peak_bytes":2097152,"weight_bytes":524288,"draft_weight_bytes":262144,"kv_bytes":131072,"workspace_bytes":65536}})";
  recording.runs = {{1, "vanilla", "vanilla", "{}", true},
                    {2, "layerskip", "layerskip:exit=2,gamma=4", R"({"exit":2,"gamma":4})", false}};
  recording.prompts = {{1, 81, "qa", 0, "Why?", {1, 2, 3}}, {2, 82, "math", 0, "1+1", {4, 5, 6}}};
  recording.layer_sets = {{1, 8, 2, {0xF0, 0xFF}, "fixed"}};
  for (const std::int32_t repeat : {0, 1})
    for (const traces::PromptId prompt_id : {traces::PromptId(1), traces::PromptId(2)})
      for (const traces::RunId run_id : {traces::RunId(1), traces::RunId(2)})
        small.decode(run_id, prompt_id, repeat);
  return small;
}

}  // namespace

traces::Recording small_recording() {
  return build_small().recording;
}
std::vector<traces::Span> small_spans() {
  return build_small().spans;
}

/// Expects one line of less than 300 characters that says what was found and what was expected, or why the
/// system refused. Every error message in the tests must pass this check.
void expect_message(const std::string& message) {
  constexpr std::size_t max_bytes = 300;
  EXPECT_TRUE(message.starts_with("draftscope: ")) << message;
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1) << message;
  EXPECT_LT(message.size(), max_bytes) << message;
  constexpr std::array says{"expected",    "no such file",   "can't be", "not valid JSON",
                            "is required", "needs at least", "requires"};
  EXPECT_TRUE(std::any_of(says.begin(), says.end(), [&](const char* words) {
    return message.find(words) != std::string::npos;
  })) << message;
}

void give_chat_template(const TemporaryFolder& folder, const std::string& chat_template) {
  const std::filesystem::path shipped = DRAFTSCOPE_SOURCE_DIR "/models/demo-layerskip";
  for (const auto& entry : std::filesystem::directory_iterator(shipped))
    if (!std::filesystem::exists(folder / entry.path().filename().string()))
      std::filesystem::create_symlink(entry.path(), folder / entry.path().filename().string());
  std::filesystem::remove(folder / "tokenizer_config.json");
  std::ifstream configuration(shipped / "tokenizer_config.json");
  nlohmann::json config = nlohmann::json::parse(configuration);
  config["chat_template"] = chat_template;
  std::ofstream(folder / "tokenizer_config.json") << config;
}

std::vector<std::string> record_arguments(const std::filesystem::path& trace, std::string_view options,
                                          const std::string& prompts, const std::string& model) {
  const std::string source = DRAFTSCOPE_SOURCE_DIR;
  std::vector<std::string> arguments =
      words_of("record --model {} --prompts {} --threads 1 --output {}",
               {source + "/models/" + model, source + "/traces/prompts/" + prompts + ".jsonl", trace});
  for (const std::string& word : words_of(options)) arguments.push_back(word);
  return arguments;
}

void change_rows(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_GT(sqlite3_changes(database), 0) << sql;
  sqlite3_close(database);
}

CommandResult run_command(const std::vector<std::string>& arguments) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  CommandResult result;
  result.exit_code = run_program(arguments);
  result.out = testing::internal::GetCapturedStdout();
  result.err = testing::internal::GetCapturedStderr();
  const bool is_refused = result.exit_code == exit_failure || result.exit_code == exit_usage;
  if (is_refused && !result.err.empty()) expect_message(result.err);
  return result;
}

void expect_success(const CommandResult& result) {
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

void record_trace(const std::filesystem::path& trace, std::string_view options, const std::string& prompts,
                  const std::string& model) {
  expect_success(run_command(record_arguments(trace, options, prompts, model)));
}

void expect_one_line(const CommandResult& result, const std::string& says) {
  EXPECT_EQ(result.exit_code, 1) << says;
  EXPECT_NE(result.err.find(says), std::string::npos) << result.err << "lacks " << says;
}

void expect_usage_error(const CommandResult& result, const std::string& says) {
  EXPECT_EQ(result.exit_code, 2) << says;
  EXPECT_NE(result.err.find(says), std::string::npos) << result.err << "lacks " << says;
}

}  // namespace draftscope::cli

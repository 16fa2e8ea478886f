// SPDX-License-Identifier: GPL-3.0-or-later
// Rows per second that a trace writes and reads: spans written (until the file is closed, and until the queue
// accepted them), read, and exported; then shadow tokens written and read.
// Usage: bench_traces [millions of rows] [folder]

#include <draftscope/base/clock.h>
#include <draftscope/traces/exporters.h>
#include <draftscope/traces/reader.h>
#include <draftscope/traces/writer.h>
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <span>
#include <vector>

namespace {

using namespace draftscope;

constexpr std::int64_t spans_per_round = 100;

/// Writes one request of rounds, each of which contains a verify phase with 99 consecutive operations.
void write_rounds(traces::Writer& writer, std::int64_t spans) {
  const traces::RunId run_id = writer.add(traces::Run{
      .strategy = "vanilla", .specification = "vanilla", .parameters = "{}", .is_baseline = true});
  const traces::PromptId prompt_id =
      writer.add(traces::Prompt{.question_id = 1, .category = "bench", .text = "x", .tokens = {1}});
  const traces::TrackId track_id = writer.add(traces::Track{.kind = "host", .name = "decode"});
  const traces::StringId phase_name_id = writer.intern("verify");
  const traces::StringId op_name_id = writer.intern("qkv");
  traces::Request request{.id = writer.next_request_id(),
                          .run_id = run_id,
                          .prompt_id = prompt_id,
                          .start_ns = 1,
                          .first_token_ns = 2};
  writer.begin(request);
  std::int64_t now_ns = 2;
  std::vector<traces::Span> batch;
  for (std::int64_t index = 0; index < spans / spans_per_round; ++index) {
    traces::Round round{.id = writer.next_round_id(),
                        .request_id = request.id,
                        .index = static_cast<std::int32_t>(index),
                        .start_ns = now_ns,
                        .root_position = static_cast<std::int32_t>(index) + 1,
                        .emitted = 1,
                        .verify_rows = 1,
                        .bonus_token = 1};
    batch.clear();
    const traces::Span phase{.id = writer.next_span_id(),
                             .track_id = track_id,
                             .request_id = request.id,
                             .round_id = round.id,
                             .start_ns = now_ns,
                             .end_ns = now_ns + spans_per_round * 1000,
                             .name_id = phase_name_id,
                             .phase = traces::Phase::verify};
    batch.push_back(phase);
    for (std::int64_t op = 1; op < spans_per_round; ++op) {
      traces::Span span = phase;
      span.id = writer.next_span_id();
      span.parent_id = phase.id;
      span.start_ns = now_ns + op * 1000;
      span.end_ns = span.start_ns + 900;
      span.name_id = op_name_id;
      span.layer = static_cast<std::int32_t>(op % 16);
      span.depth = 1;
      batch.push_back(span);
    }
    now_ns += spans_per_round * 1000;
    round.end_ns = now_ns;
    round.verify_ns = spans_per_round * 1000;
    writer.add(round, {});
    writer.add(batch);
  }
  request.end_ns = now_ns;
  writer.finish(request);
}

constexpr std::int32_t shadow_positions = 300;
constexpr std::int32_t shadow_layers = 32;

/// Writes requests of 300 positions and 32 layers, with the values that a model of 128,000 tokens would have.
void write_shadow_tokens(traces::Writer& writer, std::int64_t rows) {
  const traces::RunId run_id = writer.add(traces::Run{
      .strategy = "vanilla", .specification = "vanilla", .parameters = "{}", .is_baseline = true});
  const traces::PromptId prompt_id =
      writer.add(traces::Prompt{.question_id = 1, .category = "bench", .text = "x", .tokens = {1}});
  std::mt19937 random(1);
  std::exponential_distribution<double> margin(0.3);
  std::vector<traces::ShadowToken> batch;
  for (std::int64_t written = 0; written < rows; written += static_cast<std::int64_t>(batch.size())) {
    traces::Request request{
        .id = writer.next_request_id(), .run_id = run_id, .prompt_id = prompt_id, .start_ns = 1};
    writer.begin(request);
    request.end_ns = 2;
    writer.finish(request);
    batch.clear();
    for (std::int32_t position = 1; position <= shadow_positions; ++position)
      for (std::int32_t layer = 1; layer <= shadow_layers; ++layer)
        batch.push_back({.request_id = request.id,
                         .position = position,
                         .layer = layer,
                         .token = static_cast<std::int32_t>(random() % 128'000),
                         .probability = static_cast<double>(random()) * 0x1p-32,
                         .margin = margin(random),
                         .true_rank = static_cast<std::int32_t>(random() % (random() % 1000 + 1))});
    writer.add(std::span<const traces::ShadowToken>(batch));
  }
}

template <typename Task>
Result<void> timed(const char* name, std::int64_t rows, const Task& task) {
  const std::int64_t start_ns = now_ns();
  DRAFTSCOPE_TRY(task());
  const double seconds = static_cast<double>(now_ns() - start_ns) * 1e-9;
  fmt::print("{:<38} {:>8.2f} s {:>8.2f} M rows/s\n", name, seconds,
             static_cast<double>(rows) / seconds * 1e-6);
  return {};
}

Result<void> run_shadow_tokens(std::int64_t rows, const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / fmt::format("draftscope-bench-{}.dstrace", getpid());
  DRAFTSCOPE_TRY_ASSIGN(auto writer, traces::Writer::create(path, {}));
  const std::int64_t start_ns = now_ns();
  write_shadow_tokens(*writer, rows);
  while (writer->counts().written_rows < rows && !writer->failed()) usleep(1000);
  const double written = static_cast<double>(now_ns() - start_ns) * 1e-9;
  fmt::print("{:<38} {:>8.2f} s {:>8.2f} M rows/s\n", "write shadow tokens", written,
             static_cast<double>(rows) / written * 1e-6);
  DRAFTSCOPE_TRY(timed("close: statistics, one file", rows, [&] { return writer->close(); }));
  fmt::print("{:<38} {:>8.1f} bytes a row in the file\n", "",
             static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(rows));
  DRAFTSCOPE_TRY_ASSIGN(auto reader, traces::Reader::open(path));
  DRAFTSCOPE_TRY(timed("read all shadow tokens in order", rows, [&] {
    return reader.shadow_tokens([](const traces::ShadowToken&) { return true; });
  }));
  std::filesystem::remove(path);
  return {};
}

Result<void> run(std::int64_t spans, const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / fmt::format("draftscope-bench-{}.dstrace", getpid());
  const std::filesystem::path exported = folder / fmt::format("draftscope-bench-{}.export", getpid());
  // The queue is as long as the run, so that the writer's own rate shows and nothing is dropped.
  traces::WriterOptions options;
  options.queue_rows = static_cast<std::size_t>(spans) + 1;
  DRAFTSCOPE_TRY_ASSIGN(auto writer, traces::Writer::create(path, {}, options));
  const std::int64_t start_ns = now_ns();
  DRAFTSCOPE_TRY(timed("queue (what decoding waits for)", spans,
                       [&]() -> Result<void> { return write_rounds(*writer, spans), Result<void>{}; }));
  while (writer->counts().written_rows < spans && !writer->failed()) usleep(1000);
  const double written = static_cast<double>(now_ns() - start_ns) * 1e-9;
  fmt::print("{:<38} {:>8.2f} s {:>8.2f} M rows/s\n", "write, until the last row is committed", written,
             static_cast<double>(spans) / written * 1e-6);
  DRAFTSCOPE_TRY(timed("close: indexes, statistics, one file", spans, [&] { return writer->close(); }));
  fmt::print("{:<38} {:>8} dropped, {:.1f} bytes a row in the file\n", "", writer->counts().dropped_spans,
             static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(spans));

  DRAFTSCOPE_TRY_ASSIGN(auto reader, traces::Reader::open(path));
  DRAFTSCOPE_TRY(timed("read all spans in order", spans,
                       [&] { return reader.spans([](const traces::Span&) { return true; }); }));
  DRAFTSCOPE_TRY(
      timed("export to Perfetto", spans, [&] { return traces::export_perfetto(reader, exported); }));
  std::filesystem::remove(path);
  std::filesystem::remove(exported);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t millions = 2;
  std::string folder = std::filesystem::temp_directory_path().string();
  CLI::App app("Measures writing and reading of traces");
  app.add_option("millions", millions, "rows, in millions")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("folder", folder, "where the files go")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  auto done = run(millions * 1'000'000, folder);
  if (done) done = run_shadow_tokens(millions * 1'000'000, folder);
  if (done) return 0;
  fmt::print(stderr, "bench_traces: {}\n", done.error().message);
  return 1;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Cost of recording: the demo model decodes the same prompts unrecorded and at each level, interleaved, in
// one run.
// Usage: bench_recording [--json] [repeats]

#include <draftscope/base/statistics.h>
#include <draftscope/engine/decode.h>
#include <draftscope/engine/recording/recorder.h>
#include <draftscope/traces/prompt_file.h>
#include <draftscope/traces/writer.h>
#include <unistd.h>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "options/model_options.h"

namespace {

using namespace draftscope;

constexpr std::array<const char*, 5> level_names{"none", "rounds", "phases", "layers", "ops"};
constexpr std::array<const char*, 2> specifications{"vanilla", "layerskip:exit=3,gamma=4"};

/// Tokens/s of one pass over the prompts. Level 0 records nothing at all.
struct Pass {
  cli::LoadedModel& model;
  std::span<const std::vector<std::int32_t>> prompts;
  std::filesystem::path trace;

  Result<double> operator()(std::size_t level, const char* specification) const {
    std::unique_ptr<traces::Writer> writer;
    std::optional<profiler::SpanRecorder> spans;
    if (level > 0) {
      DRAFTSCOPE_TRY_ASSIGN(writer, traces::Writer::create(trace, {}, {.overwrite = true}));
      spans.emplace(static_cast<profiler::Level>(level - 1), writer.get());
    }
    DRAFTSCOPE_TRY_ASSIGN(const auto backend, cli::make_backend({.context = 512}, model));
    if (spans) backend->set_recorder(&*spans);
    DRAFTSCOPE_TRY_ASSIGN(auto strategy, engine::make_strategy(specification, backend->shape()));
    std::optional<engine::Recorder> recorder;
    traces::RunId run_id;
    if (writer) {
      recorder.emplace(*writer, *spans, *backend, model.tokenizer);
      run_id = recorder->add_run(strategy);
    }
    std::int64_t tokens = 0;
    const std::int64_t start_ns = now_ns();
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      const engine::DecodeRequest request{.prompt = prompts[i], .max_new_tokens = 96};
      if (recorder) {
        DRAFTSCOPE_TRY_ASSIGN(
            const traces::Request row,
            recorder->request(run_id, *strategy.strategy,
                              {.question_id = static_cast<std::int64_t>(i), .tokens = prompts[i]}, 0, request,
                              0));
        tokens += static_cast<std::int64_t>(row.tokens.size());
      } else {
        engine::SeededChooser chooser(0, 0);
        engine::DecodeListener nobody;
        DRAFTSCOPE_TRY_ASSIGN(const engine::DecodeResult result,
                              engine::decode(*backend, *strategy.strategy, request, chooser, nobody));
        tokens += static_cast<std::int64_t>(result.tokens.size());
      }
    }
    const std::int64_t wall_ns = now_ns() - start_ns;
    if (writer) DRAFTSCOPE_TRY(writer->close());
    return static_cast<double>(tokens) / (static_cast<double>(wall_ns) * 1e-9);
  }
};

Result<void> run(bool json, int repeats) {
  const std::string root = DRAFTSCOPE_SOURCE_DIR;
  DRAFTSCOPE_TRY_ASSIGN(cli::LoadedModel model, cli::load_model({.model = root + "/models/demo-layerskip"}));
  DRAFTSCOPE_TRY_ASSIGN(const auto questions, traces::read_questions(root + "/traces/prompts/demo.jsonl"));
  std::vector<std::vector<std::int32_t>> prompts;
  for (const traces::Question& question : questions) {
    DRAFTSCOPE_TRY_ASSIGN(std::vector<std::int32_t> tokens, model.tokenizer.encode(question.turns.front()));
    prompts.push_back(std::move(tokens));
  }
  const std::filesystem::path trace =
      std::filesystem::temp_directory_path() / fmt::format("draftscope-bench-{}.dstrace", getpid());
  const Pass pass{model, prompts, trace};

  nlohmann::ordered_json report = nlohmann::ordered_json::array();
  for (const char* specification : specifications) {
    // The cost of a level is the median over repeats of unrecorded / recorded tokens/s, both of the same
    // repeat.
    std::array<std::vector<double>, level_names.size()> rates;
    for (int repeat = -1; repeat < repeats; ++repeat) {
      for (std::size_t i = 0; i < level_names.size(); ++i) {
        const std::size_t level = (i + static_cast<std::size_t>(repeat + 1)) % level_names.size();
        DRAFTSCOPE_TRY_ASSIGN(const double rate, pass(level, specification));
        if (repeat >= 0) rates[level].push_back(rate);  // The first pass warms up.
      }
    }
    for (std::size_t level = 0; level < level_names.size(); ++level) {
      std::vector<double> overhead;
      for (std::size_t r = 0; r < rates[level].size(); ++r)
        overhead.push_back(rates[0][r] / rates[level][r] - 1.0);
      report.push_back({{"strategy", specification},
                        {"level", level_names[level]},
                        {"tokens_per_second", nearest_quantile(std::vector(rates[level]), 0.5)},
                        {"overhead_median", nearest_quantile(overhead, 0.5)},
                        {"overhead_low", nearest_quantile(overhead, 0.25)},
                        {"overhead_high", nearest_quantile(overhead, 0.75)}});
    }
  }
  std::filesystem::remove(trace);
  if (json) {
    fmt::print("{}\n", report.dump(2));
    return {};
  }
  fmt::print("{:<26} {:<8} {:>10} {:>10}  {}\n", "strategy", "level", "tokens/s", "overhead", "quartiles");
  for (const auto& row : report)
    fmt::print("{:<26} {:<8} {:>10.0f} {:>9.2f}%  {:.2f}% to {:.2f}%\n", row["strategy"].get<std::string>(),
               row["level"].get<std::string>(), row["tokens_per_second"].get<double>(),
               100 * row["overhead_median"].get<double>(), 100 * row["overhead_low"].get<double>(),
               100 * row["overhead_high"].get<double>());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  bool json = false;
  int repeats = 15;
  CLI::App app("Measures what recording costs, level by level");
  app.add_flag("--json", json);
  app.add_option("repeats", repeats)->check(CLI::Range(1, 10000))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const auto done = run(json, repeats);
  if (done) return 0;
  fmt::print(stderr, "bench_recording: {}\n", done.error().message);
  return 1;
}

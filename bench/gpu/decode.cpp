// SPDX-License-Identifier: GPL-3.0-or-later
// Measures decoding on a GPU: one row against the pure read rate, verify widths against one row, and draft
// steps against the bytes they read. It also compares rounds with their kernels, and speculation with its
// formula. Prints JSON, or a line.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cpu_backend.h>
#include <draftscope/engine/cuda_backend.h>
#include <draftscope/speculation/weight_format.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "benchmark.h"
#include "options.h"
#include "rates.h"

namespace draftscope::bench {
namespace {

using nlohmann::json;

/// `as_stored`, and the name of every format that a GPU's layers can be rounded to.
std::vector<std::string> layer_weight_names() {
  std::vector<std::string> names{as_stored};
  for (const speculation::WeightFormatRow& row : speculation::weight_formats())
    if (speculation::makes(speculation::MadeBy::cuda, row)) names.emplace_back(row.name);
  return names;
}

/// Parses one of these names; none = as stored.
engine::CudaWeights parse_layer_weights(std::string_view name) {
  const speculation::WeightFormatRow* const row = speculation::find_weight_format(name);
  return row == nullptr ? std::nullopt : engine::CudaWeights(row->format);
}

Result<std::unique_ptr<engine::Backend>> make_backend(const engine::Checkpoint& checkpoint,
                                                      const Options& options, engine::CudaWeights rounded) {
  std::int32_t rows = options.context;
  for (const std::int32_t context : options.contexts) rows = std::max(rows, context);
  const std::int32_t cache_rows = std::max(rows + 64, options.context + options.tokens + 1);
  if (cache_rows > checkpoint.shape.max_positions)
    return fail("context: found {} rows with what follows, expected at most {} (the model's)", cache_rows,
                checkpoint.shape.max_positions);
  if (options.device == "cpu") return engine::make_cpu_backend(checkpoint, {.cache_rows = cache_rows});
  using enum engine::DecodingPasses;
  return engine::make_cuda_backend(
      checkpoint,
      {.cache_rows = cache_rows, .weights = rounded, .passes = options.pass == "plain" ? plain : programs});
}

void print(const json& results, const Options& options) {
  if (options.json) return fmt::print("{}\n", results.dump(2));
  for (const json& result : results) {
    const json& figures = options.sustained_seconds > 0.0 ? result["sustained"] : result["vanilla"];
    fmt::print("{} {} on {}: {:.1f} tokens/s\n", result["model"].get<std::string>(),
               result["weights"].get<std::string>(), result["processor"].get<std::string>(),
               figures["tokens_per_s"]["median"].get<double>());
  }
}

/// Prints a line for each result whose pass of two rows is faster than its pass of one; returns the exit
/// status.
int complain_of_slow_one_row(const json& results) {
  int status = 0;
  for (const json& result : results) {
    const json line = result.value("slow_one_row", json());
    if (line.is_null()) continue;
    fmt::print(stderr, "bench_gpu: {} {}: {}\n", result["model"].get<std::string>(),
               result["weights"].get<std::string>(), line.get<std::string>());
    status = 1;
  }
  return status;
}

int run(const Options& options) {
  // Open the device first, since no model is needed to find that there is none.
  std::optional<Rates> rates;
  if (options.sustained_seconds == 0.0 || options.device != "cpu")
    rates.emplace(options.device, options.probe_bytes);
  using enum engine::SyntheticMatrices;
  const auto checkpoint = engine::open_model(options.model, options.device == "cpu" ? in_memory : by_backend);
  if (!checkpoint) throw std::runtime_error(checkpoint.error().message);
  for (const std::int32_t exit : options.exits)
    if (exit >= checkpoint->shape.n_layers)
      throw std::runtime_error(fmt::format("exits: found {}, expected less than the model's {} layers", exit,
                                           checkpoint->shape.n_layers));
  json results = json::array();
  for (const std::string& weights : options.weights) {
    const engine::CudaWeights rounded = parse_layer_weights(weights);
    auto backend = make_backend(*checkpoint, options, rounded);
    if (!backend) throw std::runtime_error(backend.error().message);
    Benchmark benchmark(*checkpoint, **backend, options, rounded);
    results.push_back(options.sustained_seconds > 0.0 ? benchmark.sustain() : benchmark.run(*rates));
  }
  print(results, options);
  // A processor's passes are short, and it runs other work at the same time.
  return options.device == "cpu" ? 0 : complain_of_slow_one_row(results);
}

}  // namespace
}  // namespace draftscope::bench

int main(int argc, char** argv) {
  draftscope::bench::Options options;
  CLI::App app("Measures decoding on a GPU");
  app.add_option("--model", options.model, "folder or synthetic:NAME")->capture_default_str();
  app.add_option("--device", options.device, "cuda, or cpu to try the program where there is no GPU")
      ->check(CLI::IsMember({"cuda", "cpu"}))
      ->capture_default_str();
  app.add_option("--weights", options.weights, "of the layers' matrices; several, in turn")
      ->check(CLI::IsMember(draftscope::bench::layer_weight_names()))
      ->capture_default_str();
  app.add_option("--context", options.context, "committed tokens")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--prompt", options.prompt, "file of token ids; default ids that no pattern favours");
  app.add_option("--contexts", options.contexts, "further contexts, for passes of 1 and 8 rows")
      ->check(CLI::PositiveNumber);
  app.add_option("--tokens", options.tokens, "of a decode")
      ->check(CLI::Range(2, 100000))
      ->capture_default_str();
  app.add_option("--repeats", options.repeats)->check(CLI::Range(1, 10000))->capture_default_str();
  app.add_option("--widths", options.widths,
                 "rows of a verification, beside one row, which is the unit, and two")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--exits", options.exits, "layers of draft steps")->check(CLI::PositiveNumber);
  app.add_option("--gamma", options.gamma, "speculation length of layerskip")
      ->check(CLI::Range(1, 63))
      ->capture_default_str();
  app.add_option("--sustain", options.sustained_seconds, "only decode, for so many seconds")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--probe-bytes", options.probe_bytes, "memory of the bandwidth probe")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--pass", options.pass, "a pass or a round is one kernel, or a launch an operation")
      ->check(CLI::IsMember({"program", "plain"}))
      ->capture_default_str();
  app.add_flag("--json", options.json);
  CLI11_PARSE(app, argc, argv);
  try {
    return draftscope::bench::run(options);
  } catch (const std::exception& error) {
    return fmt::print(stderr, "bench_gpu: {}\n", error.what()), 1;
  }
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Measures forward passes: one row against the memory's read rate, T(M)/T(1) for verify widths, prefill, and
// the time per operation. Widths are interleaved, so that a disturbance affects all of them. Results are
// medians with quartiles.

#include "read_bandwidth.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/statistics.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cpu_backend.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace draftscope::bench {
namespace {

struct Options {
  std::string model = "synthetic:llama-3.2-1b";
  std::string kernels;
  std::int32_t threads = 0;
  std::int32_t repeats = 7;
  std::int32_t context = 128;
  std::int32_t prompt = 1024;
  std::int32_t rows = 1;  // Rows of the pass whose time is broken down.
  bool json = false;
};

struct Quartiles {
  double low = 0.0, median = 0.0, high = 0.0;
};

Quartiles quartiles(std::vector<double> values) {
  return {quantile_below(values, 0.25), quantile_below(values, 0.5), quantile_below(values, 0.75)};
}

/// Seconds of one pass over rows that extend `context` committed ones; the head picks every row's best token.
double pass_seconds(engine::Backend& backend, std::int32_t rows, std::int32_t context, bool head,
                    engine::Outputs& outputs) {
  std::vector<engine::Row> inputs;
  inputs.reserve(static_cast<std::size_t>(rows));
  for (std::int32_t i = 0; i < rows; ++i)
    inputs.push_back({(7 * (context + i) + 1) % backend.shape().vocab, -1, context + i});
  engine::Batch batch;
  batch.rows = inputs;
  batch.committed = context;
  batch.first_row = context;
  batch.layers = {0, backend.shape().n_layers};
  batch.wanted.head = head;
  batch.wanted.top_k = head ? 1 : 0;
  const std::int64_t start_ns = now_ns();
  if (auto done = backend.forward(batch, outputs); !done) throw std::runtime_error(done.error().message);
  return static_cast<double>(now_ns() - start_ns) * 1e-9;
}

double prefill_seconds(engine::Backend& backend, std::int32_t prompt, engine::Outputs& outputs) {
  double seconds = 0.0;
  for (std::int32_t done = 0; done < prompt; done += backend.max_rows())
    seconds += pass_seconds(backend, std::min(backend.max_rows(), prompt - done), done, false, outputs);
  return seconds;
}

/// Milliseconds of a pass by operation, from the recorder's spans.
std::map<std::string, double> breakdown(engine::Backend& backend, const Options& options,
                                        engine::Outputs& outputs) {
  profiler::SpanRecorder recorder(profiler::Level::ops, nullptr);
  std::map<traces::StringId, std::string> names;
  for (const char* name : {"attention norm", "qkv", "rope", "attention", "output projection", "mlp norm",
                           "gate up", "down", "head"})
    names[recorder.name_id(name)] = name;
  backend.set_recorder(&recorder);
  for (std::int32_t i = 0; i < options.repeats; ++i)
    pass_seconds(backend, options.rows, options.context, true, outputs);
  backend.set_recorder(nullptr);
  std::map<std::string, double> milliseconds;
  for (const traces::Span& span : recorder.take())
    if (const auto name = names.find(span.name_id); name != names.end())
      milliseconds[name->second] += static_cast<double>(span.end_ns - span.start_ns) * 1e-6 / options.repeats;
  return milliseconds;
}

/// Bytes of this process that are resident now.
std::size_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoull(line.substr(6)) * 1024;
  return 0;
}

/// Resident memory beyond the weights and the K/V rows written. Called after every width has run and before
/// anything else takes memory.
nlohmann::json resident_memory(const engine::Checkpoint& checkpoint, const engine::Backend& backend,
                               std::int32_t rows) {
  const std::size_t weights = checkpoint.weight_bytes();
  const std::size_t kv = backend.describe().kv_bytes * static_cast<std::size_t>(rows) /
                         static_cast<std::size_t>(backend.cache_rows());
  const std::size_t resident = resident_bytes();
  return {{"resident_bytes", resident},
          {"weight_bytes", weights},
          {"kv_bytes_written", kv},
          {"over", static_cast<double>(resident) / static_cast<double>(weights + kv) - 1.0}};
}

nlohmann::json measure(const engine::Checkpoint& checkpoint, engine::Backend& backend,
                       const Options& options) {
  engine::Outputs outputs;
  const auto prompt = std::min(options.prompt, backend.cache_rows());
  prefill_seconds(backend, prompt, outputs);  // It touches pages and creates primitives.
  const std::int32_t widths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 24, 32, 64};
  for (const std::int32_t width : widths) pass_seconds(backend, width, options.context, true, outputs);
  const nlohmann::json memory_use =
      resident_memory(checkpoint, backend, std::max(prompt, options.context + widths[std::size(widths) - 1]));
  std::map<std::int32_t, std::vector<double>> seconds;
  std::vector<double> bandwidth;
  bandwidth.reserve(static_cast<std::size_t>(options.repeats) + 1);
  constexpr std::int32_t prefills = 3;
  std::vector<double> prefill;
  prefill.reserve(prefills);
  // At least 1 GB, so that no cache can hold it; it is touched once before it is timed.
  const std::vector<std::byte> memory(std::size_t{1} << 30, std::byte{1});
  const std::int32_t threads = backend.describe().threads;
  for (std::int32_t repeat = 0; repeat < options.repeats; ++repeat) {
    bandwidth.push_back(read_bandwidth(memory, threads) * 1e-9);
    pass_seconds(backend, 1, options.context, true, outputs);  // The probe has flushed the caches.
    for (const std::int32_t width : widths)
      seconds[width].push_back(pass_seconds(backend, width, options.context, true, outputs));
  }
  bandwidth.push_back(read_bandwidth(memory, threads) * 1e-9);
  for (std::int32_t repeat = 0; repeat < prefills; ++repeat)
    prefill.push_back(prompt / prefill_seconds(backend, prompt, outputs));

  const auto spread = [](const Quartiles& q) {
    return nlohmann::json{{"median", q.median}, {"low", q.low}, {"high", q.high}};
  };
  nlohmann::json result{{"model", options.model},
                        {"processor", backend.describe().processor},
                        {"kernels", backend.describe().kernels},
                        {"threads", threads},
                        {"context_tokens", options.context},
                        {"bytes_per_step", checkpoint.bytes_per_step()},
                        {"memory", memory_use},
                        {"read_gb_per_s", spread(quartiles(bandwidth))},
                        {"prefill_tokens_per_s", spread(quartiles(prefill))},
                        {"rows_broken_down", options.rows},
                        {"milliseconds_by_operation", breakdown(backend, options, outputs)}};
  const double one = quartiles(seconds[1]).median;
  result["weights_gb_per_s"] = static_cast<double>(checkpoint.bytes_per_step()) / one * 1e-9;
  result["share_of_bandwidth"] = result["weights_gb_per_s"].get<double>() / quartiles(bandwidth).median;
  for (auto& [width, values] : seconds) {
    for (double& value : values) value *= 1e3;
    nlohmann::json row = spread(quartiles(values));
    row["rows"] = width;
    row["against_one"] = quartiles(values).median / (one * 1e3);
    result["pass_milliseconds"].push_back(row);
  }
  return result;
}

void print(const nlohmann::json& result) {
  const auto spread = [](const nlohmann::json& q) {
    return fmt::format("{:.3f} [{:.3f}, {:.3f}]", q["median"].get<double>(), q["low"].get<double>(),
                       q["high"].get<double>());
  };
  fmt::print("{} on {}, {} threads, kernels {}\n", result["model"].get<std::string>(),
             result["processor"].get<std::string>(), result["threads"].get<int>(),
             result["kernels"].get<std::string>());
  fmt::print("read bandwidth        {} GB/s\n", spread(result["read_gb_per_s"]));
  fmt::print("one row streams       {:.1f} GB/s, {:.0f} % of it\n", result["weights_gb_per_s"].get<double>(),
             100.0 * result["share_of_bandwidth"].get<double>());
  for (const auto& row : result["pass_milliseconds"])
    fmt::print("{:>3} rows              {} ms, {:.2f} of one row\n", row["rows"].get<int>(), spread(row),
               row["against_one"].get<double>());
  fmt::print("prefill               {} tokens/s\n", spread(result["prefill_tokens_per_s"]));
  const nlohmann::json& memory = result["memory"];
  const auto megabytes = [&](const char* key) { return memory[key].get<double>() * 1e-6; };
  fmt::print(
      "resident memory       {:.1f} MB: weights {:.1f}, K/V written {:.1f}, the rest {:+.1f} % of these\n",
      megabytes("resident_bytes"), megabytes("weight_bytes"), megabytes("kv_bytes_written"),
      100.0 * memory["over"].get<double>());
  for (const auto& [name, milliseconds] : result["milliseconds_by_operation"].items())
    fmt::print("  {:<20}{:.4f} ms of a pass over {} rows\n", name, milliseconds.get<double>(),
               result["rows_broken_down"].get<int>());
}

int run(const Options& options) {
  const auto checkpoint = engine::open_model(options.model);
  if (!checkpoint) return fmt::print(stderr, "{}\n", checkpoint.error().message), 1;
  engine::CpuOptions cpu{.threads = options.threads, .cache_rows = 2048, .kernels = options.kernels};
  auto backend = engine::make_cpu_backend(*checkpoint, cpu);
  if (!backend) return fmt::print(stderr, "{}\n", backend.error().message), 1;
  const nlohmann::json result = measure(*checkpoint, **backend, options);
  if (options.json)
    fmt::print("{}\n", result.dump(2));
  else
    print(result);
  return 0;
}

}  // namespace
}  // namespace draftscope::bench

int main(int argc, char** argv) {
  draftscope::bench::Options options;
  CLI::App app("Measures forward passes of the CPU backend");
  app.add_option("--model", options.model, "folder or synthetic:NAME")->capture_default_str();
  app.add_option("--kernels", options.kernels, "kernel set; default the processor's best");
  app.add_option("--threads", options.threads, "0 = one a core")->capture_default_str();
  app.add_option("--repeats", options.repeats)->capture_default_str()->check(CLI::Range(1, 10000));
  app.add_option("--context", options.context, "committed tokens")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  app.add_option("--prompt", options.prompt, "tokens of the prefill")
      ->capture_default_str()
      ->check(CLI::Range(1, 2048));
  app.add_option("--rows", options.rows, "rows of the pass that is broken down by operation")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_flag("--json", options.json);
  CLI11_PARSE(app, argc, argv);
  try {
    return draftscope::bench::run(options);
  } catch (const std::exception& error) {
    return fmt::print(stderr, "{}\n", error.what()), 1;
  }
}

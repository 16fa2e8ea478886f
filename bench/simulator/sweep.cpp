// SPDX-License-Identifier: GPL-3.0-or-later
// Seconds of the big sweep (every exit layer and speculation length on many GPUs, with intervals) and of one
// what-if. The statistics are synthetic: walks over runs of accepted tokens with a geometric length, where
// deeper exits accept more.
// Usage: bench_sweep [--gpus N] [--draws N] [--threads N] [--requests N] [--tokens N] [--repeats N]

#include <draftscope/simulator/answers/prediction.h>
#include <draftscope/simulator/answers/sweep.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

using namespace draftscope;
using namespace draftscope::simulator;

constexpr std::int32_t layers = 32;
constexpr std::int32_t longest = 18;
constexpr std::int64_t prompt_tokens = 100;

struct Size {
  std::size_t requests = 200;
  std::int64_t tokens = 500;
  std::size_t gpus = 100;
  std::int32_t draws = 1000;
  std::int32_t threads = 0;
  std::int32_t repeats = 3;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The rounds of one text of `tokens` tokens; the last round takes the remainder.
RoundStatistics walk(std::int32_t exit, std::int32_t length, std::int64_t tokens, double accepts,
                     std::mt19937_64& random) {
  RoundStatistics statistics{.tokens = tokens, .drafts = {DraftStatistics{.exit = exit}}};
  DraftStatistics& draft = statistics.drafts[0];
  draft.verify.resize(static_cast<std::size_t>(longest) + 2);
  std::geometric_distribution<std::int64_t> run(1.0 - accepts);
  for (std::int64_t done = 0; done < tokens; ++statistics.rounds) {
    const std::int64_t context = prompt_tokens + done;
    const std::int64_t drafted = std::min<std::int64_t>(length, tokens - done - 1);
    if (drafted == 0) {
      ++statistics.target_steps.passes;
      statistics.target_steps.context += context;
      ++done;
      continue;
    }
    const std::int64_t accepted = std::min(run(random), drafted);
    draft.steps.passes += drafted;
    draft.steps.context += drafted * context + drafted * (drafted - 1) / 2;
    PassCount& verify = draft.verify[static_cast<std::size_t>(drafted) + 1];
    ++verify.passes;
    verify.context += context;
    statistics.drafted += drafted;
    statistics.accepted += accepted;
    done += accepted + 1;
  }
  return statistics;
}

Prices prices_of(std::size_t gpu) {
  const double scale = 1.0 + 0.02 * static_cast<double>(gpu);
  const double layer_ns = 2e5 * scale;
  const double head_ns = 4e5 * scale;
  Prices prices{.target_step = {.ns = layers * layer_ns + head_ns, .ns_per_context_row = 30.0},
                .round_ns = 3e4,
                .step_round_ns = 1e4};
  prices.drafts.resize(layers);
  for (std::int32_t exit = 1; exit < layers; ++exit) {
    DraftPrices& draft = prices.drafts[static_cast<std::size_t>(exit)];
    draft.step = {.ns = exit * layer_ns + head_ns, .ns_per_context_row = 1.0 * exit};
    for (std::int32_t rows = 0; rows <= longest + 1; ++rows)
      draft.verify.push_back({.ns = prices.target_step.ns * (1.0 + 0.01 * rows), .ns_per_context_row = 32.0});
  }
  return prices;
}

void run(const Size& size) {
  std::mt19937_64 random(1);
  std::vector<double> ease(size.requests);
  for (double& value : ease) value = 0.1 * std::normal_distribution<double>()(random);
  const std::vector<PassCount> vanilla(size.requests, vanilla_steps(size.tokens, prompt_tokens));
  std::vector<SweepSetting> settings;
  for (std::int32_t exit = 1; exit < layers; ++exit)
    for (std::int32_t length = 1; length <= longest; ++length) {
      SweepSetting& setting = settings.emplace_back();
      for (std::size_t i = 0; i < size.requests; ++i)
        setting.min_drafted.push_back(
            walk(exit, length, size.tokens, std::clamp(0.3 + 0.02 * exit + ease[i], 0.02, 0.98), random));
    }
  std::vector<SweepTarget> certain;
  std::vector<SweepTarget> drawn;
  for (std::size_t gpu = 0; gpu < size.gpus; ++gpu) {
    certain.push_back({.name = fmt::format("GPU {}", gpu), .prices = prices_of(gpu)});
    drawn.push_back(certain.back());
    drawn.back().draws =
        spread_prices(prices_of(gpu), {.fit = 0.02, .width = 0.1, .transfer = 0.1, .common = 0.2}, gpu);
  }
  const SweepOptions options{.draws = size.draws, .threads = size.threads};
  fmt::print("{} settings, {} GPUs, {} draws, {} requests of {} tokens\n", settings.size(), size.gpus,
             size.draws, size.requests, size.tokens);
  const auto report = [&](const char* name, const auto& work) {
    std::vector<double> seconds;
    for (std::int32_t repeat = 0; repeat < size.repeats; ++repeat) {
      const auto start = std::chrono::steady_clock::now();
      if (const auto answer = work(); !answer) {
        fmt::print(stderr, "bench_sweep: {}\n", answer.error().message);
        std::exit(1);
      }
      seconds.push_back(seconds_since(start));
    }
    std::sort(seconds.begin(), seconds.end());
    fmt::print("{:<44} {:>10.2f} ms  ({:.2f} … {:.2f})\n", name, 1e3 * seconds[seconds.size() / 2],
               1e3 * seconds.front(), 1e3 * seconds.back());
  };
  const std::span<const SweepTarget> one_certain(certain.data(), 1);
  const std::span<const SweepTarget> one_drawn(drawn.data(), 1);
  const std::span<const SweepSetting> one_setting(settings.data() + settings.size() / 2, 1);
  report("sweep, prices certain", [&] { return sweep(vanilla, settings, certain, options); });
  report("sweep, prices drawn", [&] { return sweep(vanilla, settings, drawn, options); });
  report("one what-if of the sweep, prices certain",
         [&] { return sweep(vanilla, one_setting, one_certain, options); });
  report("one what-if of the sweep, prices drawn",
         [&] { return sweep(vanilla, one_setting, one_drawn, options); });
  report("prediction, prices certain",
         [&] { return predict_speedup(vanilla, one_setting[0], certain[0], options); });
  report("prediction, prices drawn",
         [&] { return predict_speedup(vanilla, one_setting[0], drawn[0], options); });
  report("variance budget", [&] { return variance_budget(vanilla, one_setting[0], drawn[0], options); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times the sweep and one what-if");
  Size size;
  app.add_option("--requests", size.requests)->check(CLI::Range(1, 100000));
  app.add_option("--tokens", size.tokens)->check(CLI::Range(2, 100000));
  app.add_option("--gpus", size.gpus)->check(CLI::Range(1, 10000));
  app.add_option("--draws", size.draws);
  app.add_option("--threads", size.threads)->check(CLI::Range(0, 1024));
  app.add_option("--repeats", size.repeats)->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  run(size);
  return 0;
}

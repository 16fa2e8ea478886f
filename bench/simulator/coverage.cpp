// SPDX-License-Identifier: GPL-3.0-or-later
// Measures how often the intervals of answers contain the true speedup. Many recordings are drawn from a
// population of made-up texts whose true speedups are known. For each, a model is trained and queried as by a
// user.
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/traces/writer.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "../../tests/simulator/answers/uncertainty/synthetic_requests.h"

namespace draftscope::simulator {
namespace {

/// Whether the exit's token is right at each position of a text.
using Text = std::vector<bool>;

/// Texts of a kind: each has its own ease, and stretches that are easier than others.
struct Population {
  double ease = 0.8;  ///< Mean log-odds that a token is right.

  [[nodiscard]] Text draw(std::mt19937_64& random) const {
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    const double acceptance = 1.0 / (1.0 + std::exp(-ease - 0.8 * normal(random)));
    const auto length =
        static_cast<std::size_t>(std::clamp(std::exp(4.6 + 0.5 * normal(random)), 12.0, 800.0));
    Text text(length);
    bool is_easy = uniform(random) < 0.5;
    for (std::size_t i = 0; i < length; ++i) {
      if (uniform(random) < 0.15) is_easy = !is_easy;
      text[i] = uniform(random) < (is_easy ? 1.0 - 0.6 * (1.0 - acceptance) : 0.85 * acceptance);
    }
    return text;
  }
};

std::vector<SyntheticRound> rounds_of(const Text& text, std::int32_t length) {
  std::vector<SyntheticRound> rounds;
  const auto end = static_cast<std::int32_t>(text.size());
  for (std::int32_t root = 0; root < end; root += rounds.back().accepted + 1) {
    SyntheticRound round{.root = static_cast<std::int32_t>(synthetic_prompt) + root,
                         .drafted = std::min(length, end - root - 1)};
    while (round.accepted < round.drafted &&
           text[static_cast<std::size_t>(root) + static_cast<std::size_t>(round.accepted)])
      ++round.accepted;
    rounds.push_back(round);
  }
  return rounds;
}

constexpr std::int32_t max_rows = 18;

Prices made_up_prices() {
  Prices prices{.target_step = {.ns = 1.3e7, .ns_per_context_row = 900.0},
                .drafts = std::vector<DraftPrices>(synthetic_layers),
                .round_ns = 2e5,
                .step_round_ns = 5e4};
  DraftPrices& draft = prices.drafts[synthetic_exit];
  draft.step = {.ns = 4e6, .ns_per_context_row = 225.0};
  for (std::int32_t rows = 0; rows <= max_rows; ++rows)
    draft.verify.push_back({.ns = 1.3e7 + 3e5 * (rows - 1), .ns_per_context_row = 900.0 + 20.0 * (rows - 1)});
  return prices;
}

double text_ns(const Text& text, std::int32_t length) {
  static const Prices prices = made_up_prices();
  const DraftPrices& draft = prices.drafts[synthetic_exit];
  double ns = 0.0;
  for (const SyntheticRound& round : rounds_of(text, length)) {
    double round_ns = draft.verify[static_cast<std::size_t>(round.drafted) + 1].at(round.root) +
                      (round.drafted > 0 ? prices.round_ns : prices.step_round_ns);
    for (std::int32_t step = 0; step < round.drafted; ++step) round_ns += draft.step.at(round.root + step);
    ns += round_ns;
  }
  return ns;
}

/// True speedup, computed from far more texts than a recording has.
double true_speedup(const Population& population, std::int32_t length, int texts) {
  std::mt19937_64 random(2);
  double vanilla_ns = 0.0;
  double drafting_ns = 0.0;
  for (int i = 0; i < texts; ++i) {
    const Text text = population.draw(random);
    vanilla_ns += text_ns(text, 0);
    drafting_ns += text_ns(text, length);
  }
  return vanilla_ns / drafting_ns;
}

/// A recording of vanilla and of one length, with equally many prompts of each kind, one kind after the
/// other. Each time has noise, and all times of a run in a repeat share the noise of an hour.
traces::Recording record(std::uint64_t seed, const std::vector<Population>& kinds, int prompts, int repeats,
                         std::int32_t length, double drift) {
  SyntheticRecorder recorder(seed, made_up_prices(), 0.03);
  recorder.add_runs({&length, 1});
  std::vector<Text> texts;
  for (int i = 0; i < prompts; ++i) {
    const std::size_t kind = static_cast<std::size_t>(i) % kinds.size();
    texts.push_back(kinds[kind].draw(recorder.random()));
    recorder.add_prompt(fmt::format("kind {}", kind));
  }
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const double vanilla_hour = std::exp(drift * recorder.normal());
    const double hour = std::exp(drift * recorder.normal());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      recorder.decode(0, i, repeat, rounds_of(texts[i], 0), vanilla_hour);
      recorder.decode(1, i, repeat, rounds_of(texts[i], length), hour);
    }
  }
  return recorder.take();
}

struct Question {
  const char* name;
  std::int32_t recorded = 4;  ///< Recorded speculation length γ.
  std::int32_t asked = 4;
  double drift = 0.0;  ///< Spread of the machine's speed between hours; the queried hour has its own speed.
  double shift = 0.0;  ///< How much easier the queried texts are, in log-odds.
  /// Kinds in the recording, if the queried texts are of another kind; the ease of each is drawn.
  int kinds = 0;
  double kind_spread = 0.0;  ///< Standard deviation of the kinds' ease.
};

constexpr std::array<Question, 10> questions{{
    {"recorded length, new prompts of the same kind", 4, 4},
    {"shorter length, drafted otherwise", 4, 2},
    {"longer length, drafted otherwise", 4, 7},
    {"much longer length, drafted otherwise", 2, 8},
    {"recorded length, machine that drifts by 8 %", 4, 4, 0.08},
    {"recorded length, somewhat harder texts, one kind recorded", 4, 4, 0.0, -0.3, 1},
    {"recorded length, much harder texts, one kind recorded", 4, 4, 0.0, -0.8, 1},
    {"recorded length, kinds as unlike as published tasks, one recorded", 4, 4, 0.0, 0.0, 1, 0.4},
    {"recorded length, the same, four recorded", 4, 4, 0.0, 0.0, 4, 0.4},
    {"recorded length, kinds twice as unlike, four recorded", 4, 4, 0.0, 0.0, 4, 0.8},
}};

struct Options {
  int trials = 400;
  int prompts = 40;
  int repeats = 4;
  int draws = 400;
};

struct Shares {
  double of_80 = 0.0;
  double of_95 = 0.0;
  double width_95 = 0.0;  ///< Mean of an interval's width / its value.
};

/// The recorded kinds, and last the queried kind.
std::vector<Population> kinds_of(const Question& question, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<Population> kinds(static_cast<std::size_t>(std::max(question.kinds, 1)) + 1);
  if (question.kind_spread > 0.0)
    for (Population& kind : kinds) kind.ease += question.kind_spread * normal(random);
  kinds.back().ease += question.shift;
  return kinds;
}

Result<Shares> coverage(const Question& question, const Options& options, traces::Reader& reader) {
  const bool are_drawn = question.kind_spread > 0.0;
  double truth = true_speedup({.ease = Population().ease + question.shift}, question.asked, 30'000);
  const std::string strategy = fmt::format("layerskip:exit=3,gamma={}", question.asked);
  Shares shares;
  for (int trial = 0; trial < options.trials; ++trial) {
    const auto seed = static_cast<std::uint64_t>(trial) + 1;
    std::mt19937_64 random(seed + 1'000'000);
    std::vector<Population> kinds = kinds_of(question, random);
    if (are_drawn) truth = true_speedup(kinds.back(), question.asked, 4'000);
    kinds.pop_back();
    const traces::Recording recording =
        record(seed, kinds, options.prompts, options.repeats, question.recorded, question.drift);
    // Only shadow tokens and spans are read from `reader` here, and its file has none.
    DRAFTSCOPE_TRY_ASSIGN(const WhatIf what_if, WhatIf::train(reader, recording));
    DRAFTSCOPE_TRY_ASSIGN(StrategyRounds rounds, what_if.rounds(strategy));
    if (question.kinds > 0) ask_of_other_texts(rounds, "made up");
    DRAFTSCOPE_TRY_ASSIGN(const Answer answer,
                          ask(what_if.costs().model, rounds, {"as recorded", what_if.recorded_scenario()},
                              {.draws = options.draws, .seed = seed, .threads = 1}));
    std::normal_distribution<double> normal;
    // The truth is of another hour on the same machine; each of both runs has its own hour.
    const double here = truth * std::exp(question.drift * (normal(random) - normal(random)));
    const auto of_95 = answer.speedup.interval_95();
    const auto of_80 = answer.speedup.interval_80();
    if (!of_95 || !of_80) return fail("{}: found no interval, expected ten prompts or more", question.name);
    const double one = 1.0 / options.trials;
    shares.of_80 += of_80->low <= here && here <= of_80->high ? one : 0.0;
    shares.of_95 += of_95->low <= here && here <= of_95->high ? one : 0.0;
    shares.width_95 += one * (of_95->high - of_95->low) / answer.speedup.min_drafted.value;
  }
  return shares;
}

Result<void> run(const Options& options) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     fmt::format("draftscope-coverage-{}.dstrace", std::random_device()());
  {
    DRAFTSCOPE_TRY_ASSIGN(const auto writer, traces::Writer::create(path, {{"model", "made-up"}}, {}));
    DRAFTSCOPE_TRY(writer->close());
  }
  auto reader = traces::Reader::open(path);
  std::filesystem::remove(path);
  if (!reader) return tl::unexpected(reader.error());
  fmt::print("{} recordings of {} prompts x {} repeats each; made-up texts and times\n\n", options.trials,
             options.prompts, options.repeats);
  fmt::print("| question | of 80 % | of 95 % | width of 95 % |\n|---|---|---|---|\n");
  for (const Question& question : questions) {
    DRAFTSCOPE_TRY_ASSIGN(const Shares shares, coverage(question, options, *reader));
    fmt::print("| {} | {:.1f} % | {:.1f} % | {:.1f} % |\n", question.name, 100.0 * shares.of_80,
               100.0 * shares.of_95, 100.0 * shares.width_95);
    std::fflush(stdout);
  }
  return {};
}

}  // namespace
}  // namespace draftscope::simulator

int main(int argc, char** argv) {
  draftscope::simulator::Options options;
  CLI::App app("How often intervals of answers hold the true speedup, on made-up texts");
  app.add_option("--trials", options.trials, "Recordings per question")->check(CLI::Range(10, 100'000));
  app.add_option("--prompts", options.prompts, "Per recording")->check(CLI::Range(10, 1'000));
  app.add_option("--repeats", options.repeats, "Per recording")->check(CLI::Range(1, 20));
  app.add_option("--draws", options.draws, "Per answer")->check(CLI::Range(200, 100'000));
  CLI11_PARSE(app, argc, argv);
  const auto done = draftscope::simulator::run(options);
  if (done) return 0;
  fmt::print(stderr, "bench_coverage: {}\n", done.error().message);
  return 1;
}

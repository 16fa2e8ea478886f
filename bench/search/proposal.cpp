// SPDX-License-Identifier: GPL-3.0-or-later
// Time of one candidate from the Gaussian process: with the length scale fitted, with the one at hand, and of
// the thread that decodes where another makes it.

#include <draftscope/engine/search.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <vector>

namespace {

using namespace draftscope::engine;

/// Milliseconds of processor time of the calling thread, whatever others want of the machine.
template <typename Work>
double milliseconds_of(const Work& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  work();
  return now() - begin;
}

/// Some layers matter more than others, neighbours help each other out.
double score(const draftscope::speculation::SublayerMask& mask) {
  double lost = 0.0;
  for (std::int32_t layer = 0; layer < mask.n_layers(); ++layer) {
    if (!mask.runs_attention(layer)) lost += 1.0 / (1.0 + layer % 7);
    if (!mask.runs_mlp(layer))
      lost += 1.0 / (1.0 + layer % 5) + (layer > 0 && !mask.runs_mlp(layer - 1) ? 0.5 : 0.0);
  }
  return -lost;
}

/// Never stopped, and as long as a search may be.
SearchOptions endless(std::int32_t n_layers, std::int32_t repeat, std::int32_t gp_interval) {
  SearchOptions options = swift_search(n_layers, 0.45);
  options.gp_interval = gp_interval;
  options.refit_interval = std::numeric_limits<std::int32_t>::max();
  options.max_score.reset();
  options.max_tolerance.reset();
  options.max_iterations = 8000;
  options.seed = static_cast<std::uint64_t>(repeat);
  return options;
}

struct Times {
  std::vector<double> with_fit, without_fit, beside;
};

void propose_by_model(LayerSetSearch& search) {
  if (search.propose().origin != CandidateOrigin::model) std::abort();
}

void observe(LayerSetSearch& search, const Candidate& candidate) {
  if (!search.observe(candidate, score(candidate.mask))) std::abort();
}

/// One candidate after n random ones, made where it is proposed, and again one score later; and one that is
/// made from n scores beside n + 1 further candidates.
void measure(std::int32_t n_layers, std::int32_t n, std::int32_t repeat, Times& times) {
  auto chance = LayerSetSearch::create(endless(n_layers, repeat, 0)).value();
  auto at_once = LayerSetSearch::create(endless(n_layers, repeat, 1)).value();
  auto ahead = LayerSetSearch::create(endless(n_layers, repeat, 2 * (n + 1))).value();
  double deciding = 0.0;
  for (std::int32_t i = 0; i < 2 * n + 1; ++i) {
    const Candidate candidate = chance.propose();
    observe(chance, candidate);
    if (i == n) times.with_fit.push_back(milliseconds_of([&] { propose_by_model(at_once); }));
    if (i <= n) observe(at_once, candidate);
    if (i == n) times.without_fit.push_back(milliseconds_of([&] { propose_by_model(at_once); }));
    const double taken = milliseconds_of([&] { observe(ahead, candidate); });
    if (i == n - 1) deciding += taken;
  }
  deciding += milliseconds_of([&] { propose_by_model(ahead); });
  times.beside.push_back(deciding);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Time of one candidate from the Gaussian process");
  std::int32_t n_layers = 82;
  std::vector<std::int32_t> observed{50, 100, 300, 1000};
  std::int32_t repeats = 7;
  app.add_option("--layers", n_layers, "of the model; 2(L - 2) components")->capture_default_str();
  app.add_option("--observed", observed, "scores that the candidate is made from")
      ->capture_default_str()
      ->check(CLI::Range(1, 3999));
  app.add_option("--repeats", repeats, "of which the median and the range are shown")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  constexpr auto row = "{:>10} {:>12} {:>24} {:>24} {:>24}\n";
  fmt::print(row, "components", "observations", "with fit, ms", "without fit, ms", "beside decoding, ms");
  for (const std::int32_t n : observed) {
    Times times;
    for (std::int32_t repeat = 0; repeat < repeats; ++repeat) measure(n_layers, n, repeat, times);
    const auto shown = [](std::vector<double>& values) {
      std::sort(values.begin(), values.end());
      return fmt::format("{:.3g} ({:.3g} to {:.3g})", values[values.size() / 2], values.front(),
                         values.back());
    };
    fmt::print(row, 2 * (n_layers - 2), n, shown(times.with_fit), shown(times.without_fit),
               shown(times.beside));
  }
  return 0;
}

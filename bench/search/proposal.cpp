// SPDX-License-Identifier: GPL-3.0-or-later
// Time of one candidate from the Gaussian process: with the length scale fitted, and with the one at hand.

#include <draftscope/engine/search.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace {

using namespace draftscope::engine;

/// Milliseconds of processor time: one thread does it all, and others may want the machine.
double milliseconds_of(LayerSetSearch& search) {
  const std::clock_t begin = std::clock();
  const auto candidate = search.propose();
  const std::clock_t end = std::clock();
  if (candidate.origin != CandidateOrigin::model) std::abort();
  return 1e3 * static_cast<double>(end - begin) / CLOCKS_PER_SEC;
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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Time of one candidate from the Gaussian process");
  std::int32_t n_layers = 82;
  std::vector<std::int32_t> observed{50, 100, 300, 1000};
  std::int32_t repeats = 7;
  app.add_option("--layers", n_layers, "of the model; 2(L - 2) components")->capture_default_str();
  app.add_option("--observed", observed, "observations before the candidate")->capture_default_str();
  app.add_option("--repeats", repeats, "of which the median and the range are shown")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  fmt::print("{:>10} {:>12} {:>26} {:>26}\n", "components", "observations", "with fit, ms",
             "without fit, ms");
  for (const std::int32_t n : observed) {
    std::vector<double> with_fit;
    std::vector<double> without_fit;
    for (std::int32_t repeat = 0; repeat < repeats; ++repeat) {
      auto options = swift_search(n_layers, 0.45);
      options.gp_interval = n + 1;
      options.seed = static_cast<std::uint64_t>(repeat);
      auto search = LayerSetSearch::create(options);
      for (std::int32_t i = 0; search && i < n; ++i) {
        const auto candidate = search->propose();
        if (const auto observed_one = search->observe(candidate, score(candidate.mask)); !observed_one)
          return 1;
      }
      if (!search) return 1;
      with_fit.push_back(milliseconds_of(*search));
      without_fit.push_back(milliseconds_of(*search));  // the same candidate again: the fit is there
    }
    const auto shown = [](std::vector<double>& times) {
      std::sort(times.begin(), times.end());
      return fmt::format("{:.1f} ({:.1f} to {:.1f})", times[times.size() / 2], times.front(), times.back());
    };
    fmt::print("{:>10} {:>12} {:>26} {:>26}\n", 2 * (n_layers - 2), n, shown(with_fit), shown(without_fit));
  }
  return 0;
}

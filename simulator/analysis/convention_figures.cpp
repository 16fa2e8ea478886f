// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figure_tables.h>

namespace draftscope::simulator {

std::span<const FigureOf<ConventionFigures>> convention_figures() {
  using Format = FigureFormat;
  using Of = ConventionFigures;
  static const std::vector<FigureOf<Of>> list{
      {"samples", "samples", "", "Prompts or questions, with their repeats, that were averaged over",
       Format::count, [](const Of& of) { return of.samples; }},
      {"left_out", "left out", "", "Outputs that the publication's code skips", Format::count,
       [](const Of& of) { return of.left_out; }},
      {"acceptance_rate", "acceptance", "", "The acceptance rate as `acceptance` says", Format::percent,
       [](const Of& of) { return figure_value(of.acceptance_rate); }},
      {"accepted_length", "accepted length", "", "The mean accepted length as `accepted_length` says",
       Format::number, [](const Of& of) { return figure_value(of.accepted_length); }},
      {"etpl", "eTPL", "", "Tokens per loaded layer: mean over prompts", Format::number,
       [](const Of& of) { return figure_value(of.etpl); }},
      {"tokens_per_second", "tokens/s", "tokens/s", "Mean over samples, prefill included", Format::number,
       [](const Of& of) { return figure_value(of.tokens_per_second); }},
      {"wall_ns_per_token", "time/token", "ns", "Mean over samples, prefill included", Format::duration,
       [](const Of& of) { return figure_value(of.wall_ns_per_token); }},
      {"speedup", "speedup", "", "Over vanilla decoding on the same prompts, as `speed` says", Format::factor,
       [](const Of& of) { return figure_value(of.speedup); }},
  };
  return list;
}

}  // namespace draftscope::simulator

// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/conventions.h>
#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/traces/missing_data.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/figures/request_rows.h"

namespace draftscope::simulator {

namespace {

using traces::MissingData;

constexpr std::array<ConventionRow, 6> convention_rows{{
    {Convention::layerskip, "layerskip", "LayerSkip (Elhoushi et al. 2024, §4.3 and its code)", "each prompt",
     "accepted / drafted tokens of a prompt, then the mean over prompts; a prompt without a draft is left "
     "out",
     "", "tokens/s of each prompt, prefill included, then the mean; empty outputs are left out"},
    {Convention::draft_verify, "draft-verify", "Draft & Verify (Zhang et al. 2024, §4 and its code)",
     "each prompt", "\"matchness\": accepted / drafted tokens of a prompt, then the mean over prompts", "",
     "time per token of each prompt, prefill included, then the mean; the speedup is the ratio of these "
     "means; outputs below 5 characters, or that begin with dots, are left out"},
    {Convention::swift, "swift", "SWIFT (Xia et al. 2025, §3 and App. B.3)", "each prompt",
     "accepted tokens / draft steps of all rounds: a level of the token tree is one step, and what a side "
     "branch saves counts as accepted",
     "M, bonus token included, over all rounds", "tokens/s of each prompt, prefill included, then the mean"},
    {Convention::clasp, "clasp", "CLaSp (Chen et al. 2025, §4)", "each question", "",
     "τ = M − 1 over all rounds: the bonus token is not counted",
     "tokens/s of each question, prefill included, then the mean"},
    {Convention::del, "del", "DEL (Entezari Zarch et al. 2025, §4 and App. B)", "each prompt",
     "accepted / drafted tokens of a prompt, then the mean over prompts; a prompt without a draft is left "
     "out",
     "", "tokens/s of each prompt, prefill included, then the mean; eTPL of each prompt, then the mean"},
    {Convention::spec_bench, "spec-bench", "Spec-Bench (Xia et al. 2024, its speed.py)",
     "each question, its turns together", "",
     "emitted tokens per target forward, bonus token included and cut at the end of the text, over all "
     "rounds",
     "tokens/s of each question, prefill included, then the mean"},
}};

struct Sample {
  double tokens = 0.0;
  double wall_ns = 0.0;
};

using SampleKey = std::tuple<std::string_view, std::int64_t, traces::PromptId, std::int32_t>;

/// Key of the sample that a request belongs to: the request itself, or the question that it is a turn of.
SampleKey key_of(Convention convention, const RequestRows& rows) {
  const bool by_question = convention == Convention::spec_bench || convention == Convention::clasp;
  if (by_question) return {rows.prompt->category, rows.prompt->question_id, {}, rows.request->repeat};
  return {{}, 0, rows.prompt->id, rows.request->repeat};
}

/// Whether the publication's code skips this output.
bool is_left_out(Convention convention, const RequestRows& rows) {
  constexpr std::size_t min_characters = 5;
  const std::string& text = rows.request->text;
  if (convention == Convention::draft_verify && rows.known.output_text)
    return text.size() < min_characters || text.starts_with("..");
  return rows.request->tokens.empty();
}

std::map<SampleKey, Sample> samples_of(Convention convention, const RunRows& run, std::int64_t* left_out) {
  std::map<SampleKey, Sample> samples;
  for (const RequestRows& rows : run.requests) {
    if (is_left_out(convention, rows)) {
      if (left_out != nullptr) ++*left_out;
      continue;
    }
    Sample& sample = samples[key_of(convention, rows)];
    sample.tokens += static_cast<double>(rows.request->tokens.size());
    sample.wall_ns += static_cast<double>(rows.request->end_ns - rows.request->start_ns);
  }
  return samples;
}

/// Means over samples of tokens/s and of the time per token.
struct MeanSpeed {
  std::optional<double> tokens_per_second;
  std::optional<double> wall_ns_per_token;
};

MeanSpeed mean_speed(const std::map<SampleKey, Sample>& samples) {
  constexpr double ns_per_second = 1e9;
  MeanSpeed mean;
  double rates = 0.0;
  double times = 0.0;
  std::size_t count = 0;
  for (const auto& [key, sample] : samples) {
    if (sample.wall_ns <= 0.0 || sample.tokens <= 0.0) continue;
    rates += sample.tokens * ns_per_second / sample.wall_ns;
    times += sample.wall_ns / sample.tokens;
    ++count;
  }
  if (count == 0) return mean;
  mean.tokens_per_second = rates / static_cast<double>(count);
  mean.wall_ns_per_token = times / static_cast<double>(count);
  return mean;
}

/// The requests of a run whose prompt and repeat are in the other run, too.
RunRows shared_with(const RunRows& run, const Pairing& pairing) {
  std::set<const traces::Request*> paired;
  for (const RequestPair& pair : pairing.pairs) paired.insert({pair.baseline, pair.comparison});
  RunRows shared;
  shared.run = run.run;
  std::copy_if(run.requests.begin(), run.requests.end(), std::back_inserter(shared.requests),
               [&](const RequestRows& rows) { return paired.contains(rows.request); });
  return shared;
}

std::optional<double> speedup_as(Convention convention, const RunRows& run, const RunRows& baseline) {
  const Pairing pairing = pair_requests(Baseline(baseline), Comparison(run));
  const MeanSpeed of_run = mean_speed(samples_of(convention, shared_with(run, pairing), nullptr));
  const MeanSpeed of_baseline = mean_speed(samples_of(convention, shared_with(baseline, pairing), nullptr));
  if (!of_run.wall_ns_per_token || !of_baseline.wall_ns_per_token) return std::nullopt;
  if (convention == Convention::draft_verify)
    return *of_baseline.wall_ns_per_token / *of_run.wall_ns_per_token;
  return *of_run.tokens_per_second / *of_baseline.tokens_per_second;
}

/// Mean of accepted / drafted over requests that drafted.
std::optional<double> mean_acceptance(Convention convention, const RunRows& run) {
  double sum = 0.0;
  std::size_t count = 0;
  for (const RequestRows& rows : run.requests) {
    const traces::RequestSum of_request = sum_of_rounds(rows);
    if (of_request.drafted == 0 || is_left_out(convention, rows)) continue;
    sum += static_cast<double>(of_request.accepted) / static_cast<double>(of_request.drafted);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

void add_drafts(ConventionFigures& figures, Convention convention, const RunRows& run,
                const traces::Recording& recording) {
  const Acceptance pooled = acceptance(run);
  switch (convention) {
    case Convention::layerskip:
    case Convention::draft_verify:
      figures.acceptance_rate = mean_acceptance(convention, run);
      break;
    case Convention::del:
      figures.acceptance_rate = mean_acceptance(convention, run);
      figures.etpl = loaded_layers(run, recording).etpl;
      break;
    case Convention::swift:
      figures.acceptance_rate = pooled.step_acceptance;
      figures.accepted_length = pooled.mean_accepted_length;
      // Equation 6 with γ̄ and c = 1 − r counts the layers of drafts and verifications. It is M where drafts
      // load none, as guesses from the text.
      if (const auto expected = loaded_layers(run, recording).layer_count_speedup;
          expected && pooled.mean_accepted_length && *expected < *pooled.mean_accepted_length * (1.0 - 1e-9))
        figures.expected_speedup = expected;
      break;
    case Convention::clasp:
      if (pooled.mean_accepted_length) figures.accepted_length = *pooled.mean_accepted_length - 1.0;
      break;
    case Convention::spec_bench:
      figures.accepted_length = pooled.emitted_per_round;
      break;
  }
}

/// Removes figures that depend on data missing in the source of an imported recording.
void drop_unavailable(ConventionFigures& figures, MissingData missing) {
  switch (missing) {
    case MissingData::accepted_lengths:
      figures.accepted_length.reset();
      figures.acceptance_rate.reset();
      figures.etpl.reset();
      figures.expected_speedup.reset();
      break;
    case MissingData::draft_lengths:
      figures.acceptance_rate.reset();
      figures.etpl.reset();
      figures.expected_speedup.reset();
      break;
    case MissingData::layer_sets:
      figures.etpl.reset();
      figures.expected_speedup.reset();
      break;
    case MissingData::wall_times:
      figures.speedup.reset();
      [[fallthrough]];
    case MissingData::output_lengths:
    case MissingData::prefill_times:
      figures.tokens_per_second.reset();
      figures.wall_ns_per_token.reset();
      break;
    default:
      break;
  }
}

/// Figures of one run; `baseline` may be null.
ConventionFigures figures_of(Convention convention, const RunRows& run, const RunRows* baseline,
                             const traces::Recording& recording) {
  ConventionFigures figures;
  figures.run = run.run;
  const auto samples = samples_of(convention, run, &figures.left_out);
  figures.samples = static_cast<std::int64_t>(samples.size());
  const MeanSpeed speed = mean_speed(samples);
  figures.tokens_per_second = speed.tokens_per_second;
  figures.wall_ns_per_token = speed.wall_ns_per_token;
  if (!run.run->is_baseline) {
    add_drafts(figures, convention, run, recording);
    if (baseline != nullptr) figures.speedup = speedup_as(convention, run, *baseline);
  }
  for (const MissingData missing : traces::missing_data_of(recording.meta))
    drop_unavailable(figures, missing);
  return figures;
}

}  // namespace

std::span<const ConventionRow> conventions() {
  return convention_rows;
}

std::vector<ConventionFigures> figures_as(Convention convention, const traces::Recording& recording) {
  const std::vector<RunRows> runs = rows_by_run(recording);
  const RunRows* baseline = baseline_of(runs);
  std::vector<ConventionFigures> result;
  result.reserve(runs.size());
  for (const RunRows& run : runs) result.push_back(figures_of(convention, run, baseline, recording));
  return result;
}

std::vector<std::vector<ConventionFigures>> category_figures_as(Convention convention,
                                                                const traces::Recording& recording) {
  const std::vector<RunRows> runs = rows_by_run(recording);
  const RunRows* baseline = baseline_of(runs);
  std::vector<std::vector<ConventionFigures>> result;
  for (const RunRows& run : runs) {
    std::vector<ConventionFigures>& parts = result.emplace_back();
    for (const std::string& category : categories(run)) {
      const RunRows part = only_category(run, category);
      const RunRows beside = baseline != nullptr ? only_category(*baseline, category) : RunRows{};
      parts.push_back(figures_of(convention, part, baseline != nullptr ? &beside : nullptr, recording));
      parts.back().category = category;
    }
  }
  return result;
}

std::span<const FigureOf<ConventionFigures>> convention_figures() {
  using Format = FigureFormat;
  using Of = ConventionFigures;
  static const std::vector<FigureOf<Of>> list{
      {"samples", "samples", "", "Prompts or questions, with their repeats, that were averaged over",
       Format::count, [](const Of& of) { return of.samples > 0 ? FigureValue(of.samples) : FigureValue(); }},
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
      {"expected_speedup", "expected", "",
       "What Equation 6 promises: M over the layers of a round, in layers of a target step", Format::factor,
       [](const Of& of) { return figure_value(of.expected_speedup); }},
      {"speedup", "speedup", "", "Over vanilla decoding on the same prompts, as `speed` says", Format::factor,
       [](const Of& of) { return figure_value(of.speedup); }},
  };
  return list;
}

}  // namespace draftscope::simulator

// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "answers/oracle/text_rounds.h"
#include "answers/oracle/threshold_policy.h"

namespace draftscope::simulator {

namespace {

/// Confidences and matches of one exit along one text.
struct Observed {
  std::vector<double> confidences;
  std::vector<bool> matches;
};

Observed observe(const ShadowTable& table, std::int32_t exit) {
  Observed observed;
  for (std::int32_t position = table.first; position < table.end(); ++position) {
    observed.confidences.push_back(static_cast<double>(table.cell(position, exit).probability));
    observed.matches.push_back(is_match(table, position, exit));
  }
  return observed;
}

std::vector<double> edges_of(std::vector<double> confidences, std::int32_t bins) {
  std::sort(confidences.begin(), confidences.end());
  std::vector<double> edges;
  for (std::int32_t i = 1; i < bins; ++i)
    edges.push_back(
        confidences[confidences.size() * static_cast<std::size_t>(i) / static_cast<std::size_t>(bins)]);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  // Nothing lies below an edge at the least confidence.
  if (!edges.empty() && edges.front() == confidences.front()) edges.erase(edges.begin());
  return edges;
}

/// Shares of the counts, with one observation spread as `prior` is.
std::vector<double> shares(const std::vector<double>& counts, const std::vector<double>& prior) {
  double sum = 1.0;
  for (const double count : counts) sum += count;
  std::vector<double> result(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) result[i] = (counts[i] + prior[i]) / sum;
  return result;
}

}  // namespace

Result<ConfidenceModel> fit_confidence_model(std::span<const ConfidenceSample> samples, std::int32_t exit,
                                             std::int32_t bins) {
  if (bins < 1) return fail("confidence model: found {} bins, expected at least 1", bins);
  std::vector<Observed> texts;
  std::vector<double> confidences;
  double matches = 0.0;
  for (const ConfidenceSample& sample : samples) {
    DRAFTSCOPE_TRY(check(*sample.table));
    if (exit < 1 || exit >= sample.table->n_layers)
      return fail("confidence model: exit layer {}, expected 1 to {}", exit, sample.table->n_layers - 1);
    texts.push_back(observe(*sample.table, exit));
    confidences.insert(confidences.end(), texts.back().confidences.begin(), texts.back().confidences.end());
    matches +=
        static_cast<double>(std::count(texts.back().matches.begin(), texts.back().matches.end(), true));
  }
  if (confidences.empty()) return fail("confidence model: found no position, expected one to learn from");

  ConfidenceModel model{
      .exit = exit, .edges = edges_of(confidences, bins), .acceptance = {}, .start = {}, .next = {}};
  const std::size_t size = model.edges.size() + 1;
  const auto all = static_cast<double>(confidences.size());
  std::vector<double> seen(size);
  std::vector<double> accepted(size);
  std::vector<double> starting(size);
  std::vector<std::vector<double>> following(size, std::vector<double>(size));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Observed& text = texts[i];
    for (std::size_t at = 0; at < text.confidences.size(); ++at) {
      const std::size_t bin = model.bin(text.confidences[at]);
      seen[bin] += 1.0;
      if (!text.matches[at]) continue;
      accepted[bin] += 1.0;
      if (at + 1 < text.confidences.size()) following[bin][model.bin(text.confidences[at + 1])] += 1.0;
    }
    for (const std::int32_t start : samples[i].starts) {
      const std::int32_t at = start - samples[i].table->first;
      if (at >= 0 && static_cast<std::size_t>(at) < text.confidences.size())
        starting[model.bin(text.confidences[static_cast<std::size_t>(at)])] += 1.0;
    }
  }
  std::vector<double> common(size);
  for (std::size_t bin = 0; bin < size; ++bin) {
    common[bin] = seen[bin] / all;
    model.acceptance.push_back((accepted[bin] + matches / all) / (seen[bin] + 1.0));
  }
  model.start = shares(starting, common);
  for (const std::vector<double>& counts : following) model.next.push_back(shares(counts, common));
  return model;
}

}  // namespace draftscope::simulator

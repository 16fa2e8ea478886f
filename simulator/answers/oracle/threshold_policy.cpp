// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/oracle/threshold_policy.h"

#include <algorithm>
#include <array>

#include "answers/oracle/text_rounds.h"

namespace draftscope::simulator {

namespace {

/// Replays a rule that decides after each draft token whether to continue: `begin()` at a round's start, then
/// `goes_on(drafted, confidence)`.
template <typename Rule>
ThresholdRounds walk(const ShadowTable& table, std::int32_t exit, std::int32_t longest, Rule rule) {
  ThresholdRounds result;
  const std::array<std::int32_t, 1> exits{std::max(exit, 1)};
  const RunTable runs = run_table(table, exits);
  for (std::int32_t position = table.first; position < finish(table);) {
    result.starts.push_back(position);
    const std::int32_t allowed = exit > 0 ? drafts_allowed(table, position, longest) : 0;
    const std::int32_t run = runs.at(position)[0];
    std::int32_t drafted = 0;
    std::int32_t known = 0;  // Number of draft tokens whose confidences are those of the text.
    bool stopped = allowed < 1;
    rule.begin();
    while (!stopped) {
      const std::int32_t at = position + drafted;
      ++drafted;
      if (drafted <= run + 1) known = drafted;
      // After the text's end there is no confidence to model with.
      stopped = drafted >= allowed || at >= table.end() ||
                !rule.goes_on(drafted, static_cast<double>(table.cell(at, exit).probability));
    }
    const std::int32_t accepted = std::min(drafted, run);
    const bool is_exact = drafted <= known && (position + drafted <= table.end() || drafted == allowed);
    if (!is_exact) ++result.bounded_rounds;
    count_round(result.modelled, table, position, exit, drafted, accepted, allowed + 1);
    count_round(result.least, table, position, exit, std::min(drafted, known + 1), accepted, allowed + 1);
    count_round(result.most, table, position, exit, is_exact ? drafted : allowed, accepted, allowed + 1);
    position += accepted + 1;
  }
  return result;
}

struct SingleThreshold {
  float threshold = 0.0F;

  void begin() const {}
  // Compares in the precision of the confidence, as the decode loop does.
  [[nodiscard]] bool goes_on(std::int32_t /*drafted*/, double confidence) const {
    return !(static_cast<float>(confidence) < threshold);
  }
};

struct PrefixRule {
  const PrefixThreshold& rule;
  double prefix = 1.0;

  void begin() { prefix = 1.0; }
  bool goes_on(std::int32_t drafted, double confidence) {
    const std::size_t bin = rule.model.bin(confidence);
    prefix *= rule.model.acceptance[bin];
    return prefix >= rule.min_acceptance[static_cast<std::size_t>(drafted) - 1][bin];
  }
};

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
  // Nothing is below an edge at the minimum confidence.
  if (!edges.empty() && edges.front() == confidences.front()) edges.erase(edges.begin());
  return edges;
}

/// Shares of the counts, with one observation distributed as `prior`.
std::vector<double> shares(const std::vector<double>& counts, const std::vector<double>& prior) {
  double sum = 1.0;
  for (const double count : counts) sum += count;
  std::vector<double> result(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) result[i] = (counts[i] + prior[i]) / sum;
  return result;
}

}  // namespace

std::size_t ConfidenceModel::bin(double confidence) const {
  return static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), confidence) - edges.begin());
}

Result<ThresholdRounds> replay(const ShadowTable& table, const ConfidenceThreshold& rule) {
  DRAFTSCOPE_TRY(check(table));
  return walk(table, rule.exit, rule.longest, SingleThreshold{static_cast<float>(rule.threshold)});
}

Result<ThresholdRounds> replay(const ShadowTable& table, const PrefixThreshold& rule) {
  DRAFTSCOPE_TRY(check(table));
  return walk(table, rule.model.exit, rule.longest, PrefixRule{rule});
}

Result<ConfidenceModel> fit_confidence_model(std::span<const ConfidenceSample> samples, std::int32_t exit,
                                             std::int32_t bins) {
  std::vector<Observed> texts;
  std::vector<double> confidences;
  double matches = 0.0;
  for (const ConfidenceSample& sample : samples) {
    DRAFTSCOPE_TRY(check(*sample.table));
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

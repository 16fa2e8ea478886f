// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/measured_recording.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/figures/request_rows.h"
#include "analysis/run_specification.h"

namespace draftscope::simulator {

namespace {

/// Tokens and rounds of some requests.
struct RoundYield {
  std::int64_t emitted = 0;
  std::int64_t rounds = 0;
  void add(const traces::RequestSum& sum) {
    emitted += sum.emitted;
    rounds += sum.rounds;
  }
  [[nodiscard]] double per_round() const {
    return static_cast<double>(emitted) / static_cast<double>(rounds);
  }
};

}  // namespace

std::string known_texts_note(const RunRows& run) {
  std::map<std::vector<std::int32_t>, traces::RequestSum> first_times;
  RoundYield first;
  RoundYield again;
  std::int64_t requests = 0;
  for (const RequestRows& rows : run.requests) {
    if (rows.request->tokens.empty() || !rows.known.token_ids) continue;
    const traces::RequestSum sum = sum_of_rounds(rows);
    const auto [known, is_new] = first_times.try_emplace(rows.request->tokens, sum);
    if (is_new) continue;
    first.add(known->second);
    again.add(sum);
    ++requests;
  }
  constexpr std::int64_t min_rounds = 8;
  constexpr double min_gain = 1.25;
  if (first.rounds < min_rounds || again.rounds < 1 || again.per_round() < min_gain * first.per_round())
    return {};
  return fmt::format(
      "{}: {} requests repeat the output of an earlier one and yield {:.2f} tokens a round, {:.2f} the first "
      "time: the run keeps texts of earlier requests",
      run.run->specification, requests, again.per_round(), first.per_round());
}

std::vector<std::string> short_drafts_notes(const traces::Recording& recording) {
  std::vector<std::string> notes;
  std::size_t longest = 0;
  for (const traces::Prompt& prompt : recording.prompts) longest = std::max(longest, prompt.tokens.size());
  const nlohmann::json shapes = meta_object(recording.meta, "draft_model_shapes");
  for (const auto& [model, shape] : shapes.items()) {
    if (!shape.is_object() || !shape.contains("max_positions")) continue;
    const nlohmann::json& positions = shape["max_positions"];
    if (positions.is_number_unsigned() && positions.get<std::uint64_t>() < longest)
      notes.push_back(
          fmt::format("draft model {} holds {} tokens, the longest prompt {}: beyond its context it "
                      "drafts nothing",
                      model, positions.get<std::uint64_t>(), longest));
  }
  return notes;
}

}  // namespace draftscope::simulator

// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/del/engine.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/to_size.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "strategies/engine.h"

namespace draftscope::engine {

namespace {

/// Writes "null" where JSON has no number.
std::string json_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

/// Writes six digits, for numbers that are shown and not computed with.
std::string short_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
}

}  // namespace

Del::Del(const speculation::ModelShape& shape, const speculation::DelRule::Options& options)
    : shape_(shape),
      rule_({shape.n_layers, speculation::head_in_layers(shape)}, options),
      boundaries_(rule_.candidates().begin(), rule_.candidates().end()) {
  for (std::int32_t exit = 0; exit < shape.n_layers; ++exit)
    masks_.push_back(speculation::SublayerMask::early_exit(shape.n_layers, exit));
}

const speculation::SublayerMask* Del::mask(const RoundView& /*round*/) {
  return rule_.rests() ? nullptr : &masks_[to_size(rule_.exit())];
}

std::int32_t Del::length(const RoundView& /*round*/) {
  return rule_.length();
}

double Del::threshold(const RoundView& /*round*/) {
  return rule_.threshold();
}

void Del::begin_request(const RequestView& /*request*/) {
  rule_.begin_request();
  positions_ = prompt_positions_ = 0;
  due_ = rule_.options().prompt_window > 0;
}

void Del::observe(const RoundView& /*round*/, const RoundOutcome& outcome, DecisionLog* /*log*/) {
  // Only the public code after d = 0 counts rows after the first rejected token, whose context is not the
  // text's.
  path_.assign(1, 0);
  const bool chain = static_cast<std::size_t>(outcome.drafted()) == outcome.steps.size();
  if (chain && rule_.options().exits_draft && rule_.counts_all()) {
    for (std::int32_t node = 0; node < outcome.drafted(); ++node) path_.push_back(to_size(node) + 1);
  } else {
    for (const std::int32_t node : outcome.accepted_nodes) path_.push_back(to_size(node) + 1);
  }
  const std::size_t rows = outcome.nodes.size() + 1;
  const std::size_t d_model = to_size(shape_.d_model);
  round_states_.clear();
  if (!outcome.states.empty()) {
    round_states_.reserve(boundaries_.size() * path_.size() * d_model);
    for (std::size_t layer = 0; layer < boundaries_.size(); ++layer)
      for (const std::size_t row : path_) {
        const auto state = outcome.states.subspan((layer * rows + row) * d_model, d_model);
        round_states_.insert(round_states_.end(), state.begin(), state.end());
      }
  }
  target_.resize(to_size(prompt_positions_));
  for (const std::size_t row : path_) target_.push_back(outcome.verified[row].token);
  positions_ = prompt_positions_ + static_cast<std::int32_t>(path_.size());
  due_ = true;
}

/// Reads the states of the prompt's last positions and the target's predictions after them, in one pass
/// outside the text.
Result<void> Del::read_prompt(const RoundView& view, Probe& probe) {
  const std::int32_t count = std::min({rule_.options().prompt_window, probe.committed(), probe.room()});
  if (count < 1) return {};
  const std::int32_t first = probe.committed() - count;
  rows_.clear();
  for (std::int32_t position = first; position < probe.committed(); ++position)
    rows_.push_back({.token = view.text[to_size(position)], .hidden = -1, .position = position});
  DRAFTSCOPE_TRY(probe.run({.rows = rows_,
                            .context = first,
                            .layers = {0, shape_.n_layers},
                            .wanted = {.hidden_after = boundaries_, .head = true, .top_k = 1}},
                           outputs_));
  positions_ = prompt_positions_ = count;
  prompt_states_.assign(outputs_.hidden.begin(), outputs_.hidden.end());
  path_.clear();
  round_states_.clear();
  target_.clear();
  for (const TopToken& top : outputs_.top) target_.push_back(top.token);
  return {};
}

/// Gives every state a number; states on the host are put into the bank.
Result<void> Del::number_states(StateBank& bank) {
  const auto candidates = static_cast<std::int32_t>(boundaries_.size());
  const auto of_round = static_cast<std::int32_t>(path_.size());
  const std::int32_t of_prompt = prompt_positions_;
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t first, bank.reserve(candidates * (of_prompt + of_round)));
  const std::int32_t rest = first + candidates * of_prompt;
  if (of_prompt > 0) DRAFTSCOPE_TRY(bank.put(first, prompt_states_));
  if (!round_states_.empty()) DRAFTSCOPE_TRY(bank.put(rest, round_states_));
  numbers_.clear();
  for (std::int32_t layer = 0; layer < candidates; ++layer) {
    for (std::int32_t i = 0; i < of_prompt; ++i) numbers_.push_back(first + layer * of_prompt + i);
    for (std::int32_t i = 0; i < of_round; ++i)
      numbers_.push_back(round_states_.empty() ? bank.of_round(boundaries_[to_size(layer)],
                                                               static_cast<std::int32_t>(path_[to_size(i)]))
                                               : rest + layer * of_round + i);
  }
  return {};
}

/// Runs all candidates' heads together, with as many rows per pass as it takes.
Result<void> Del::run_heads(Probe& probe) {
  DRAFTSCOPE_TRY(number_states(probe.states()));
  shadow_.clear();
  for (std::size_t done = 0; done < numbers_.size(); done += rows_.size()) {
    const std::size_t count = std::min(numbers_.size() - done, to_size(probe.head_room()));
    rows_.clear();
    for (std::size_t i = 0; i < count; ++i)
      rows_.push_back({.token = -1, .hidden = numbers_[done + i], .position = 0});
    DRAFTSCOPE_TRY(probe.run({.rows = rows_,
                              .reads_kept = true,
                              .layers = {shape_.n_layers, shape_.n_layers},
                              .wanted = {.head = true, .top_k = 1}},
                             outputs_));
    shadow_.insert(shadow_.end(), outputs_.top.begin(), outputs_.top.end());
  }
  return {};
}

/// The best token of a candidate's head at a position.
const TopToken& Del::shadow(std::int32_t exit, std::int32_t position) const {
  const auto place = std::lower_bound(boundaries_.begin(), boundaries_.end(), exit) - boundaries_.begin();
  return shadow_[static_cast<std::size_t>(place) * to_size(positions_) + to_size(position)];
}

Result<void> Del::optimise(const RoundView& view, Probe& probe, DecisionLog* log) {
  due_ = false;
  const std::int64_t start_ns = now_ns();
  const bool after_prefill = view.index < 0;
  if (after_prefill) {
    DRAFTSCOPE_TRY(read_prompt(view, probe));
    // The public code joins the prompt's positions to the first round's.
    if (!rule_.learns_before_first_round() || positions_ == 0) return {};
  }
  DRAFTSCOPE_TRY(run_heads(probe));
  const speculation::ExitChoice before = rule_.choice();
  matches_.assign(to_size(shape_.n_layers - 1), 0);
  rule_.learn(positions_, [&](std::int32_t exit, std::int32_t position) -> speculation::ShadowToken {
    const TopToken& said = shadow(exit, position);
    // A NaN would stay in the statistics, so such a layer counts as wrong with confidence 0.
    if (!has_distribution(said)) return {false, 0.0};
    const bool is_right = said.token == target_[to_size(position)];
    matches_[to_size(exit - 1)] += static_cast<std::int32_t>(is_right);
    return {is_right, static_cast<double>(said.probability)};
  });
  prompt_positions_ = 0;
  log_choice(before, start_ns, log);
  return {};
}

void Del::log_choice(const speculation::ExitChoice& before, std::int64_t start_ns, DecisionLog* log) const {
  if (log == nullptr) return;
  const speculation::ExitChoice& choice = rule_.choice();
  log->add({.kind = "exit",
            .score = choice.tpl,
            .has_score = true,
            .adopted = choice.exit != before.exit || choice.gamma != before.gamma,
            .start_ns = start_ns,
            .end_ns = now_ns(),
            .detail = [&] {
              std::string rates;
              std::string thresholds;
              std::string right;
              std::string wrong;
              for (const speculation::ExitStatistics& exit : rule_.statistics()) {
                const char* comma = rates.empty() ? "" : ",";
                rates += comma + json_number(exit.acceptance());
                thresholds += comma + json_number(exit.threshold());
                right += comma + short_number(exit.right_confidence());
                wrong += comma + short_number(exit.wrong_confidence());
              }
              return fmt::format(
                  R"({{"exit":{},"gamma":{},"tpl":{},"exit_before":{},"gamma_before":{},"positions":{},)"
                  R"("matches":[{}],"acceptance_rates":[{}],"thresholds":[{}],"right_confidences":[{}],)"
                  R"("wrong_confidences":[{}]}})",
                  choice.exit, choice.gamma, json_number(choice.tpl), before.exit, before.gamma, positions_,
                  fmt::join(matches_, ","), rates, thresholds, right, wrong);
            }});
}

namespace {

/// Returns the object that DEL's three parts share; the first of them creates it.
std::shared_ptr<Del> shared_del(const speculation::StrategySpecification& mix,
                                const speculation::ModelShape& shape, Parts& parts) {
  for (const auto& learner : parts.learners)
    if (auto del = std::dynamic_pointer_cast<Del>(learner)) return del;
  return learn(parts, std::make_shared<Del>(shape, speculation::del_options(mix)));
}

Result<void> add_mask(const speculation::StrategySpecification& mix, const speculation::ModelShape& shape,
                      Parts& parts) {
  parts.mask = shared_del(mix, shape, parts);
  return {};
}

Result<void> add_length(const speculation::StrategySpecification& mix, const speculation::ModelShape& shape,
                        Parts& parts) {
  parts.length = shared_del(mix, shape, parts);
  return {};
}

Result<void> add_threshold(const speculation::StrategySpecification& mix,
                           const speculation::ModelShape& shape, Parts& parts) {
  parts.threshold = shared_del(mix, shape, parts);
  return {};
}

}  // namespace

StrategyMakers engine_of_del() {
  return {.parts = {{speculation::PartKind::mask, "del", add_mask},
                    {speculation::PartKind::length, "del", add_length},
                    {speculation::PartKind::stop, "del", add_threshold}}};
}

}  // namespace draftscope::engine

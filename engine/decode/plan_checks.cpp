// SPDX-License-Identifier: GPL-3.0-or-later
#include "decode/plan_checks.h"

#include <draftscope/engine/strategy.h>

#include <cstddef>
#include <cstdint>

namespace draftscope::engine {

namespace {

Result<void> check_proposals(std::span<const Proposal> proposals, std::int32_t vocab) {
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    const Proposal& proposal = proposals[i];
    if (proposal.parent < -1 || proposal.parent >= static_cast<std::int32_t>(i))
      return fail("round plan: guess {} extends {}, expected -1 to {}", i, proposal.parent, i - 1);
    if (proposal.token < 0 || proposal.token >= vocab)
      return fail("round plan: guess {} is token {}, expected 0 to {}", i, proposal.token, vocab - 1);
  }
  return {};
}

Result<void> check_mask(const RoundPlan& plan, std::int32_t n_layers) {
  if (plan.mask == nullptr) return {};
  if (plan.mask->n_layers() != n_layers)
    return fail("sublayer mask: found {} layers, expected {}", plan.mask->n_layers(), n_layers);
  if (plan.verification == Verification::above_exit && !plan.mask->is_early_exit())
    return fail(
        "verification above the exit: found a mask that skips sublayers below layer {}, expected an early "
        "exit",
        plan.mask->exit_layer());
  return {};
}

}  // namespace

Result<void> check_request(const Backend& backend, const DecodeRequest& request, const Chooser& chooser) {
  const std::int32_t vocab = backend.shape().vocab;
  if (request.prompt.empty()) return fail("prompt: found 0 tokens, expected at least 1");
  if (request.max_new_tokens < 1)
    return fail("max-tokens: found {}, expected at least 1", request.max_new_tokens);
  for (std::size_t i = 0; i < request.prompt.size(); ++i)
    if (request.prompt[i] < 0 || request.prompt[i] >= vocab)
      return fail("prompt: token {} is {}, expected 0 to {}", i, request.prompt[i], vocab - 1);
  if (request.prompt.size() > static_cast<std::size_t>(backend.cache_rows()))
    return fail("prompt: found {} tokens, expected at most {} (the context{})", request.prompt.size(),
                backend.cache_rows(),
                backend.cache_rows() < backend.shape().max_positions
                    ? fmt::format("; --context takes up to {}", backend.shape().max_positions)
                    : "");
  if (request.cached_tokens < 0 || static_cast<std::size_t>(request.cached_tokens) >= request.prompt.size())
    return fail("cached tokens: found {}, expected 0 to {} (below the prompt)", request.cached_tokens,
                request.prompt.size() - 1);
  if (request.sampling.coupled && !chooser.counter_key())
    return fail(
        "sampling: found a chooser without counter-based random numbers, expected one for coupled choices");
  for (const TokenBias& of : request.sampling.logit_bias)
    if (of.token >= vocab) return fail("logit-bias: found token {}, expected 0 to {}", of.token, vocab - 1);
  return check(request.sampling);
}

Result<void> check_plan(const RoundPlan& plan, const speculation::ModelShape& shape,
                        bool has_next_token_layer) {
  if (has_next_token_layer && (plan.states.size() != 1 || plan.states.front() != shape.n_layers ||
                               plan.keeps_states || plan.ahead > 1))
    return fail("round plan: found {} wanted states, expected those after layer {} for its next-token layer",
                plan.states.size(), shape.n_layers);
  const std::size_t sources = (plan.mask != nullptr ? 1U : 0U) + (plan.draft_model != nullptr ? 1U : 0U) +
                              (plan.stages != nullptr ? 1U : 0U) + (plan.proposals.empty() ? 0U : 1U);
  if (sources > 1)
    return fail("round plan: found {} sources of a draft, expected a mask, a draft model, stages or guesses",
                sources);
  DRAFTSCOPE_TRY(check_proposals(plan.proposals, shape.vocab));
  if (plan.draft_model != nullptr && plan.draft_model->shared_tokens == nullptr &&
      plan.draft_model->backend->shape().vocab != shape.vocab)
    return fail("draft model: found a vocabulary of {}, expected the target's {}",
                plan.draft_model->backend->shape().vocab, shape.vocab);
  if (plan.verification == Verification::above_exit && plan.weights)
    return fail("verification above the exit: found weights {}, expected a draft on the target's own",
                speculation::weight_format_name(*plan.weights));
  if (plan.verification == Verification::above_exit && (!plan.branches.empty() || !plan.extra_rows.empty()))
    return fail("verification above the exit: found a tree or extra rows, expected a chain alone");
  if (!plan.states.empty() && !plan.extra_rows.empty())
    return fail("round plan: found states and extra rows, expected one of them at most");
  if (plan.stages != nullptr && plan.verification == Verification::above_exit)
    return fail("round plan: found stages, expected verification by all layers beside them");
  if (plan.acceptance == Acceptance::by_block && (!plan.branches.empty() || plan.stages != nullptr))
    return fail("round plan: found a tree, expected a chain beside acceptance by block");
  if (plan.top < 0 || plan.top > shape.vocab)
    return fail("round plan: found {} best tokens a row, expected 0 to {}", plan.top, shape.vocab);
  if (plan.top > 0 && (plan.mask != nullptr || plan.draft_model != nullptr || plan.stages != nullptr))
    return fail("round plan: found best tokens and a draft by a model, expected guesses or nothing");
  return check_mask(plan, shape.n_layers);
}

}  // namespace draftscope::engine

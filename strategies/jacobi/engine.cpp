// SPDX-License-Identifier: GPL-3.0-or-later
// Jacobi decoding: a block of guesses, all verified together, whose predictions are the next round's guesses.
// Source: Santilli et al., "Accelerating Transformer Inference for Translation via Parallel Decoding" (ACL
// 2023), algorithm 2 (block by block, as many iterations as a block needs). The paper is greedy; with a
// temperature guesses are point masses here and are still made of the target's best tokens.
//
// A row of the verification is either a guess, which is kept as soon as the target agrees, or an extra row,
// which is never kept. The published rule trusts one token per iteration until an iteration changes nothing.
// Its guesses are extra rows, and a block that has settled is then verified as guesses.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <vector>

#include "strategies/engine.h"

namespace draftscope::engine {

namespace {

constexpr std::int32_t largest_block = 255;

/// Content of a block before any prediction: the padding token. Decoder-only models lack one, and their
/// public code uses the end-of-text token.
std::int32_t padding(const RequestView& request) {
  return request.eos_tokens.empty() ? 0 : request.eos_tokens.front();
}

/// Notes the guesses that a round verified after the root, and the target's best tokens after the root and
/// after each of them, from which other blocks are predicted.
void log_guesses(DecisionLog* log, std::span<const std::int32_t> guesses,
                 std::span<const std::int32_t> best) {
  if (log == nullptr || guesses.empty()) return;
  log->add({.kind = "guesses", .detail = [&] {
              return fmt::format(R"({{"guesses":[{}],"best":[{}]}})", fmt::join(guesses, ","),
                                 fmt::join(best, ","));
            }});
}

/// Keeps the longest prefix of guesses that the target predicts; the block moves with the text.
class PrefixJacobi final : public Strategy {
 public:
  explicit PrefixJacobi(std::int32_t block) : proposals_(static_cast<std::size_t>(block)) {
    for (std::int32_t i = 0; i < block; ++i) proposals_[static_cast<std::size_t>(i)].parent = i - 1;
    verified_.reserve(proposals_.size());
    best_.reserve(proposals_.size() + 1);
  }

  void begin_request(const RequestView& request) override {
    padding_ = padding(request);
    for (Proposal& guess : proposals_) guess.token = padding_;
  }

  RoundPlan plan(const RoundView& /*round*/) override {
    return {.origin = "jacobi", .proposals = proposals_};
  }

  void observe(const RoundOutcome& outcome, DecisionLog* log) override {
    verified_.clear();
    for (const DraftNode& node : outcome.nodes) verified_.push_back(node.token);
    best_.clear();
    for (const TopToken& top : outcome.verified) best_.push_back(top.token);
    log_guesses(log, verified_, best_);
    // The prediction after the last accepted guess is the next root; later ones are the guesses.
    auto next = static_cast<std::size_t>(outcome.accepted()) + 1;
    for (Proposal& guess : proposals_) {
      guess.token = next < outcome.verified.size() ? outcome.verified[next].token : padding_;
      ++next;
    }
  }

 private:
  std::int32_t padding_ = 0;
  std::vector<Proposal> proposals_;
  std::vector<std::int32_t> verified_;  // guesses of the last round
  std::vector<std::int32_t> best_;      // the target's best tokens after its root and guesses
};

/// Keeps one token per round until the block has settled; the block stays where it began.
class PublishedJacobi final : public Strategy {
 public:
  explicit PublishedJacobi(std::int32_t block) : size_(static_cast<std::size_t>(block)) {
    std::iota(all_.begin(), all_.end(), 0);
    block_.reserve(size_);
    proposals_.reserve(size_);
    extra_rows_.reserve(size_);
    best_.reserve(size_);
  }

  void begin_request(const RequestView& request) override {
    padding_ = padding(request);
    start_block();
  }

  RoundPlan plan(const RoundView& /*round*/) override {
    extra_rows_.clear();
    proposals_.clear();
    if (settled_) {
      for (const std::int32_t token : block_)
        proposals_.push_back({token, static_cast<std::int32_t>(proposals_.size()) - 1});
    } else {
      // The prediction after the block's last guess lies beyond the block.
      for (std::size_t i = 0; i + 1 < block_.size(); ++i)
        extra_rows_.push_back({block_[i], static_cast<std::int32_t>(i) + 1, std::span(all_).first(i)});
    }
    return {.origin = "jacobi", .proposals = proposals_, .extra_rows = extra_rows_};
  }

  void observe(const RoundOutcome& outcome, DecisionLog* log) override {
    if (settled_ || outcome.emitted.empty()) return start_block();
    best_.assign(1, outcome.verified.front().token);
    for (const TopToken& top : outcome.extra_rows) best_.push_back(top.token);
    log_guesses(log, std::span(block_).first(outcome.extra_rows.size()), best_);
    bool changed = outcome.emitted.front() != block_.front();
    block_.erase(block_.begin());
    changed = changed || outcome.extra_rows.size() < block_.size();
    for (std::size_t i = 0; i < std::min(block_.size(), outcome.extra_rows.size()); ++i) {
      changed = changed || block_[i] != outcome.extra_rows[i].token;
      block_[i] = outcome.extra_rows[i].token;
    }
    settled_ = !changed;
    if (block_.empty()) start_block();
  }

 private:
  void start_block() {
    block_.assign(size_, padding_);
    settled_ = false;
  }

  std::size_t size_;
  std::int32_t padding_ = 0;
  bool settled_ = false;
  std::vector<std::int32_t> block_;  // guesses after the root, within the block
  std::array<std::int32_t, largest_block> all_{};
  std::vector<Proposal> proposals_;
  std::vector<ExtraRow> extra_rows_;
  std::vector<std::int32_t> best_;  // the target's best tokens after the root and the extra rows
};

Result<std::unique_ptr<Strategy>> make_jacobi(const speculation::StrategySpecification& specification,
                                              const speculation::ModelShape& /*shape*/,
                                              const StrategyResources& /*resources*/) {
  const std::int32_t block = specification.integer("block");
  if (specification.text("rule") == "published") return std::make_unique<PublishedJacobi>(block);
  return std::make_unique<PrefixJacobi>(block);
}

}  // namespace

StrategyMakers engine_of_jacobi() {
  return {.strategies = {{.name = "jacobi", .make = make_jacobi}}};
}

}  // namespace draftscope::engine

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// KnapSpec's choice of sublayers (Cha et al. 2026, arXiv 2602.20217, and the authors' public code): a
// knapsack whose weights are the measured times of attention and MLP sublayers at the present context, and
// whose value is how alike the states of the last tokens stay. For each weight saved the states most like the
// target's are kept, sublayer by sublayer, as CLaSp does for each number of layers; of all that is left at
// the end, the set that yields the most tokens per time drafts (page.md).

#include <cstdint>
#include <span>
#include <vector>

#include "strategies/engine_parts.h"

namespace draftscope::engine {

/// Time of one sublayer on one row.
struct SublayerTimes {
  double attention_ns = 0.0;
  double mlp_ns = 0.0;
};

/// The last tokens of a text, whose K/V the cache holds.
struct LastTokens {
  std::span<const std::int32_t> tokens;
  std::int32_t position = 0;  ///< position of the first of them
};

class KnapsackSearch {
 public:
  struct Options {
    std::int32_t max_draft = 18;  ///< longest draft that the tokens per time are computed for
    double min_similarity = 0.5;  ///< mean cosine below which a set is given up
  };
  explicit KnapsackSearch(const Options& options) : options_(options) {}

  /// Searches. Weights saved are whole numbers: the cheaper kind of sublayer weighs 1, the other as many
  /// times that as its time is, rounded, 5 at most. Half of what all sublayers weigh can be saved. The first
  /// and the last layer stay.
  [[nodiscard]] Result<void> run(const LastTokens& last, const SublayerTimes& times, Probe& probe);

  /// Whether a set was found that leaves out anything; of it, what follows.
  [[nodiscard]] bool has_found() const { return has_found_; }
  [[nodiscard]] const speculation::SublayerMask& mask() const { return mask_; }
  /// Share of the last tokens after which the draft's best token is the target's.
  [[nodiscard]] double agreement() const { return agreement_; }
  /// Expected tokens of a round for the time of its sublayers, at the best length.
  [[nodiscard]] double tokens_per_ns() const { return tokens_per_ns_; }

 private:
  struct Weights {
    std::int32_t attention = 1;
    std::int32_t mlp = 1;
  };
  /// The origin of a sublayer's states, for one weight saved.
  struct Source {
    double similarity = -2.0;  // below every cosine = nothing reaches this weight
    std::int32_t branch = 0;
    bool skips = false;
  };

  [[nodiscard]] std::int32_t weight_of(std::int32_t sublayer) const {
    return sublayer % 2 == 0 ? weights_.attention : weights_.mlp;
  }
  [[nodiscard]] Result<void> begin(const LastTokens& last, Probe& probe);
  [[nodiscard]] Result<void> apply(std::int32_t sublayer, const LastTokens& last, Probe& probe);
  [[nodiscard]] Result<void> choose(std::int32_t sublayer, bool may_skip, StateBank& bank);
  [[nodiscard]] Result<void> compare(bool may_skip, StateBank& bank);
  /// Mean cosine of the tokens of the branch to the target's, among cosines_ from `first` on.
  [[nodiscard]] double similarity(std::size_t first, std::size_t branch) const;
  [[nodiscard]] Result<void> read_heads(Probe& probe);
  void choose_set(const SublayerTimes& times, std::int32_t n_layers);
  void follow_back(std::int32_t saved, std::int32_t n_layers);

  Options options_;
  Weights weights_;
  std::int32_t budget_ = 0;
  std::size_t tokens_ = 0;
  std::vector<std::int32_t> saved_;  // weight saved by each branch, ascending; the first saves none
  // The bank's first numbers of [branches][tokens] states: before the sublayer at hand, after it, and those
  // that are chosen.
  std::int32_t states_ = 0;
  std::int32_t applied_ = 0;
  std::int32_t next_ = 0;
  std::vector<StatePair> pairs_;
  std::vector<StateMove> moves_;
  std::vector<double> cosines_;
  std::vector<Source> sources_;      // by weight saved
  std::vector<std::uint8_t> skips_;  // [sublayer][weight saved]: whether the sublayer is left out
  std::vector<std::int32_t> best_;   // [branches][tokens]: best tokens of the last states
  std::vector<Row> rows_;
  Outputs outputs_;
  bool has_found_ = false;
  speculation::SublayerMask mask_;
  double agreement_ = 0.0;
  double tokens_per_ns_ = 0.0;
};

class KnapspecMask final : public MaskChoice, public Learner {
 public:
  struct Options {
    std::int32_t interval = 64;  ///< rounds from one search to the next
    std::int32_t window = 8;     ///< last tokens that sets are compared on
    KnapsackSearch::Options search;
  };
  explicit KnapspecMask(const Options& options) : options_(options), search_(options.search) {}

  const speculation::SublayerMask* mask(const RoundView& /*round*/) override {
    return search_.has_found() ? &search_.mask() : nullptr;
  }
  std::string_view origin() const override { return "knapspec"; }
  void begin_request(const RequestView& /*request*/) override { due_ = true; }
  void observe(const RoundView& /*round*/, const RoundOutcome& /*outcome*/, DecisionLog* /*log*/) override {
    due_ = ++since_ >= options_.interval;
  }
  bool wants_to_optimise() const override { return due_; }
  Result<void> optimise(const RoundView& view, Probe& probe, DecisionLog* log) override;

 private:
  [[nodiscard]] Result<SublayerTimes> measure(std::int32_t token, Probe& probe);

  Options options_;
  KnapsackSearch search_;
  std::int32_t since_ = 0;
  bool due_ = false;
  std::vector<Row> rows_;
  Outputs outputs_;
};

}  // namespace draftscope::engine

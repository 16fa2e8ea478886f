// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// KnapSpec's choice of sublayers (Cha et al. 2026, arXiv 2602.20217, and the authors' public code). It is a
// knapsack: weights are the measured times of attention and MLP sublayers at the present context, and the
// value is the similarity of the last tokens' states. For each saved weight it keeps the states most similar
// to the target's, sublayer by sublayer, as CLaSp does for each number of layers. Among the sets left at the
// end, the one with the most tokens per time drafts (page.md).

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

/// The last tokens of a text, whose K/V are in the cache.
struct LastTokens {
  std::span<const std::int32_t> tokens;
  std::int32_t position = 0;  ///< Position of the first of them.
};

class KnapsackSearch {
 public:
  struct Options {
    std::int32_t max_draft = 18;  ///< Length below which drafts are considered for the tokens per time.
    double min_similarity = 0.5;  ///< Mean cosine below which a set is abandoned.
  };
  explicit KnapsackSearch(const Options& options) : options_(options) {}

  /// Searches for a set. Saved weights are whole numbers: the cheaper kind of sublayer weighs 1, and the
  /// other the rounded ratio of their times, at most 5. At most half of the total weight can be saved. The
  /// first and the last layer always run.
  [[nodiscard]] Result<void> run(const LastTokens& last, const SublayerTimes& times, Probe& probe);

  /// Whether a set was found that skips anything; the getters below describe it.
  [[nodiscard]] bool has_found() const { return has_found_; }
  [[nodiscard]] const speculation::SublayerMask& mask() const { return mask_; }
  /// Share of the last tokens after which the draft's best token is the target's.
  [[nodiscard]] double agreement() const { return agreement_; }
  /// Expected tokens of a round per time of its sublayers, at the best length.
  [[nodiscard]] double tokens_per_ns() const { return tokens_per_ns_; }

 private:
  struct Weights {
    std::int32_t attention = 1;
    std::int32_t mlp = 1;
  };
  /// The origin of a sublayer's states, for one weight saved.
  struct Source {
    double similarity = -2.0;  // below every cosine = no set saves this weight
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
  /// Mean cosine of the branch's tokens to the target's, among cosines_ from `first` on.
  [[nodiscard]] double similarity(std::size_t first, std::size_t branch) const;
  [[nodiscard]] Result<void> read_heads(Probe& probe);
  void choose_set(const SublayerTimes& times, std::int32_t n_layers);
  void follow_back(std::int32_t saved, std::int32_t n_layers);

  Options options_;
  Weights weights_;
  std::int32_t budget_ = 0;
  std::size_t tokens_ = 0;
  std::vector<std::int32_t> saved_;  // weight saved by each branch, ascending; the first saves none
  // First bank numbers of [branches][tokens] states: before the current sublayer, after it, and the chosen
  // ones.
  std::int32_t states_ = 0;
  std::int32_t applied_ = 0;
  std::int32_t next_ = 0;
  std::vector<StatePair> pairs_;
  std::vector<StateMove> moves_;
  std::vector<double> cosines_;
  std::vector<Source> sources_;      // by weight saved
  std::vector<std::uint8_t> skips_;  // [sublayer][weight saved]: whether the sublayer is skipped
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
    std::int32_t interval = 64;  ///< Rounds from one search to the next.
    std::int32_t window = 8;     ///< Last tokens on which sets are compared.
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

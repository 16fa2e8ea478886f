// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The one compute primitive. Prefill, a draft step, verification of a chain or a tree, CLaSp's dynamic
// programming over hidden states, Jacobi and lookahead branches are all forward() with different rows.
//
// The KV cache is a plain array of rows a layer; the backend keeps no length. A caller says which rows count
// as committed and where new rows go, so drafting, verifying and rolling back are integers on the caller's
// side: no copy.
//
// Batch-invariance: the outputs of a row are bit-for-bit a function of its input, its position, the mask, the
// layer range and the K/V it may attend to — never of the other rows, of how many there are (up to
// max_invariant_rows()), or of the number of threads. K/V rows of a path count in path order, so a tree
// branch equals the same tokens as a chain.

#include <draftscope/base/result.h>
#include <draftscope/engine/sampling.h>
#include <draftscope/engine/state_bank.h>
#include <draftscope/profiler/span_recorder.h>
#include <draftscope/speculation/model_shape.h>
#include <draftscope/speculation/sublayer_mask.h>
#include <draftscope/speculation/weight_format.h>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace draftscope::engine {

/// One new row. Input: the embedding of `token`, or, when token is -1, row `hidden` of Batch::hidden.
struct Row {
  std::int32_t token = -1;
  std::int32_t hidden = -1;
  std::int32_t position = 0;  ///< for the rotary embedding; explicit, never derived from a cache length
};

/// Layers [begin, end). An empty range with head rows applies the final norm and LM head to hidden-state
/// inputs.
struct LayerRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
};

/// Outputs to compute beside writing K/V. Rows are indices into Batch::rows.
struct Wanted {
  /// Layer boundaries b whose hidden state is wanted for every row: the residual stream after layers < b,
  /// before any final norm (0 = embedding). Ascending, within [range.begin, range.end].
  std::span<const std::int32_t> hidden_after;
  /// 0 or more: these states stay in the backend's bank instead of Outputs::hidden, row r's at boundary i of
  /// the list as number keep_at + i · rows + r. A pass that gives nothing back may return before it is done.
  std::int32_t keep_at = -1;
  /// The LM head (after the final norm, on the state at range.end) runs for rows [head_from, rows.size()).
  std::int32_t head_from = 0;
  bool head = false;
  bool logits = false;     ///< store the logits of the head rows
  std::int32_t top_k = 0;  ///< highest logits a head row, ties to the lower token id; 1 = argmax
};

struct Batch {
  std::span<const Row> rows;
  std::span<const float> hidden;  ///< [n][d_model] inputs for rows with token = -1
  bool reads_kept = false;        ///< Row::hidden is a number of the backend's bank instead
  std::int32_t committed = 0;     ///< every row attends to cache rows [0, committed)
  std::int32_t first_row = 0;     ///< row i writes its K/V to cache row first_row + i; ≥ committed
  /// Uncommitted cache rows that each row attends to beside itself: bit j of row i's words = cache row
  /// committed + j, with ceil((first_row - committed + rows.size()) / 64) words a row. Empty = a chain: all
  /// rows below first_row + i.
  std::span<const std::uint64_t> ancestors;
  const speculation::SublayerMask* mask = nullptr;  ///< null = nothing skipped
  LayerRange layers;
  Wanted wanted;
  /// Weights to compute on, which prepare_draft_weights() made: of a step of a draft, whose K/V a
  /// verification by all layers will write over. None = the model's own.
  std::optional<speculation::WeightFormat> weights;
};

/// A token of the vocabulary, whatever the logits are.
struct TopToken {
  std::int32_t token = -1;
  float logit = 0.0F;
  float probability = 0.0F;  ///< softmax over the whole vocabulary at temperature 1; see has_distribution()
};

/// Whether the row's logits make a distribution: no NaN and no +∞ is among them, and not all are −∞. Its
/// tokens' probabilities are NaN otherwise: the softmax's sum tells it without a pass of its own.
[[nodiscard]] inline bool has_distribution(const TopToken& best) {
  return !std::isnan(best.probability);
}

/// Filled by forward(); keep one and reuse it, so that decoding allocates nothing.
struct Outputs {
  std::vector<float> hidden;  ///< [hidden_after.size()][rows][d_model]
  std::vector<float> logits;  ///< [head rows][vocab] if wanted
  std::vector<TopToken> top;  ///< [head rows][top_k]
};

/// K/V of one cache row moves to another, in all layers: how a verified tree path is made contiguous.
struct CacheMove {
  std::int32_t from = 0;
  std::int32_t to = 0;
};

/// A round that a backend runs by itself, without the host in between: drafts a chain under a mask, then
/// verifies root and draft tokens with all layers. K/V rows below root_position are
/// the committed context.
struct ChainRound {
  std::int32_t root = -1;
  std::int32_t root_position = 0;  ///< the root's position, and its cache row
  std::int32_t draft_length = 0;   ///< γ, 0 … max_invariant_rows() − 1; γ + 1 rows must fit the cache
  const speculation::SublayerMask* mask = nullptr;   ///< the draft's
  LayerRange layers;                                 ///< the draft's: [0, exit)
  std::optional<speculation::WeightFormat> weights;  ///< the draft's, as Batch::weights
  /// The verification keeps the draft's K/V and states: layers below the exit run for the last draft token
  /// only. Takes a draft of one step at least by every sublayer below the exit, on the target's own weights.
  bool above_exit = false;
  /// False: the draft is all there is. Takes all layers without a mask, on the target's own weights: then
  /// draft tokens are what greedy decoding appends.
  bool verifies = true;
  /// Layer boundaries whose hidden states of root and draft tokens are wanted (Wanted::hidden_after).
  std::span<const std::int32_t> states;
  bool keeps_states = false;  ///< they stay in the backend's bank (StateBank::of_round()), which it has
  double threshold = -1.0;    ///< a draft token of lower confidence is the last; negative = none is
  std::span<const std::int32_t> stops;  ///< a draft token among these is the last
  /// Null or greedy = best tokens. Otherwise draft tokens are drawn and judged on the device by the rule of
  /// sampling.h, with the numbers that SeededChooser draws for `key`; coupled ones are chosen as
  /// coupled_token() chooses, and accepted as long as the target's choice is the same.
  const SamplingOptions* sampling = nullptr;
  CounterKey key;
};

struct ChainRoundOutputs {
  /// Draft tokens, at least one if any were asked for, unless the first step's logits make no distribution:
  /// such a step ends the draft without a token. `probability` is the draft's best token's, whatever was
  /// drawn.
  std::vector<TopToken> drafted;
  std::vector<double> drawn_probabilities;  ///< each draft token's, in what it was drawn from; 1 if greedy
  std::vector<std::int64_t> drafted_ns;     ///< duration of each draft token by the device's own clock
  /// The target's best token after the root and after each draft token, whatever was drawn.
  std::vector<TopToken> verified;
  std::vector<float> hidden;      ///< [states][1 + draft tokens][d_model]; empty if they are kept
  std::int32_t accepted = 0;      ///< sampled rounds only
  std::int32_t bonus_token = -1;  ///< sampled rounds only: the token after the accepted ones
  std::int64_t verify_ns = 0;     ///< the device's own measure of the verification
};

struct BackendDescription {
  std::string device;     ///< "cpu", "cuda"
  std::string processor;  ///< model name
  std::string kernels;    ///< "avx512-bf16", "amx-bf16", "avx2", "portable"
  std::int32_t threads = 0;
  std::size_t kv_bytes = 0;
  std::size_t workspace_bytes = 0;
  std::size_t weight_bytes = 0;        ///< bytes of the weights, mapped or on the device
  std::size_t draft_weight_bytes = 0;  ///< resident beside them for drafts
  std::string weights;                 ///< formats of the matrices, most weights first: "bf16", "q4_1, q8_0"
  std::vector<speculation::WeightFormat>
      draft_formats;  ///< formats that prepare_draft_weights() makes beside this model's
};

/// Rows of the widest verification: a window of lookahead decoding at its public code's defaults (60 columns,
/// n-grams of 8, 60 guesses) has 840.
inline constexpr std::int32_t max_verification_rows = 1024;

/// Thread-safety: one caller at a time.
class Backend {
 public:
  virtual ~Backend() = default;
  /// Receiver of the spans of layers and operations from the next forward on; null = none. Not owned.
  virtual void set_recorder(profiler::SpanRecorder* recorder) = 0;
  [[nodiscard]] virtual const speculation::ModelShape& shape() const = 0;
  [[nodiscard]] virtual BackendDescription describe() const = 0;
  [[nodiscard]] virtual std::int32_t cache_rows() const = 0;  ///< capacity
  [[nodiscard]] virtual std::int32_t max_rows() const = 0;    ///< maximum rows of one batch
  [[nodiscard]] virtual std::int32_t max_invariant_rows()
      const = 0;  ///< up to here a row's bits do not depend on the width
  /// Rows of one verification, which takes as many batches of max_invariant_rows() as it needs: rows attend
  /// to earlier ones alone, whose K/V is in the cache by then.
  [[nodiscard]] virtual std::int32_t max_verified_rows() const { return max_invariant_rows(); }
  /// Makes a copy of the matrices in a format, for Batch::weights; does nothing where there is one already.
  /// Errors: a format that this backend does not make, memory is short.
  [[nodiscard]] virtual Result<void> prepare_draft_weights(speculation::WeightFormat format) {
    return fail("{} backend: found weights {} for drafts, expected the model's own", describe().device,
                speculation::weight_format_name(format));
  }
  /// Where passes can leave states; null = they are given back to the caller. The backend's.
  [[nodiscard]] virtual StateBank* states() { return nullptr; }
  /// Checks the batch (indices, capacity, ranges, weights) and fails without touching the cache if it is
  /// wrong.
  [[nodiscard]] virtual Result<void> forward(const Batch& batch, Outputs& outputs) = 0;
  /// Whether chain_round() is there. Otherwise the caller drafts and verifies by forward().
  [[nodiscard]] virtual bool has_chain_rounds() const { return false; }
  /// Whether rounds without a verification are there that decode several tokens in one go, and nothing that
  /// is recorded needs them apart.
  [[nodiscard]] virtual bool runs_ahead() const { return false; }
  /// Drafts and verifies a round, with the same bits as the forward() calls that it stands for.
  [[nodiscard]] virtual Result<void> chain_round(const ChainRound& /*round*/,
                                                 ChainRoundOutputs& /*outputs*/) {
    return fail("{} backend: has no rounds of its own, expected forward() instead", describe().device);
  }
  /// Fails if weights that passes read were lost meanwhile, for weights are mapped from files that others may
  /// shorten: what was computed since is void. The cost is one atomic load while all is well.
  [[nodiscard]] virtual Result<void> check_weights() const { return {}; }
  /// Does what check_weights() does, and fails also on weights whose files were changed since they were
  /// opened: one system call per file.
  [[nodiscard]] virtual Result<void> check_weights_unchanged() const { return {}; }
  /// Moves are done in order; rows are in [0, cache_rows()).
  [[nodiscard]] virtual Result<void> move_cache_rows(std::span<const CacheMove> moves) = 0;
  /// "NAME holds inf" of the first tensor of a layer that is not finite; layer −1 is the embedding, n_layers
  /// the final norm and the head. Empty if all is finite, none if the backend can't tell. Reads all of the
  /// layer's weights: for an error's line.
  [[nodiscard]] virtual std::optional<std::string> non_finite_weight(std::int32_t /*layer*/) const {
    return std::nullopt;
  }
};

}  // namespace draftscope::engine

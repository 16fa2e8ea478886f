// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The one compute primitive. Prefill, a draft step, verification of a chain or a tree, CLaSp's dynamic
// programming over hidden states, Jacobi and lookahead branches are all forward() with different rows.
//
// The KV cache is a plain array of rows per layer; the backend stores no length. The caller says which rows
// are committed and where new rows go. Drafting, verifying and rolling back are therefore integers on the
// caller's side and copy nothing.
//
// Batch invariance: the outputs of a row are bit for bit a function of its input, its position, the mask, the
// layer range and the K/V it may attend to. They depend neither on the other rows, nor on their number (up to
// max_invariant_rows()), nor on the number of threads. K/V rows of a path count in path order, so a tree
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

/// One new row. Its input is the embedding of `token` or, when token is -1, row `hidden` of Batch::hidden.
struct Row {
  std::int32_t token = -1;
  std::int32_t hidden = -1;
  /// Position for the rotary embedding; explicit, never derived from a cache length.
  std::int32_t position = 0;
};

/// Layers [begin, end). An empty range with head rows applies the final norm and LM head to hidden-state
/// inputs.
struct LayerRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
};

/// Outputs to compute besides writing K/V. Rows are indices into Batch::rows.
struct Wanted {
  /// Layer boundaries b whose hidden state is wanted for every row: the residual stream after layers < b,
  /// before any final norm (0 = embedding). Ascending, within [range.begin, range.end].
  std::span<const std::int32_t> hidden_after;
  /// If 0 or more, these states stay in the backend's bank instead of Outputs::hidden. The state of row r at
  /// boundary i of the list has number keep_at + i · rows + r. A pass that returns no outputs may return
  /// before it has finished.
  std::int32_t keep_at = -1;
  /// The LM head (after the final norm, on the state at range.end) runs for rows [head_from, rows.size()).
  std::int32_t head_from = 0;
  bool head = false;
  bool logits = false;     ///< Whether to store the logits of the head rows.
  std::int32_t top_k = 0;  ///< Number of highest logits per head row, ties to the lower token id; 1 = argmax.
};

struct Batch {
  std::span<const Row> rows;
  std::span<const float> hidden;  ///< [n][d_model], inputs of rows with token = -1
  bool reads_kept = false;        ///< Whether Row::hidden is a number in the backend's bank instead.
  std::int32_t committed = 0;     ///< Every row attends to cache rows [0, committed).
  std::int32_t first_row = 0;     ///< Row i writes its K/V to cache row first_row + i; at least `committed`.
  /// Uncommitted cache rows that each row attends to besides itself. Bit j of row i's words stands for cache
  /// row committed + j; each row has ceil((first_row - committed + rows.size()) / 64) words. Empty = a chain:
  /// all rows below first_row + i.
  std::span<const std::uint64_t> ancestors;
  const speculation::SublayerMask* mask = nullptr;  ///< null = nothing skipped
  LayerRange layers;
  Wanted wanted;
  /// Format of the weights to compute on, made by prepare_draft_weights(). It is for draft steps, whose K/V a
  /// verification by all layers will overwrite. None = the model's own weights.
  std::optional<speculation::WeightFormat> weights;
};

/// A token of the vocabulary; it is valid for any logits.
struct TopToken {
  std::int32_t token = -1;
  float logit = 0.0F;
  float probability = 0.0F;  ///< Softmax over the whole vocabulary at temperature 1; see has_distribution().
};

/// Whether the row's logits form a distribution: they contain neither NaN nor +∞, and not all are −∞.
/// Otherwise the probabilities of its tokens are NaN. The softmax's sum tells this without an extra pass.
[[nodiscard]] inline bool has_distribution(const TopToken& best) {
  return !std::isnan(best.probability);
}

/// Results filled by forward(). Reuse one object, so that decoding allocates nothing.
struct Outputs {
  std::vector<float> hidden;  ///< [hidden_after.size()][rows][d_model]
  std::vector<float> logits;  ///< [head rows][vocab] if wanted
  std::vector<TopToken> top;  ///< [head rows][top_k]
};

/// Moves the K/V of one cache row to another in all layers; this makes a verified tree path contiguous.
struct CacheMove {
  std::int32_t from = 0;
  std::int32_t to = 0;
};

/// A round that a backend runs by itself, without the host in between. It drafts a chain under a mask, then
/// verifies root and draft tokens with all layers. K/V rows below root_position are the committed context.
struct ChainRound {
  std::int32_t root = -1;
  std::int32_t root_position = 0;  ///< Position of the root, and its cache row.
  std::int32_t draft_length = 0;   ///< γ, 0 … max_invariant_rows() − 1; γ + 1 rows must fit the cache
  const speculation::SublayerMask* mask = nullptr;   ///< Mask of the draft.
  LayerRange layers;                                 ///< Layers of the draft: [0, exit).
  std::optional<speculation::WeightFormat> weights;  ///< Weights of the draft, as in Batch::weights.
  /// Whether the verification reuses the draft's K/V and states: layers below the exit then run for the last
  /// draft token only. Requires a draft of at least one step by every sublayer below the exit, on the
  /// target's own weights.
  bool above_exit = false;
  /// False = the round only drafts. This requires all layers without a mask, on the target's own weights:
  /// draft tokens are then what greedy decoding appends.
  bool verifies = true;
  /// Layer boundaries whose hidden states of root and draft tokens are wanted (Wanted::hidden_after).
  std::span<const std::int32_t> states;
  /// Whether these states stay in the backend's bank (StateBank::of_round()); the backend must have one.
  bool keeps_states = false;
  double threshold = -1.0;  ///< A draft token of lower confidence ends the draft; negative = none does.
  std::span<const std::int32_t> stops;  ///< A draft token among these ends the draft.
  /// Null or greedy = best tokens. Otherwise draft tokens are drawn and judged on the device by the rule of
  /// sampling.h, with the numbers that SeededChooser draws for `key`. Coupled ones are chosen as
  /// coupled_token() chooses, and accepted as long as the target chooses the same.
  const SamplingOptions* sampling = nullptr;
  CounterKey key;
};

struct ChainRoundOutputs {
  /// Draft tokens, at least one if any were asked for, unless the first step's logits form no distribution:
  /// such a step ends the draft without a token. `probability` is that of the draft's best token, even if
  /// another one was drawn.
  std::vector<TopToken> drafted;
  std::vector<double> drawn_probabilities;  ///< Probability of each draft token in the distribution it was
                                            ///< drawn from; 1 if greedy.
  std::vector<std::int64_t> drafted_ns;     ///< Duration of each draft token by the device's own clock.
  /// The target's best token after the root and after each draft token, even if another one was drawn.
  std::vector<TopToken> verified;
  std::vector<float> hidden;      ///< [states][1 + draft tokens][d_model]; empty if they stay in the bank
  std::int32_t accepted = 0;      ///< sampled rounds only
  std::int32_t bonus_token = -1;  ///< Token after the accepted ones; sampled rounds only.
  std::int64_t verify_ns = 0;     ///< Duration of the verification by the device's own clock.
};

struct BackendDescription {
  std::string device;     ///< "cpu", "cuda"
  std::string processor;  ///< model name
  std::string kernels;    ///< "avx512-bf16", "amx-bf16", "avx2", "portable"
  std::int32_t threads = 0;
  std::size_t kv_bytes = 0;
  std::size_t workspace_bytes = 0;
  std::size_t weight_bytes = 0;        ///< bytes of the weights, mapped or on the device
  std::size_t draft_weight_bytes = 0;  ///< bytes resident besides them for drafts
  std::string weights;                 ///< formats of the matrices, largest share first: "bf16", "q4_1, q8_0"
  std::vector<speculation::WeightFormat>
      draft_formats;  ///< Formats in which prepare_draft_weights() makes drafts read fewer bytes.
};

/// Rows of the widest verification. A window of lookahead decoding at the defaults of its public code (60
/// columns, n-grams of 8, 60 guesses) has 840.
inline constexpr std::int32_t max_verification_rows = 1024;

/// A device that computes a model. Thread-safety: one caller at a time.
class Backend {
 public:
  virtual ~Backend() = default;
  /// Sets the receiver of the spans of layers and operations from the next forward on; null = none. Not
  /// owned.
  virtual void set_recorder(profiler::SpanRecorder* recorder) = 0;
  [[nodiscard]] virtual const speculation::ModelShape& shape() const = 0;
  [[nodiscard]] virtual BackendDescription describe() const = 0;
  [[nodiscard]] virtual std::int32_t cache_rows() const = 0;  ///< capacity
  [[nodiscard]] virtual std::int32_t max_rows() const = 0;    ///< maximum rows of one batch
  [[nodiscard]] virtual std::int32_t max_invariant_rows()
      const = 0;  ///< Maximum rows of a batch for which a row's bits do not depend on the number of rows.
  /// Maximum rows of one verification, which takes as many batches of max_invariant_rows() as it needs. Rows
  /// attend only to earlier ones, whose K/V is already in the cache.
  [[nodiscard]] virtual std::int32_t max_verified_rows() const { return max_invariant_rows(); }
  /// Makes a copy of the matrices in a format, for Batch::weights; does nothing if there is one already.
  /// Errors: the backend does not make this format, or memory is short.
  [[nodiscard]] virtual Result<void> prepare_draft_weights(speculation::WeightFormat format) {
    return fail("{} backend: found weights {} for drafts, expected the model's own", describe().device,
                speculation::weight_format_name(format));
  }
  /// Bank in which passes can leave states, owned by the backend; null = states are returned to the caller.
  [[nodiscard]] virtual StateBank* states() { return nullptr; }
  /// Checks the batch (indices, capacity, ranges, weights) and fails without touching the cache if it is
  /// wrong.
  [[nodiscard]] virtual Result<void> forward(const Batch& batch, Outputs& outputs) = 0;
  /// Whether chain_round() is available. Otherwise the caller drafts and verifies by forward().
  [[nodiscard]] virtual bool has_chain_rounds() const { return false; }
  /// Whether the backend offers rounds without a verification that decode several tokens in one go, and
  /// nothing that is recorded needs the tokens separately.
  [[nodiscard]] virtual bool runs_ahead() const { return false; }
  /// Drafts and verifies a round, with the same bits as the forward() calls that it replaces.
  [[nodiscard]] virtual Result<void> chain_round(const ChainRound& /*round*/,
                                                 ChainRoundOutputs& /*outputs*/) {
    return fail("{} backend: has no rounds of its own, expected forward() instead", describe().device);
  }
  /// Fails if weights that passes read were lost in the meantime, since weights are mapped from files that
  /// others may shorten. Everything computed since is then void. Costs one atomic load as long as all is
  /// well.
  [[nodiscard]] virtual Result<void> check_weights() const { return {}; }
  /// Does what check_weights() does, and also fails if the files of the weights were changed since they were
  /// opened. Costs one system call per file.
  [[nodiscard]] virtual Result<void> check_weights_unchanged() const { return {}; }
  /// Performs the moves in order; rows are in [0, cache_rows()).
  [[nodiscard]] virtual Result<void> move_cache_rows(std::span<const CacheMove> moves) = 0;
  /// Describes the first tensor of a layer that is not finite, as "NAME holds inf". Layer −1 is the
  /// embedding, n_layers the final norm and the head. Empty if all is finite, none if the backend can't tell.
  /// Reads all weights of the layer, so it is meant for error messages.
  [[nodiscard]] virtual std::optional<std::string> non_finite_weight(std::int32_t /*layer*/) const {
    return std::nullopt;
  }
};

}  // namespace draftscope::engine

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// State in device memory that changes from one forward pass to the next. The host fills it before a pass;
// during a draft the device updates it.

#include <cstddef>
#include <cstdint>

#include "launch_shape.h"

namespace draftscope::engine::cuda {

inline constexpr int max_pass_rows = 2048;  ///< Maximum rows of a wide pass over a prompt.
inline constexpr int max_decode_rows =
    max_attention_rows;                        ///< Up to here a row's bits do not depend on the width.
inline constexpr int max_product_rows = 32;    ///< Maximum rows that a product multiplies in one turn.
inline constexpr int max_staged_rows = 16;     ///< Maximum rows of a product that normalises its rows itself.
inline constexpr int max_drafted_tokens = 63;  ///< Maximum tokens per chain.
inline constexpr int max_stop_tokens = 16;
inline constexpr int max_top = 256;  ///< Maximum k of top-k.

struct RowInput {
  std::int32_t token;  ///< -1 = row `hidden` of the uploaded states
  std::int32_t hidden;
  std::int32_t position;
};

/// The keys of a row in order: cache rows [begin, end), then extra[extra_begin … extra_end).
struct KeyRun {
  std::int32_t begin, end;
  std::int32_t extra_begin, extra_end;
};

/// One row of a pass.
struct PassRow {
  RowInput input;
  KeyRun keys;
};

/// Result of a draft step.
struct DraftedToken {
  std::int32_t token;
  float logit;
  float probability;         ///< Probability of the best token at temperature 1.
  double drawn_probability;  ///< Probability of the token in the distribution that it was drawn from.
  std::uint64_t end_ns;      ///< End of the token's step by the device's clock.
};

/// Sampling options of a round; only the sampling kernels read them.
struct SamplingState {
  float inverse_temperature;
  std::int32_t top_k;    ///< 0 = off
  double top_p;          ///< 1 = off
  double temperature;    ///< Used by coupled choices, which are made in double precision.
  std::int32_t coupled;  ///< Target and draft choose with the same noise.
  std::uint64_t seed, stream;
};

/// Numbers that make a distribution of a row of logits (sampling.h).
struct WarpedRow {
  float maximum;
  double total;            ///< Σ exp((logit − maximum) / temperature) over the kept tokens
  std::uint32_t cut;       ///< Ordered bits of the worst kept logit.
  std::int32_t cut_token;  ///< The last kept token with that logit.
  std::int32_t choice;     ///< The target's token in a coupled round.
};

struct PassState {
  std::int32_t rows;
  std::int32_t first_row;      ///< Row i writes its K/V to cache row first_row + i.
  std::int32_t shared_keys;    ///< For every row, key j is cache row j as long as j < shared_keys.
  std::int32_t max_keys;       ///< Maximum over the rows.
  std::int32_t head_from;      ///< Rows from here on go through the head.
  std::int32_t stopped;        ///< The draft has ended: its remaining steps do nothing.
  std::int32_t drafted;        ///< Draft tokens so far.
  std::int32_t draft_length;   ///< Maximum tokens that a round drafts.
  std::int32_t goes_on;        ///< Whether the draft takes another step; written only by its last step.
  std::int32_t root_token;     ///< Start of the chain that a round verifies.
  std::int32_t root_position;  ///< Position of the root in a round, or of the first row in a pass.
  std::int32_t above_exit;  ///< Whether a round's verification continues from the states that the draft left.
  std::int32_t reads_kept;  ///< Whether RowInput::hidden is a number of the bank.
  std::int32_t keep_at;     ///< The bank's first number for a pass's states; -1 = they go to the host.
  float* bank;              ///< States after those of rounds, [n][d_model]; may move from pass to pass.
  std::int32_t accepted;    ///< Tokens accepted in a sampled round.
  std::int32_t bonus_token;  ///< The token after the accepted ones; sampled rounds only.
  SamplingState sampling;
  std::uint64_t draft_start_ns, verify_start_ns, end_ns;  ///< Times of a round by the device's clock.
  std::int32_t n_stop_tokens;
  float threshold;  ///< A draft token of lower probability ends the draft; negative = none does.
  std::int32_t stop_tokens[max_stop_tokens];
  // The draft tokens of a round and the rows of a pass come last, so that a copy includes only those in use.
  DraftedToken draft[max_drafted_tokens + 1];
  PassRow row[max_pass_rows];
};

/// A layer that a pass runs, and which of its sublayers.
struct LayerSlot {
  std::int32_t layer;
  std::int32_t attention;
  std::int32_t mlp;
};

/// A weight matrix [outputs][depth] without its numbers, which are in pieces (piece_layout.h).
struct DeviceMatrix {
  const float* scale;      ///< One per output; null unless the weights are fp8.
  const float* bias;       ///< One per output, or null.
  std::int32_t is_beside;  ///< Whether the matrix is plain while the layers' others are in groups.
};

/// A decoder layer's weights and cache. Norms are null where the architecture has none.
struct DeviceLayer {
  const float* attention_norm;
  const float* mlp_norm;
  const float* q_norm;
  const float* k_norm;
  const float* attention_output_norm;
  const float* mlp_output_norm;
  std::int32_t rotates;  ///< Whether queries and keys are rotated.
  DeviceMatrix q, k, v, o, gate, up, down;
  std::uint16_t* keys;    ///< [n_kv_heads][cache_rows][head_dim]
  std::uint16_t* values;  ///< [n_kv_heads][cache_rows][head_dim]
};

/// Shape and weights that all kernels of a model share. They lie in device memory and are written once.
struct DeviceModel {
  std::int32_t rotary_pairs;   ///< Pairs of a head that rotate, from its first dimension on.
  std::int32_t normalises_qk;  ///< 0 = none, 1 = each head of queries and keys, 2 = a row's whole projection
  std::int32_t normalises_outputs;
  float embedding_scale, residual_scale, logit_scale;
  std::int32_t d_model, d_ff, n_heads, n_kv_heads, head_dim, vocab, cache_rows, n_positions;
  float rms_epsilon;
  float attention_scale;
  const std::byte* embedding;  ///< [vocab][d_model], 16-bit
  const float* final_norm;
  DeviceMatrix head;
  const float* cosine;  ///< [n_positions][rotary_pairs]
  const float* sine;
};

/// Buffers of a pass in device memory; the struct is written once.
struct Workspace {
  PassState* state;
  const std::int32_t* extra_keys;  ///< The second part of a KeyRun indexes them.
  const float* hidden;             ///< Input states, [n][d_model]: uploaded, or left by a draft.
  float* round_states;             ///< [n_layers + 1][max_decode_rows][d_model], the bank's first numbers
  std::int32_t n_round_states;     ///< States in round_states.
  float* residual;                 ///< [max_pass_rows][d_model]
  std::uint16_t* queries;          ///< [max_pass_rows][n_heads · head_dim], rotated
  std::uint16_t* attended;         ///< [max_pass_rows][n_heads · head_dim]
  std::uint16_t* gated;            ///< [max_pass_rows][d_ff]
  std::uint16_t* normed;   ///< [max_pass_rows][d_model], for products that do not normalise their rows
  float* wide;             ///< fp32 results of a wide pass's products, or of products that a norm follows.
  std::uint16_t* widened;  ///< A product's weights as 16-bit rows, for a wide pass.
  float* split_sums;       ///< Unnormalised sums of attention for each split or run (attention_combine.h).
  float* split_statistics;
  float* logits;                      ///< [max_decode_rows][vocab]
  struct HeadPartial* head_partials;  ///< [max_decode_rows][head tiles]
  struct HeadResult* head_results;    ///< [max_decode_rows]
  float* draft_logits;                ///< [max_drafted_tokens][vocab], in a sampled round
  WarpedRow* draft_rows;              ///< [max_drafted_tokens]
  WarpedRow* target_rows;             ///< [max_decode_rows]
};

/// Maximum, its token and Σ exp(logit − maximum) over the logits of one tile of the vocabulary.
struct HeadPartial {
  float maximum;
  std::int32_t token;
  float sum;
};

struct HeadResult {
  std::int32_t token;
  float logit;
  float probability;
  float maximum;
  float sum;
};

}  // namespace draftscope::engine::cuda

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// State in device memory that changes from one forward pass to the next. The host fills it before a pass;
// during a draft the device updates it.

#include <cstddef>
#include <cstdint>

#include "launch_shape.h"

namespace draftscope::engine::cuda {

inline constexpr int max_pass_rows = 2048;  ///< rows of a wide pass, a prompt's
inline constexpr int max_decode_rows =
    max_attention_rows;                        ///< up to here a row's bits do not depend on the width
inline constexpr int max_product_rows = 32;    ///< most rows that a product multiplies in one turn
inline constexpr int max_staged_rows = 16;     ///< rows of a product that normalises its rows itself
inline constexpr int max_drafted_tokens = 63;  ///< tokens per chain
inline constexpr int max_stop_tokens = 16;
inline constexpr int max_top = 256;  ///< maximum k of top-k

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
  float probability;         ///< the best token's, at temperature 1
  double drawn_probability;  ///< the token's, in the distribution that it was drawn from
  std::uint64_t end_ns;      ///< end of the token's step by the device's clock
};

/// Sampling options of a round; read by the sampling kernels alone.
struct SamplingState {
  float inverse_temperature;
  std::int32_t top_k;    ///< 0 = off
  double top_p;          ///< 1 = off
  double temperature;    ///< for coupled choices, which are made in double precision
  std::int32_t coupled;  ///< target and draft choose with the same noise
  std::uint64_t seed, stream;
};

/// Numbers that make a distribution of a row of logits (sampling.h).
struct WarpedRow {
  float maximum;
  double total;            ///< Σ exp((logit − maximum) / temperature) over the kept tokens
  std::uint32_t cut;       ///< ordered bits of the worst kept logit
  std::int32_t cut_token;  ///< the last token with that logit that is kept
  std::int32_t choice;     ///< the target's token in a coupled round
};

struct PassState {
  std::int32_t rows;
  std::int32_t first_row;      ///< row i writes its K/V to cache row first_row + i
  std::int32_t shared_keys;    ///< for every row, key j is cache row j as long as j < shared_keys
  std::int32_t max_keys;       ///< maximum over the rows
  std::int32_t head_from;      ///< rows from here on go through the head
  std::int32_t stopped;        ///< the draft has ended: its remaining steps do nothing
  std::int32_t drafted;        ///< draft tokens so far
  std::int32_t draft_length;   ///< maximum tokens that a round drafts
  std::int32_t goes_on;        ///< whether the draft takes another step; written by its last step alone
  std::int32_t root_token;     ///< start of the chain that a round verifies
  std::int32_t root_position;  ///< the root's in a round, the first row's in a pass
  std::int32_t above_exit;     ///< whether a round's verification goes on from the states that the draft left
  std::int32_t reads_kept;     ///< RowInput::hidden is a number of the bank
  std::int32_t keep_at;        ///< the bank's first number for a pass's states; -1 = they go to the host
  float* bank;                 ///< states after those of rounds, [n][d_model]; may move from pass to pass
  std::int32_t accepted;       ///< tokens accepted in a sampled round
  std::int32_t bonus_token;    ///< sampled rounds only: the token after the accepted ones
  SamplingState sampling;
  std::uint64_t draft_start_ns, verify_start_ns, end_ns;  ///< times of a round, by the device's clock
  std::int32_t n_stop_tokens;
  float threshold;  ///< a draft token of lower probability ends the draft; negative = none does
  std::int32_t stop_tokens[max_stop_tokens];
  // These are last, so that a copy takes only what there is: the draft tokens of a round, the rows of a pass.
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
  const float* scale;      ///< one an output; null unless the weights are fp8
  const float* bias;       ///< one an output, or null
  std::int32_t is_beside;  ///< whether it is plain where the layers' others are in groups
};

/// Norms are null where the architecture has none.
struct DeviceLayer {
  const float* attention_norm;
  const float* mlp_norm;
  const float* q_norm;
  const float* k_norm;
  const float* attention_output_norm;
  const float* mlp_output_norm;
  std::int32_t rotates;  ///< whether queries and keys are rotated
  DeviceMatrix q, k, v, o, gate, up, down;
  std::uint16_t* keys;    ///< [n_kv_heads][cache_rows][head_dim]
  std::uint16_t* values;  ///< likewise
};

/// Shape and weights that all kernels of a model share; in device memory, written once.
struct DeviceModel {
  std::int32_t rotary_pairs;   ///< pairs of a head that rotate, from its first dimension on
  std::int32_t normalises_qk;  ///< 0, or 1: each head of queries and keys, or 2: a row's whole projection
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

/// Buffers of a pass, in device memory, written once.
struct Workspace {
  PassState* state;
  const std::int32_t* extra_keys;  ///< what KeyRun's second part indexes
  const float* hidden;             ///< input states, [n][d_model]: uploaded, or left by a draft
  float* round_states;             ///< [n_layers + 1][max_decode_rows][d_model]: the bank's first numbers
  std::int32_t n_round_states;     ///< states in round_states
  float* residual;                 ///< [max_pass_rows][d_model]
  std::uint16_t* queries;          ///< [max_pass_rows][n_heads · head_dim], rotated
  std::uint16_t* attended;         ///< likewise
  std::uint16_t* gated;            ///< [max_pass_rows][d_ff]
  std::uint16_t* normed;           ///< [max_pass_rows][d_model], of products that do not normalise theirs
  float* wide;                     ///< fp32 products of a wide pass, or those that a norm follows
  std::uint16_t* widened;          ///< a product's weights as 16-bit rows, for a wide pass
  float* split_sums;  ///< attention: unnormalised sums of each split, or run (attention_combine.h)
  float* split_statistics;
  float* logits;                      ///< [max_decode_rows][vocab]
  struct HeadPartial* head_partials;  ///< [max_decode_rows][head tiles]
  struct HeadResult* head_results;    ///< [max_decode_rows]
  float* draft_logits;                ///< [max_drafted_tokens][vocab], of a sampled round
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

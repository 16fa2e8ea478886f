// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The parts of a pass other than products and attention: inputs, the head's result, the step from one draft
// token to the next, and top-k. Wide passes use a library's products, so what follows a product is here, too;
// programs have it inside the product (product_ops.h).

#include "attention.h"

namespace draftscope::engine::cuda {

/// Address of a state of the bank. The states that rounds store come first.
DRAFTSCOPE_DEVICE float* kept_state(const Workspace& work, int d_model, int number) {
  const std::int64_t beyond = std::int64_t{number} - work.n_round_states;
  return beyond < 0 ? work.round_states + std::int64_t{number} * d_model
                    : work.state->bank + beyond * d_model;
}

/// Starts the residual stream, one block per row, from a token's embedding, an uploaded state or a state of
/// the bank.
template <typename Element>
DRAFTSCOPE_DEVICE void load_inputs(const PassView& p) {
  if (block_index() == 0 && thread_index() == 0 && p.work.state->drafted == 0)
    p.work.state->draft_start_ns = device_clock_ns();
  for (int row = block_index(); row < p.work.state->rows; row += block_count()) {
    const RowInput input = p.work.state->row[row].input;
    const std::int64_t d_model = p.model.d_model;
    float* out = p.work.residual + row * d_model;
    const auto* embedding = reinterpret_cast<const std::uint16_t*>(p.model.embedding) + input.token * d_model;
    const float* const state = p.work.state->reads_kept != 0 && input.token < 0
                                   ? kept_state(p.work, p.model.d_model, input.hidden)
                                   : p.work.hidden + input.hidden * d_model;
    for (int i = thread_index(); i < p.model.d_model; i += block_threads())
      out[i] = input.token >= 0 ? Element::to_float(embedding[i]) * p.model.embedding_scale : state[i];
  }
}

/// Normalises, rotates and stores the queries and keys that a product left in `wide`; a warp takes one head
/// of a row.
template <typename Element>
DRAFTSCOPE_DEVICE void normalise_heads(const PassView& p) {
  const DeviceModel& model = p.model;
  const DeviceLayer& layer = p.layer;
  const int normalised = model.n_heads + model.n_kv_heads;
  const std::int64_t width = std::int64_t{normalised + model.n_kv_heads} * model.head_dim;
  const int warps = block_threads() / warp_threads;
  const int tasks = p.extent.rows * normalised;
  for (int task = block_index() * warps + thread_index() / warp_threads; task < tasks;
       task += block_count() * warps) {
    const int row = task / normalised;
    const int head = task % normalised;
    const bool is_query = head < model.n_heads;
    const int first_head = is_query ? 0 : model.n_heads;
    const bool whole = model.normalises_qk == 2;
    // Each head sums the whole projection redundantly, which is cheaper than a barrier.
    const int from = (whole ? first_head : head) * model.head_dim;
    const int depth = (whole ? (is_query ? model.n_heads : model.n_kv_heads) : 1) * model.head_dim;
    const float* sums = p.work.wide + row * width;
    const float scale =
        1.0F / sqrtf(row_square_sum(sums + from, depth) / static_cast<float>(depth) + model.rms_epsilon);
    const float* values = sums + std::int64_t{head} * model.head_dim;
    const float* norm =
        (is_query ? layer.q_norm : layer.k_norm) + (whole ? (head - first_head) * model.head_dim : 0);
    for (int i = thread_index() % warp_threads; i < model.head_dim / 2; i += warp_threads) {
      const HeadPair pair = pair_of(model, i);
      store_pair<Element>(p, row, head, i, values[pair.first] * scale * norm[pair.first],
                          values[pair.second] * scale * norm[pair.second], angle_of(p, row, head, i));
    }
  }
}

/// Normalises the outputs of a sublayer that its last product left in `wide`, and adds them to the residual
/// stream; one block per row.
DRAFTSCOPE_DEVICE void add_outputs(const PassView& p, Norm sublayer) {
  const DeviceModel& model = p.model;
  const bool of_attention = sublayer == Norm::attention;
  const DeviceLayer& layer = p.layer;
  const DeviceMatrix& matrix = of_attention ? layer.o : layer.down;
  const float* norm = of_attention ? layer.attention_output_norm : layer.mlp_output_norm;
  float* warp_sums = reinterpret_cast<float*>(shared_memory());
  for (int row = block_index(); row < p.extent.rows; row += block_count()) {
    const float* sums = p.work.wide + std::int64_t{row} * model.d_model;
    float squares = 0.0F;
    for (int i = thread_index(); i < model.d_model; i += block_threads()) {
      const float value = completed(matrix, i, sums[i]);
      squares += value * value;
    }
    synchronise();  // The previous row has been read.
    const float scale = rms_factor(squares, model.d_model, model.rms_epsilon, warp_sums);
    float* residual = p.work.residual + std::int64_t{row} * model.d_model;
    for (int i = thread_index(); i < model.d_model; i += block_threads())
      residual[i] += model.residual_scale * (completed(matrix, i, sums[i]) * scale * norm[i]);
  }
}

/// Combines the statistics of all tiles of a head row in order, one block per row.
DRAFTSCOPE_DEVICE HeadPartial merged_row(const PassView& p, int head_row) {
  const int tiles = tiles_of(p.model.vocab);
  HeadPartial* shared = reinterpret_cast<HeadPartial*>(shared_memory());
  const HeadPartial* partials = p.work.head_partials + std::int64_t{head_row} * tiles;
  const HeadPartial none{lowest_logit, p.model.vocab, 0.0F};
  HeadPartial mine = none;
  constexpr int at_once = 8;  // Loads that are in flight together.
  for (int first = thread_index(); first < tiles; first += at_once * row_threads) {
    HeadPartial held[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i)
      held[i] = first + i * row_threads < tiles ? partials[first + i * row_threads] : none;
#pragma unroll
    for (int i = 0; i < at_once; ++i)
      if (first + i * row_threads < tiles) mine = merged(mine, held[i]);
  }
  shared[thread_index()] = mine;
  for (int half = row_threads / 2; half > 0; half /= 2) {
    synchronise();
    if (thread_index() < half)
      shared[thread_index()] = merged(shared[thread_index()], shared[thread_index() + half]);
  }
  synchronise();
  return shared[0];
}

/// Computes the best token and its probability for every head row.
DRAFTSCOPE_DEVICE void finish_head(const PassView& p) {
  const PassState& state = *p.work.state;
  for (int row = block_index(); row < state.rows - state.head_from; row += block_count()) {
    const HeadPartial best = merged_row(p, row);
    if (thread_index() == 0) {
      p.work.head_results[row] = result_of(best, p.model.vocab);
      if (row == 0) p.work.state->end_ns = device_clock_ns();
    }
    synchronise();
  }
}

/// Records the token, decides whether the draft continues, and makes the token the next step's input. A step
/// whose logits form no distribution has no token and is the last one. Called by one thread.
DRAFTSCOPE_DEVICE void take_drafted(PassState& state, const DraftedToken& drafted) {
  if (!(drafted.probability >= 0.0F)) {
    state.stopped = 1;
    return;
  }
  state.draft[state.drafted] = drafted;
  state.draft[state.drafted].end_ns = device_clock_ns();
  state.drafted += 1;
  if (drafted.probability < state.threshold) state.stopped = 1;
  for (int i = 0; i < state.n_stop_tokens; ++i)
    if (drafted.token == state.stop_tokens[i]) state.stopped = 1;
  state.row[0].input.token = drafted.token;
  state.row[0].input.position += 1;
  state.row[0].keys.end += 1;
  state.first_row += 1;
  state.max_keys += 1;
}

/// Ends a draft step and, after the last one, the draft. Called by one thread.
DRAFTSCOPE_DEVICE void end_draft_step(PassState& state, const DraftedToken& drafted) {
  take_drafted(state, drafted);
  state.goes_on = state.stopped == 0 && state.drafted < state.draft_length ? 1 : 0;
}

/// Ends a draft step with the best token. Run by one block.
DRAFTSCOPE_DEVICE void finish_draft_step(const PassView& p) {
  const HeadResult best = result_of(merged_row(p, 0), p.model.vocab);
  if (thread_index() == 0) end_draft_step(*p.work.state, {best.token, best.logit, best.probability, 1.0, 0});
}

/// Stores the residual stream, one block per row. The place of a row is relative to a round's root or a
/// pass's first row, or is its number in the bank.
DRAFTSCOPE_DEVICE void keep_states(const PassView& p, float* to, std::int32_t boundary) {
  const PassState& state = *p.work.state;
  const std::int64_t d_model = p.model.d_model;
  const std::int64_t first = state.first_row - state.root_position;
  for (int row = block_index(); row < state.rows; row += block_count()) {
    float* const kept =
        state.keep_at < 0 ? to + (first + row) * d_model
                          : kept_state(p.work, p.model.d_model, state.keep_at + boundary * state.rows + row);
    for (int i = thread_index(); i < p.model.d_model; i += block_threads())
      kept[i] = p.work.residual[row * d_model + i];
  }
}

/// Copies states within the bank, one block per state.
DRAFTSCOPE_DEVICE void move_states(const BankParams& p) {
  for (int move = block_index(); move < p.n; move += block_count()) {
    const float* const from = kept_state(p.pass.work, p.pass.model.d_model, p.pairs[move].first);
    float* const to = kept_state(p.pass.work, p.pass.model.d_model, p.pairs[move].second);
    for (int i = thread_index(); i < p.pass.model.d_model; i += block_threads()) to[i] = from[i];
  }
}

/// Computes cosines of pairs of states of the bank, one warp per pair (StateBank::compare()).
DRAFTSCOPE_DEVICE void compare_states(const BankParams& p) {
  const int warps = block_threads() / warp_threads;
  for (int pair = block_index() * warps + thread_index() / warp_threads; pair < p.n;
       pair += block_count() * warps) {
    const float* const a = kept_state(p.pass.work, p.pass.model.d_model, p.pairs[pair].first);
    const float* const b = kept_state(p.pass.work, p.pass.model.d_model, p.pairs[pair].second);
    float products = 0.0F, squares_of_a = 0.0F, squares_of_b = 0.0F;
    for (int i = thread_index() % warp_threads; i < p.pass.model.d_model; i += warp_threads) {
      products += a[i] * b[i];
      squares_of_a += a[i] * a[i];
      squares_of_b += b[i] * b[i];
    }
    for (int mask = warp_threads / 2; mask > 0; mask /= 2) {
      products += shuffle_xor(products, mask);
      squares_of_a += shuffle_xor(squares_of_a, mask);
      squares_of_b += shuffle_xor(squares_of_b, mask);
    }
    if (thread_index() % warp_threads != 0) continue;
    const float norms = sqrtf(squares_of_a) * sqrtf(squares_of_b);
    const float cosine = products / norms;
    const bool is_finite = cosine - cosine == 0.0F;
    p.cosines[pair] = norms == 0.0F ? 0.0F : is_finite ? cosine : -1.0F;
  }
}

/// Turns a finished draft into a pass over its last token alone, or the root if nothing was drafted. This
/// token has not been through the layers below the exit. Run by one block.
DRAFTSCOPE_DEVICE void begin_last_token(const PassView& p) {
  if (thread_index() != 0) return;
  PassState& state = *p.work.state;
  const int last = state.drafted;
  state.row[0].input = {last == 0 ? state.root_token : state.draft[last - 1].token, -1,
                        state.root_position + last};
  state.row[0].keys = {0, state.root_position + last + 1, 0, 0};
  state.rows = 1;
  state.first_row = state.root_position + last;
  state.max_keys = state.root_position + last + 1;
  state.verify_start_ns = device_clock_ns();
  state.stopped = 0;
}

/// Turns a finished draft into the chain that verifies it: the root and every draft token. Run by one block.
DRAFTSCOPE_DEVICE void begin_verification(const PassView& p) {
  PassState& state = *p.work.state;
  const bool above = state.above_exit != 0;
  for (int row = thread_index(); row <= state.drafted; row += block_threads()) {
    const int token = row == 0 ? state.root_token : state.draft[row - 1].token;
    state.row[row].input = {above ? -1 : token, above ? row : -1, state.root_position + row};
    state.row[row].keys = {0, state.root_position + row + 1, 0, 0};
  }
  if (thread_index() != 0) return;
  state.rows = state.drafted + 1;
  state.first_row = state.root_position;
  state.max_keys = state.root_position + state.drafted + 1;
  if (!above) state.verify_start_ns = device_clock_ns();
  state.stopped = 0;
}

/// Selects the k best tokens of every head row from stored logits, by k searches for the best after the last;
/// one block per row.
DRAFTSCOPE_DEVICE void select_top(const TopParams& p) {
  struct Candidate {
    float logit;
    std::int32_t token;
  };
  const PassState& state = *p.pass.work.state;
  Candidate* shared = reinterpret_cast<Candidate*>(shared_memory());
  const int vocab = p.pass.model.vocab;
  for (int row = block_index(); row < state.rows - state.head_from; row += block_count()) {
    const float* logits = p.pass.work.logits + std::int64_t{row} * vocab;
    const HeadResult& statistics = p.pass.work.head_results[row];
    Candidate last{statistics.logit, statistics.token};
    if (thread_index() == 0) p.top[std::int64_t{row} * p.k] = statistics;
    for (int rank = 1; rank < p.k; ++rank) {
      Candidate mine{lowest_logit, vocab};
      for (int token = thread_index(); token < vocab; token += row_threads) {
        const float logit = at_least_lowest(logits[token]);
        if (is_better(last.logit, last.token, logit, token) &&
            is_better(logit, token, mine.logit, mine.token))
          mine = {logit, token};
      }
      synchronise();  // The last rank has been read.
      shared[thread_index()] = mine;
      for (int half = row_threads / 2; half > 0; half /= 2) {
        synchronise();
        const int i = thread_index();
        if (i < half &&
            is_better(shared[i + half].logit, shared[i + half].token, shared[i].logit, shared[i].token))
          shared[i] = shared[i + half];
      }
      synchronise();
      last = shared[0];
      if (thread_index() == 0)
        p.top[std::int64_t{row} * p.k + rank] = {last.token < vocab ? last.token : 0, last.logit,
                                                 statistics.probability >= 0.0F
                                                     ? expf(last.logit - statistics.maximum) / statistics.sum
                                                     : statistics.probability,  // A NaN for every rank.
                                                 statistics.maximum, statistics.sum};
    }
    synchronise();
  }
}

/// Moves rows of the K/V cache: one block per layer and K/V head, whose threads move one row after another.
DRAFTSCOPE_DEVICE void move_cache_rows(const MoveParams& p) {
  const DeviceModel& model = p.pass.model;
  for (int plane = block_index(); plane < p.n_layers * model.n_kv_heads; plane += block_count()) {
    const DeviceLayer& layer = p.layers[plane / model.n_kv_heads];
    const std::int64_t first = std::int64_t{plane % model.n_kv_heads} * model.cache_rows;
    for (int move = 0; move < p.n_moves; ++move) {
      const std::int64_t from = (first + p.moves[move].from) * model.head_dim;
      const std::int64_t to = (first + p.moves[move].to) * model.head_dim;
      for (int i = thread_index(); i < model.head_dim; i += block_threads()) {
        layer.keys[to + i] = layer.keys[from + i];
        layer.values[to + i] = layer.values[from + i];
      }
    }
  }
}

/// Stores normalised rows in 16 bits for a library's product, or one of many rows, which does not normalise
/// its inputs. A block takes one row. The rows are [row_begin, row_begin + rows) of the pass.
template <typename Element>
DRAFTSCOPE_DEVICE void normalise_rows(const PassView& p, int rows, Norm sublayer) {
  static_assert(row_threads == product_threads);  // Otherwise bits differ from rows that a product stages.
  const std::int64_t depth = p.model.d_model;
  const RowNorm<Element> norm(norm_weights(p, sublayer), p.model.d_model, p.model.rms_epsilon);
  const int left = rows - block_index();
  const auto place = [&](int i) {
    return (p.row_begin + block_index() + std::int64_t{i} * block_count()) * depth;
  };
  norm.bring(
      left > 0 ? (left + block_count() - 1) / block_count() : 0, reinterpret_cast<float*>(shared_memory()),
      [&](int i) { return p.work.residual + place(i); },
      [&](int i) { return reinterpret_cast<std::uint32_t*>(p.work.normed + place(i)); });
}

DRAFTSCOPE_DEVICE PassView view_of(const WideParams& p) {
  return {p.pass.model, p.pass.work, p.layer, 0, 0, extent_of(*p.pass.work.state), p.pass.work.state->row};
}

/// Rotates and stores what a wide qkv product left in `wide`, [rows][q, k, v], as QkvOp::finish does with its
/// own sums. A thread takes a pair of dimensions. Queries and keys that need a norm stay in `wide`.
template <typename Format>
DRAFTSCOPE_DEVICE void finish_wide_qkv(const WideParams& p) {
  const PassView view = view_of(p);
  const DeviceModel& model = view.model;
  const int heads = model.n_heads + 2 * model.n_kv_heads;
  const int half_head = model.head_dim / 2;
  const int pairs = heads * half_head;
  for (int row = block_index(); row < p.rows; row += block_count())
    for (int pair = thread_index(); pair < pairs; pair += block_threads()) {
      const float* sums = view.work.wide + std::int64_t{row} * heads * model.head_dim +
                          std::int64_t{pair / half_head} * model.head_dim;
      const int i = pair % half_head;
      const HeadPair of_head = pair_of(model, i);
      const int tiles_per_head = model.head_dim / tile_outputs;
      const int tile = pair / half_head * tiles_per_head + i / tile_half;
      QkvOp<Format>::finish(view, tile, i % tile_half, row, true, sums[of_head.first], sums[of_head.second],
                            QkvOp<Format>::bring(view, tile, i % tile_half, row));
    }
}

/// Applies the gate to what a wide product of gate and up left in `wide`, [rows][2][d_ff].
template <typename Format>
DRAFTSCOPE_DEVICE void finish_wide_gate(const WideParams& p) {
  const PassView view = view_of(p);
  const int d_ff = view.model.d_ff;
  for (int row = block_index(); row < p.rows; row += block_count())
    for (int i = thread_index(); i < d_ff; i += block_threads()) {
      const float* const sums = view.work.wide + std::int64_t{row} * 2 * d_ff + i;
      GateUpOp<Format>::finish(view, i / tile_half, i % tile_half, row, true, sums[0], sums[d_ff]);
    }
}

/// Adds the result of a wide product in `wide`, [rows][d_model], to the residual stream.
DRAFTSCOPE_DEVICE void add_wide(const WideParams& p) {
  const DeviceModel& model = p.pass.model;
  const DeviceMatrix& matrix = p.norm == Norm::attention ? p.layer.o : p.layer.down;
  for (int row = block_index(); row < p.rows; row += block_count())
    for (int i = thread_index(); i < model.d_model; i += block_threads()) {
      const std::int64_t place = std::int64_t{row} * model.d_model + i;
      p.pass.work.residual[place] += model.residual_scale * completed(matrix, i, p.pass.work.wide[place]);
    }
}

}  // namespace draftscope::engine::cuda

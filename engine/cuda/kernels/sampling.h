// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sampling without the host: the distributions of draftscope/engine/sampling.h (temperature, top-k, top-p;
// ties go to the lower token) and its rejection rule, over logits in device memory.
//
// A warped distribution is never written down. It is a row of logits, the worst token that is kept and the
// sum of the kept weights; everything else follows. The worst token is found by the ordered bits of its
// logit, four at a time from the highest. That takes eight passes over the row. Each sums the weights of
// tokens by their next four bits, with one column per thread. All sums have a fixed order, so that a row's
// result does not depend on anything but the row.
//
// Coupled rounds (SamplingOptions::coupled) choose by noise that target and draft share. A draft token is
// accepted if the target's choice is the same; the draft's distribution plays no part in the verdict.

#include "pass_ops.h"
#include "philox.h"

namespace draftscope::engine::cuda {

/// Bits whose order is the order of the numbers.
DRAFTSCOPE_DEVICE std::uint32_t ordered_bits(float value) {
  const std::uint32_t bits = float_bits(value);
  return (bits >> 31U) != 0 ? ~bits : bits | 0x80000000U;
}

/// One row of logits under sampling parameters.
struct WarpedLogits {
  const float* logits;
  int vocab;
  float inverse_temperature;
  WarpedRow row;

  DRAFTSCOPE_DEVICE bool keeps(int token) const {
    const std::uint32_t bits = ordered_bits(logits[token]);
    return bits > row.cut || (bits == row.cut && token <= row.cut_token);
  }
  DRAFTSCOPE_DEVICE double weight(int token) const {
    return keeps(token) ? static_cast<double>(expf((logits[token] - row.maximum) * inverse_temperature))
                        : 0.0;
  }
  DRAFTSCOPE_DEVICE double probability(int token) const { return weight(token) / row.total; }
};

/// Tokens [begin, end).
struct TokenRun {
  int begin, end;
};

/// The part of a run that a warp takes. Parts are equal, multiples of a warp's lanes, and in order.
DRAFTSCOPE_DEVICE TokenRun run_of_warp(const TokenRun& run, int warp) {
  constexpr int warps = row_threads / warp_threads;
  const int each =
      ((run.end - run.begin + warps - 1) / warps + warp_threads - 1) / warp_threads * warp_threads;
  const int begin = run.begin + warp * each;
  return {begin < run.end ? begin : run.end, begin + each < run.end ? begin + each : run.end};
}

/// Calls `look` with every token of a run, each by one thread of the block; neighbouring threads get
/// neighbouring tokens.
template <typename Look>
DRAFTSCOPE_DEVICE void each_token(const TokenRun& run, const Look& look) {
  const TokenRun mine = run_of_warp(run, thread_index() / warp_threads);
#pragma unroll 4
  for (int token = mine.begin + thread_index() % warp_threads; token < mine.end; token += warp_threads)
    look(token);
}

/// Sums over a warp's lanes in a fixed order; all lanes get the result.
DRAFTSCOPE_DEVICE double warp_sum(double mine) {
  for (int mask = 16; mask > 0; mask /= 2) mine += shuffle_xor(mine, mask);
  return mine;
}

/// Sums over a block's threads in a fixed order; all threads get the result. `shared` has room for one double
/// per warp.
DRAFTSCOPE_DEVICE double block_sum(double mine, double* shared) {
  mine = warp_sum(mine);
  synchronise();  // The previous content has been read.
  if (thread_index() % warp_threads == 0) shared[thread_index() / warp_threads] = mine;
  synchronise();
  double sum = 0.0;
  for (int warp = 0; warp < row_threads / warp_threads; ++warp) sum += shared[warp];
  return sum;
}

/// Where a running sum over parts first exceeds `at`: the part, and the sum of all parts before it. If
/// rounding lets no part exceed it, the last part of positive measure; -1 if there is none.
struct PartAt {
  int part;
  double before;
};
DRAFTSCOPE_DEVICE PartAt part_at(const double* parts, int n, double at, double before) {
  PartAt chosen{-1, before};
  for (int part = 0; part < n; ++part) {
    if (parts[part] <= 0.0) continue;
    chosen = {part, before};
    before += parts[part];
    if (at < before) break;
  }
  return chosen;
}

/// The token at which the running sum of `measure` over all tokens, by ascending id, first exceeds its share
/// `at_share` of the whole. If rounding lets no token exceed it, the last one of positive measure; -1 if
/// there is none. All threads get the result. Each step narrows the run to an eighth, the last to a token.
template <typename Measure>
DRAFTSCOPE_DEVICE int token_at(int vocab, double at_share, double* shared, const Measure& measure) {
  constexpr int warps = row_threads / warp_threads;
  TokenRun run{0, vocab};
  double at = 0.0;
  double before = 0.0;
  for (bool is_first = true; is_first || run.end - run.begin > warp_threads; is_first = false) {
    double mine = 0.0;
    each_token(run, [&](int token) { mine += measure(token); });
    const double total = block_sum(mine, shared);  // It leaves the warps' sums in `shared`.
    if (is_first) at = at_share * total;
    const PartAt chosen = part_at(shared, warps, at, before);
    if (chosen.part < 0) return -1;
    before = chosen.before;
    run = run_of_warp(run, chosen.part);
  }
  synchronise();
  if (thread_index() < warp_threads)
    shared[thread_index()] = run.begin + thread_index() < run.end ? measure(run.begin + thread_index()) : 0.0;
  synchronise();
  const PartAt chosen = part_at(shared, run.end - run.begin, at, before);
  return chosen.part < 0 ? -1 : run.begin + chosen.part;
}

inline constexpr int digit_bits = 4;
inline constexpr int digits = 1 << digit_bits;

/// Narrows `warped` to the smallest set of its best tokens whose measure (1 each, or their weights) reaches
/// `goal`. `shared` has sampling_shared_bytes.
template <typename Measure>
DRAFTSCOPE_DEVICE void keep_best(WarpedLogits& warped, double goal, double* shared, const Measure& measure) {
  const TokenRun all{0, warped.vocab};
  double* totals = shared + digits * row_threads;  // They lie after the threads' columns, [digit][thread].
  std::uint32_t cut = 0;
  double above = 0.0;  // Measure of the tokens above all that begin with the digits of `cut`.
  double at_cut = 0.0;
  for (int shift = 32 - digit_bits; shift >= 0; shift -= digit_bits) {
    synchronise();
    for (int digit = 0; digit < digits; ++digit) shared[digit * row_threads + thread_index()] = 0.0;
    each_token(all, [&](int token) {
      const std::uint32_t bits = ordered_bits(warped.logits[token]);
      // Two shifts are needed, since a shift by all 32 bits is undefined.
      if ((bits ^ cut) >> shift >> digit_bits != 0) return;
      const auto digit = static_cast<int>(bits >> shift & (digits - 1U));
      shared[digit * row_threads + thread_index()] += measure(token);
    });
    synchronise();
    const int warp = thread_index() / warp_threads;
    const int lane = thread_index() % warp_threads;
    for (int digit = warp; digit < digits; digit += row_threads / warp_threads) {
      double mine = 0.0;
      for (int column = lane; column < row_threads; column += warp_threads)
        mine += shared[digit * row_threads + column];
      mine = warp_sum(mine);
      if (lane == 0) totals[digit] = mine;
    }
    synchronise();
    // Choose the highest digit down to which the goal is reached, or the lowest one present if rounding lets
    // none.
    double reached = above;
    int chosen = 0;
    for (int digit = digits - 1; digit >= 0; --digit) {
      if (totals[digit] <= 0.0) continue;
      chosen = digit;
      above = reached;
      at_cut = totals[digit];
      reached += at_cut;
      if (reached >= goal) break;
    }
    cut |= static_cast<std::uint32_t>(chosen) << shift;
  }
  // Tokens with the logit of the cut have one weight: the lowest ids among them fill up the rest.
  const auto tied = [&](int token) {
    return ordered_bits(warped.logits[token]) == cut && measure(token) > 0.0 ? 1.0 : 0.0;
  };
  double mine = 0.0;
  each_token(all, [&](int token) { mine += tied(token); });
  const double ties = block_sum(mine, shared);
  if (ties <= 0.0) return;
  double needed = ceil((goal - above) / (at_cut / ties));
  needed = needed < 1.0 ? 1.0 : needed;
  // By default all tokens that were kept so far.
  int last = cut == warped.row.cut ? warped.row.cut_token : warped.vocab;
  // The target is half a token below the last needed count, since counts are whole numbers however shares
  // round.
  if (needed < ties) last = token_at(warped.vocab, (needed - 0.5) / ties, shared, tied);
  warped.row.cut = cut;
  warped.row.cut_token = last;
}

/// Applies temperature, top-k and top-p, in this order. Called by a block; `maximum` is the row's highest
/// logit.
DRAFTSCOPE_DEVICE WarpedLogits warp_logits(const float* logits, int vocab, float maximum,
                                           const SamplingState& sampling, double* shared) {
  WarpedLogits warped{logits, vocab, sampling.inverse_temperature, {maximum, 0.0, 0U, vocab, -1}};
  const auto weight = [&](int token) { return warped.weight(token); };
  const auto one = [&](int token) { return warped.keeps(token) ? 1.0 : 0.0; };
  const auto total = [&] {
    double mine = 0.0;
    each_token({0, vocab}, [&](int token) { mine += weight(token); });
    return block_sum(mine, shared);
  };
  if (sampling.top_k > 0 && sampling.top_k < vocab)
    keep_best(warped, static_cast<double>(sampling.top_k), shared, one);
  warped.row.total = total();
  if (sampling.top_p < 1.0) {
    keep_best(warped, sampling.top_p * warped.row.total, shared, weight);
    warped.row.total = total();
  }
  return warped;
}

DRAFTSCOPE_DEVICE double* shared_doubles() {
  return reinterpret_cast<double*>(shared_memory());
}

DRAFTSCOPE_DEVICE double draw_of(const PassState& state, std::int32_t position, DrawFor purpose) {
  return uniform_draw(state.sampling.seed, state.sampling.stream, position, purpose);
}

/// coupled_token() of draftscope/engine/sampling.h: the kept token with the minimum −log(1 − u) / p; ties go
/// to the lower token. In double precision, unlike draws: the text is a function of key and target only if
/// rounds of the host choose alike, and p needs no sum here. All threads get the result.
DRAFTSCOPE_DEVICE int coupled_choice(const WarpedLogits& warped, const SamplingState& sampling,
                                     std::int32_t position) {
  struct Arrival {
    double time;
    std::int32_t token;
  };
  const auto sooner = [](const Arrival& a, const Arrival& b) {
    return a.time < b.time || (a.time == b.time && a.token < b.token);
  };
  constexpr double never = 1.7976931348623157e308;
  Arrival mine{never, warped.vocab};
  for (int token = thread_index(); token < warped.vocab; token += row_threads) {
    if (!warped.keeps(token)) continue;
    const double weight =
        exp((static_cast<double>(warped.logits[token]) - static_cast<double>(warped.row.maximum)) /
            sampling.temperature);
    if (weight <= 0.0) continue;
    const double uniform = uniform_draw(sampling.seed, sampling.stream, position, DrawFor::noise, token);
    const Arrival here{-log1p(-uniform) / weight, token};
    if (sooner(here, mine)) mine = here;
  }
  Arrival* shared = reinterpret_cast<Arrival*>(shared_memory());
  synchronise();
  shared[thread_index()] = mine;
  for (int half = row_threads / 2; half > 0; half /= 2) {
    synchronise();
    if (thread_index() < half && sooner(shared[thread_index() + half], shared[thread_index()]))
      shared[thread_index()] = shared[thread_index() + half];
  }
  synchronise();
  const int token = shared[0].token;
  synchronise();
  return token;
}

/// finish_draft_step() with the token drawn from the warped distribution; its confidence stays the best
/// token's probability. Logits are stored if the verdict needs them. Run by one block.
DRAFTSCOPE_DEVICE void finish_sampled_step(const PassView& p) {
  PassState& state = *p.work.state;
  const int vocab = p.model.vocab;
  const HeadResult best = result_of(merged_row(p, 0), vocab);
  const bool coupled = state.sampling.coupled != 0;
  float* kept = p.work.draft_logits + std::int64_t{state.drafted} * vocab;
  if (!coupled)
    for (int token = thread_index(); token < vocab; token += block_threads())
      kept[token] = p.work.logits[token];
  const WarpedLogits draft =
      warp_logits(p.work.logits, vocab, best.maximum, state.sampling, shared_doubles());
  const std::int32_t position = state.row[0].input.position + 1;
  const int token = coupled ? coupled_choice(draft, state.sampling, position)
                            : token_at(vocab, draw_of(state, position, DrawFor::draft), shared_doubles(),
                                       [&](int t) { return draft.weight(t); });
  if (thread_index() != 0) return;
  // If logits form no distribution, no token may have been chosen.
  if (!(best.probability >= 0.0F)) return end_draft_step(state, {0, 0.0F, best.probability, 0.0, 0});
  p.work.draft_rows[state.drafted] = draft.row;
  end_draft_step(state, {token, p.work.logits[token], best.probability, draft.probability(token), 0});
}

/// Computes the warped distribution of every head row, and in a coupled round the target's next token; one
/// block per row.
DRAFTSCOPE_DEVICE void warp_rows(const PassView& p) {
  const PassState& state = *p.work.state;
  for (int row = block_index(); row < state.rows - state.head_from; row += block_count()) {
    WarpedLogits target = warp_logits(p.work.logits + std::int64_t{row} * p.model.vocab, p.model.vocab,
                                      p.work.head_results[row].maximum, state.sampling, shared_doubles());
    if (state.sampling.coupled != 0)
      target.row.choice = coupled_choice(target, state.sampling, state.root_position + row + 1);
    if (thread_index() == 0) p.work.target_rows[row] = target.row;
    synchronise();
  }
}

/// Counts the accepted draft tokens and chooses the bonus token after them. Run by one block.
DRAFTSCOPE_DEVICE void judge_draft(const PassView& p) {
  PassState& state = *p.work.state;
  if (state.sampling.coupled != 0) {
    if (thread_index() != 0) return;
    state.accepted = 0;
    while (state.accepted < state.drafted &&
           state.draft[state.accepted].token == p.work.target_rows[state.accepted].choice)
      state.accepted += 1;
    state.bonus_token = p.work.target_rows[state.accepted].choice;
    state.end_ns = device_clock_ns();
    return;
  }
  const int vocab = p.model.vocab;
  const auto target_at = [&](int row) {
    return WarpedLogits{p.work.logits + std::int64_t{row} * vocab, vocab, state.sampling.inverse_temperature,
                        p.work.target_rows[row]};
  };
  const auto draft_at = [&](int row) {
    return WarpedLogits{p.work.draft_logits + std::int64_t{row} * vocab, vocab,
                        state.sampling.inverse_temperature, p.work.draft_rows[row]};
  };
  int accepted = 0;
  for (; accepted < state.drafted; ++accepted) {
    const int token = state.draft[accepted].token;
    const double target = target_at(accepted).probability(token);
    const double draft = draft_at(accepted).probability(token);
    if (target >= draft) continue;
    if (!(draw_of(state, state.root_position + accepted + 1, DrawFor::accept) < target / draft)) break;
  }
  const WarpedLogits target = target_at(accepted);
  const double uniform = draw_of(state, state.root_position + accepted + 1, DrawFor::target);
  int bonus = -1;
  if (accepted < state.drafted) {
    const WarpedLogits draft = draft_at(accepted);
    bonus = token_at(vocab, uniform, shared_doubles(), [&](int token) {
      const double rest = target.probability(token) - draft.probability(token);
      return rest > 0.0 ? rest : 0.0;
    });
  }
  if (bonus < 0)
    bonus = token_at(vocab, uniform, shared_doubles(), [&](int token) { return target.weight(token); });
  if (thread_index() != 0) return;
  state.accepted = accepted;
  state.bonus_token = bonus;
  state.end_ns = device_clock_ns();
}

}  // namespace draftscope::engine::cuda

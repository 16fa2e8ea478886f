// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A pass or a round as one kernel. A block a multiprocessor walks a program, a list of operations in device
// memory; all blocks are resident (a cooperative launch), and meet after each operation. What was a launch is
// an entry of the list: which sublayers run, up to where, on which weights and for which rows is data.
//
//   Operation   a sublayer's product, attention, a norm or a step of a round, with all that it needs of its
//               layer. A model's operations are written once
//   Program     places among them in order. Entries [loop_begin, loop_end) are a draft step, which is run
//               until the draft ends; nothing else goes back
//   Plain path  the same operations, a launch each: a program of which a launch runs one entry. Parts of a
//               wide pass are launched so, too, and a round in parts where its operations take weights in two
//               formats with groups
//
// Each of a block's eight warps has the weights of all products copied into a ring of its own, past barriers
// (weight_stream.h). A draft is taken to be as long as it may be; where one ends sooner, warps forget what
// was copied for its next step.

#include <type_traits>

#include "attention.h"
#include "pass_ops.h"
#include "program_params.h"
#include "sampling.h"
#include "streamed_product.h"

namespace draftscope::engine::cuda {

/// A block's shared memory between an operation's scratch and the rings. All that operations read of their
/// arguments is here: what lies in device memory, streaming weights may have driven out of the second cache.
struct ProgramBlock {
  CopyBarrier filled[product_slices][max_ring_places];
  WeightStream streams[product_slices];  ///< a stream a warp, as it is between two products
  PassParams pass;
  PassExtent extent;
  PassRow row[max_decode_rows];  ///< from row_begin on, if the pass has no more
  AttentionPlan plan;
  Operation operations[2];  ///< the one that runs, and the next
  std::int32_t row_begin, rows;
  std::int32_t next;
  std::int32_t is_abandoned;  ///< the program ends with an error
};
static_assert(sizeof(ProgramBlock) <= program_state_bytes);

template <typename Format>
class Program {
  using Element = typename Format::Activation;
  using Plain = PlainWeights<Element>;

 public:
  using Params = ProgramParams;
  static constexpr int threads = product_threads;

  DRAFTSCOPE_DEVICE static void run(const ProgramParams& p) {
    if (p.is_draft_step != 0 && p.pass.work.state->stopped != 0) return;
    Program program(p);
    program.begin();
    program.walk();
  }

 private:
  DRAFTSCOPE_DEVICE explicit Program(const ProgramParams& p)
      : p_(p),
        block_(block_at(p.scratch_bytes)),
        tiles_(reinterpret_cast<StreamedTiles*>(shared_memory() + p.scratch_bytes + program_state_bytes)),
        entries_(reinterpret_cast<ProgramEntry*>(tiles_ + p.n_products)) {}

  DRAFTSCOPE_DEVICE static ProgramBlock& block_at(int at) {
    return *reinterpret_cast<ProgramBlock*>(shared_memory() + at);
  }

  /// Brings the launch's arguments into shared memory, and asks for the first weights.
  DRAFTSCOPE_DEVICE void begin() {
    const int warp = thread_index() / warp_threads;
    const int lane = thread_index() % warp_threads;
    if (lane < p_.ring.places) init_barrier(&block_.filled[warp][lane], piece_arrivals);
    for (int i = p_.first + thread_index(); i < p_.last; i += product_threads)
      entries_[i - p_.first] = p_.entries[i];
    for (int i = thread_index(); i < p_.n_products; i += product_threads) {
      const Operation& of = p_.operations[p_.products[i] & entry_place];
      const std::int64_t tile_bytes = of.layout.tile_bytes();
      const int left = of.tiles - block_index();
      tiles_[i] = {of.pieces + block_index() * tile_bytes,
                   left > 0 ? (left + block_count() - 1) / block_count() : 0, of.layout.part_bytes,
                   of.layout.runs, of.layout.slice_runs};
    }
    if (thread_index() == 0) {
      block_.pass = p_.pass;
      block_.row_begin = p_.row_begin;
      block_.rows = p_.rows >= 0 ? p_.rows : p_.pass.work.state->rows - p_.row_begin;
      block_.is_abandoned = 0;
    }
    synchronise();
    WeightStream weights;
    weights.begin(
        {tiles_, p_.n_products, p_.loop_products, p_.draft_length}, block_.filled[warp],
        shared_memory() + p_.scratch_bytes + p_.block_bytes + warp * p_.ring.places * p_.ring.place_bytes,
        p_.ring);
    keep(weights);
  }

  DRAFTSCOPE_DEVICE void walk() {
    int entry = p_.first;
    int steps = 0;
    int turn = 0;
    unsigned met = 0;
    const bool is_timed = p_.timeline.times != nullptr && thread_index() == 0;
    fetch(entry, turn);
    wait_for_copies<0>();
    synchronise();
    // What changes the state may already run in another block.
    if (!changes_rows(block_.operations[turn].kind) && !ends_draft_step(block_.operations[turn].kind))
      bring_state();
    while (true) {
      const int expected = expected_next(entry, steps);
      if (expected < p_.last) fetch(expected, turn ^ 1);
      const std::uint64_t begin_ns = is_timed ? device_clock_ns() : 0;
      const OperationKind kind = block_.operations[turn].kind;
      run_operation(entries_[entry - p_.first], turn);
      wait_for_copies<0>();
      synchronise();
      if (is_timed) note_time(met, entry, begin_ns);
      if (expected >= p_.last) return leave(met);
      if (thread_index() == 0) meet(entry, kind, ++met);
      synchronise();
      if (block_.is_abandoned != 0) return forget();
      const int next = block_.next;
      if (next != expected) {
        if (next >= p_.last) {
          forget();
          return leave(met);
        }
        WeightStream weights = block_.streams[thread_index() / warp_threads];
        weights.end_draft();
        keep(weights);
        fetch(next, turn ^ 1);
        wait_for_copies<0>();
        synchronise();
      }
      // After a draft's last step its end is what changes the state next.
      if (changes_rows(kind) || (ends_draft_step(kind) && next == p_.loop_begin)) bring_state();
      entry = next;
      turn ^= 1;
    }
  }

  /// The entry after one, as long as a draft goes on; `steps` counts those of the draft that were taken.
  [[nodiscard]] DRAFTSCOPE_DEVICE int expected_next(int entry, int& steps) const {
    if (p_.loop_begin == p_.loop_end || entry + 1 != p_.loop_end) return entry + 1;
    return ++steps < p_.draft_length ? p_.loop_begin : entry + 1;
  }

  /// Keeps a warp's stream for the next product.
  DRAFTSCOPE_DEVICE void keep(const WeightStream& weights) const {
    synchronise_lanes();
    if (thread_index() % warp_threads == 0) block_.streams[thread_index() / warp_threads] = weights;
    synchronise_lanes();
  }
  DRAFTSCOPE_DEVICE void forget() const {
    WeightStream weights = block_.streams[thread_index() / warp_threads];
    weights.forget();
  }

  /// Brings what operations read of the pass's state, and plans attention.
  DRAFTSCOPE_DEVICE void bring_state() {
    const PassState& state = *p_.pass.work.state;
    const PassExtent extent = extent_of(state);
    const int rows = extent.rows - p_.row_begin;
    if (rows <= max_decode_rows) {
      constexpr int row_words = sizeof(PassRow) / 4;
      const auto* from = reinterpret_cast<const std::uint32_t*>(state.row + p_.row_begin);
      auto* to = reinterpret_cast<std::uint32_t*>(block_.row);
      for (int i = thread_index(); i < rows * row_words; i += product_threads) to[i] = from[i];
    }
    if (thread_index() == 0) {
      block_.extent = extent;
      block_.plan = plan_attention(block_.rows, p_.pass.model.n_heads / p_.pass.model.n_kv_heads,
                                   extent.max_keys, extent.shared_keys, p_.attention_tiles);
    }
    synchronise();
  }

  /// Notes that this block is done with the launch's `n`-th operation.
  DRAFTSCOPE_DEVICE void note_time(unsigned n, int entry, std::uint64_t begin_ns) const {
    p_.timeline.times[n * static_cast<unsigned>(block_count()) + static_cast<unsigned>(block_index())] = {
        begin_ns, device_clock_ns()};
    if (block_index() == 0) p_.timeline.entries[n] = entry + 1;
  }

  /// Brings the operation of an entry to this block; it is there after the next wait for copies and barrier.
  DRAFTSCOPE_DEVICE void fetch(int entry, int turn) {
    const auto* from =
        reinterpret_cast<const std::byte*>(p_.operations + (entries_[entry - p_.first] & entry_place));
    auto* to = reinterpret_cast<std::byte*>(&block_.operations[turn]);
    const int at = thread_index() * chunk_bytes;
    if (at < static_cast<int>(sizeof(Operation))) begin_copy(to + at, from + at, true);
    end_copy_group();
  }

  /// By one thread: waits until every block is done with an operation, and finds the next one. What it reads
  /// the next operation may write: rows are read after what changes them alone, and a draft's end from a word
  /// of its own.
  DRAFTSCOPE_DEVICE void meet(int entry, OperationKind kind, unsigned met) {
    ProgramState& program = *p_.state;
    (void)arrive(&program.arrivals, 1);
    if (!wait_for_arrivals(&program.arrivals, met * static_cast<unsigned>(block_count()))) {
      block_.is_abandoned = 1;
      if (arrive(&program.failures, 1) != 0) return;
      program.failed_entry = entry + 1;
      program.failed_block = block_index();
      return;
    }
    const PassState& state = *p_.pass.work.state;
    if (changes_rows(kind)) block_.rows = state.rows;
    const bool ends_step = p_.loop_begin != p_.loop_end && entry + 1 == p_.loop_end;
    block_.next = ends_step && state.goes_on != 0 ? p_.loop_begin : entry + 1;
  }

  /// The last block that comes here leaves the counter as it was found.
  DRAFTSCOPE_DEVICE void leave(unsigned met) const {
    if (thread_index() != 0 || met == 0) return;
    const auto all = (met + 1) * static_cast<unsigned>(block_count());
    if (arrive(&p_.state->arrivals, 1) + 1 == all) p_.state->arrivals = 0;
  }

  /// Functions that the compiler looks at by themselves are told where the block's memory is, and make their
  /// view of the pass from it.
  DRAFTSCOPE_DEVICE static PassView view_of(const ProgramBlock& block, const Operation& op,
                                            ProgramEntry entry) {
    const PassState& state = *block.pass.work.state;
    return {block.pass.model,
            block.pass.work,
            op.layer,
            block.row_begin,
            (entry & entry_wants_logits) != 0 ? 1 : 0,
            block.extent,
            block.extent.rows - block.row_begin <= max_decode_rows ? block.row : state.row + block.row_begin};
  }

  DRAFTSCOPE_DEVICE void run_operation(ProgramEntry entry, int turn) {
    const Operation& op = block_.operations[turn];
    const int at = p_.scratch_bytes;
    if (op.pieces == nullptr) return run_small(at, turn);
    if (op.is_plain == 0) return multiply<Format>(at, turn, entry);
    // The head of layers whose activations are bf16 may be in fp16.
    if constexpr (!std::is_same_v<Format, PlainWeights<Bf16>> && std::is_same_v<Element, Bf16>)
      if (op.is_f16 != 0) return multiply<PlainWeights<F16>>(at, turn, entry);
    multiply<Plain>(at, turn, entry);
  }

  /// An operation that is no product.
  DRAFTSCOPE_DEVICE static void run_small(int at, int turn) {
    const ProgramBlock& block = block_at(at);
    const Operation& op = block.operations[turn];
    const PassView view = view_of(block, op, 0);
    switch (op.kind) {
      case OperationKind::load_inputs:
        return op.is_f16 != 0 ? load_inputs<F16>(view) : load_inputs<Bf16>(view);
      case OperationKind::normalise_rows:
        return op.is_f16 != 0 ? normalise_rows<F16>(view, block.rows, op.norm)
                              : normalise_rows<Bf16>(view, block.rows, op.norm);
      case OperationKind::normalise_heads:
        return normalise_heads<Element>(view);
      case OperationKind::attention:
        return visit_attention(view, [&]<int head_dim>() { attend<head_dim>(at, turn); });
      case OperationKind::combine_attention:
        return visit_attention(view, [&]<int head_dim>() { combine<head_dim>(at, turn); });
      case OperationKind::add_outputs:
        return add_outputs(view, op.norm);
      case OperationKind::keep_states:
        return keep_states(view, op.to, op.boundary);
      case OperationKind::finish_head:
        return finish_head(view);
      case OperationKind::warp_rows:
        return run_sampling(at, turn);
      default:
        if (block_index() == 0) run_sampling(at, turn);
    }
  }
  /// A step of a round: but for warp_rows one block's.
  DRAFTSCOPE_DEVICE_CALL static void run_sampling(int at, int turn) {
    const Operation& op = block_at(at).operations[turn];
    const PassView view = view_of(block_at(at), op, 0);
    switch (op.kind) {
      case OperationKind::finish_draft_step:
        return finish_draft_step(view);
      case OperationKind::finish_sampled_step:
        return finish_sampled_step(view);
      case OperationKind::begin_last_token:
        return begin_last_token(view);
      case OperationKind::begin_verification:
        return begin_verification(view);
      case OperationKind::judge_draft:
        return judge_draft(view);
      default:
        return warp_rows(view);
    }
  }
  template <int head_dim>
  DRAFTSCOPE_DEVICE_CALL static void attend(int at, int turn) {
    const ProgramBlock& block = block_at(at);
    Attention<Element, head_dim>::run(view_of(block, block.operations[turn], 0), block.plan);
  }
  template <int head_dim>
  DRAFTSCOPE_DEVICE_CALL static void combine(int at, int turn) {
    const ProgramBlock& block = block_at(at);
    AttentionCombine<Element, head_dim>::run(view_of(block, block.operations[turn], 0), block.plan);
  }

  template <typename Visit>
  DRAFTSCOPE_DEVICE static void visit_attention(const PassView& view, const Visit& visit) {
    switch (view.model.head_dim) {
      case 32:
        return visit.template operator()<32>();
      case 64:
        return visit.template operator()<64>();
      case 96:
        return visit.template operator()<96>();
      default:
        return visit.template operator()<128>();
    }
  }

  /// First row of a product's turn, counted from row_begin.
  DRAFTSCOPE_DEVICE static int first_of_turn(ProgramEntry entry) {
    return (entry & entry_upper_rows) != 0 ? max_product_rows : 0;
  }
  /// Rows of a product's turn; none or fewer if a round has fewer than it might have.
  DRAFTSCOPE_DEVICE static int rows_of_turn(const ProgramBlock& block, ProgramEntry entry) {
    const int left = block.rows - first_of_turn(entry);
    return left < max_product_rows ? left : max_product_rows;
  }

  template <typename Weights>
  DRAFTSCOPE_DEVICE void multiply(int at, int turn, ProgramEntry entry) {
    const int rows = rows_of_turn(block_, entry);
    if (rows <= 8)
      multiply_rows<Weights, 1>(at, turn, entry);
    else if (rows <= 16)
      multiply_rows<Weights, 2>(at, turn, entry);
    else
      multiply_rows<Weights, 4>(at, turn, entry);
  }

  template <typename Weights, int column_tiles>
  DRAFTSCOPE_DEVICE_CALL static void multiply_rows(int at, int turn, ProgramEntry entry) {
    ProgramBlock& block = block_at(at);
    const Operation& op = block.operations[turn];
    const PassView view = view_of(block, op, entry);
    const int rows = rows_of_turn(block, entry);
    const std::int64_t first_row = view.row_begin + first_of_turn(entry);
    WeightStream weights = block.streams[thread_index() / warp_threads];  // in registers
    const Workspace& work = view.work;
    if (op.kind == OperationKind::qkv && thread_index() / warp_threads == product_slices - 1)
      fetch_cache(view);
    const StreamedJob job{op.layout, op.tiles, op.depth, rows};
    const std::byte* first = nullptr;
    std::int64_t row_bytes = std::int64_t{op.depth} * 2;
    if (op.kind == OperationKind::output) {
      first = reinterpret_cast<const std::byte*>(work.attended) + first_row * row_bytes;
    } else if (op.kind == OperationKind::down) {
      first = reinterpret_cast<const std::byte*>(work.gated) + first_row * row_bytes;
    } else if ((entry & entry_reads_normed) != 0) {
      first = reinterpret_cast<const std::byte*>(work.normed) + first_row * row_bytes;
    } else {
      std::byte* const staged = shared_memory() + streamed_partial_bytes;
      row_bytes = staged_row_bytes(op.depth);
      const RowNorm<typename Weights::Activation> norm(norm_weights(view, op.norm), op.depth,
                                                       view.model.rms_epsilon);
      // The slices' sums' memory, which nothing needs yet.
      norm.bring(
          rows, reinterpret_cast<float*>(shared_memory()),
          [&](int row) { return work.residual + (first_row + row) * op.depth; },
          [&](int row) { return reinterpret_cast<std::uint32_t*>(staged + row * row_bytes); });
      synchronise();
      first = staged;
    }
    StreamedProduct<Weights, column_tiles>::run(
        job, weights, [&](int column) { return first + column * row_bytes; },
        [&](int tile, int r, int column, bool present, float upper, float lower) {
          finish<Weights>(at, turn, entry, {tile, r, column, present, upper, lower});
        });
    synchronise_lanes();
    if (thread_index() % warp_threads == 0) block.streams[thread_index() / warp_threads] = weights;
  }

  /// Output r of both halves of a tile for one row (product_ops.h).
  struct Finished {
    int tile, r, column;
    bool present;
    float upper, lower;
  };
  /// Makes its view of the pass anew: what it reads takes no registers while pieces are multiplied.
  template <typename Weights>
  DRAFTSCOPE_DEVICE static void finish(int at, int turn, ProgramEntry entry, const Finished& sums) {
    const ProgramBlock& block = block_at(at);
    const Operation& op = block.operations[turn];
    const PassView view = view_of(block, op, entry);
    const auto& [tile, r, column, present, upper, lower] = sums;
    const int row = view.row_begin + first_of_turn(entry) + column;
    switch (op.kind) {
      case OperationKind::qkv:
        return finish_qkv<Weights>(view, tile, r, row, present, upper, lower);
      case OperationKind::output:
        return ResidualOp<Weights>::add(view, op.layer.o, tile, r, row, present, upper, lower);
      case OperationKind::gate_up:
        return GateUpOp<Weights>::finish(view, tile, r, row, present, upper, lower);
      case OperationKind::down:
        return ResidualOp<Weights>::add(view, op.layer.down, tile, r, row, present, upper, lower);
      default:
        return HeadOp<Weights>::finish(view, tile, r, row, present, upper, lower);
    }
  }

  /// Asks that the keys and values which attention is about to read be brought into the second cache, while
  /// memory has time for them. By a warp of each block.
  DRAFTSCOPE_DEVICE static void fetch_cache(const PassView& view) {
    const KeyRun keys = view.row[0].keys;
    const int row_bytes = view.model.head_dim * static_cast<int>(sizeof(std::uint16_t));
    const int runs = (keys.end - keys.begin + warp_keys - 1) / warp_keys;
    const int planes = 2 * view.model.n_kv_heads;
    for (int i = block_index() + thread_index() % warp_threads * block_count(); i < runs * planes;
         i += block_count() * warp_threads) {
      const int plane = i % planes;
      const int first = keys.begin + i / planes * warp_keys;
      const int rows = keys.end - first < warp_keys ? keys.end - first : warp_keys;
      const auto* const from =
          reinterpret_cast<const std::byte*>(plane % 2 == 0 ? view.layer.keys : view.layer.values);
      begin_fetch(from + (std::int64_t{plane / 2} * view.model.cache_rows + first) * row_bytes,
                  static_cast<unsigned>(rows * row_bytes));
    }
  }

  /// Heads of a product that has some of a layer's are counted among all.
  template <typename Weights>
  DRAFTSCOPE_DEVICE static void finish_qkv(const PassView& view, int tile, int r, int row, bool present,
                                           float upper, float lower) {
    if constexpr (std::is_same_v<Weights, PlainWeights<Bf16>>)
      if (view.layer.q.is_beside != 0 || view.layer.k.is_beside != 0 || view.layer.v.is_beside != 0)
        return QkvOp<PlainBesideGroups>::finish(view, tile, r, row, present, upper, lower);
    QkvOp<Weights>::finish(view, tile, r, row, present, upper, lower);
  }

  const ProgramParams& p_;
  ProgramBlock& block_;
  StreamedTiles* tiles_;   ///< [products of the launch]
  ProgramEntry* entries_;  ///< those of the launch
};

}  // namespace draftscope::engine::cuda

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

/// A block's shared memory beside an operation's scratch and the rings.
struct ProgramBlock {
  CopyBarrier filled[product_slices][max_ring_places];
  Operation operations[2];  ///< the one that runs, and the next
  std::int32_t rows;
  std::int32_t next;
  std::int32_t is_abandoned;  ///< the program ends with an error
  alignas(16) ProgramEntry entries[max_program_entries];
};

static_assert(sizeof(ProgramBlock) <= program_block_bytes);

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
    ProgramBlock& block = program.block_;
    const int warp = thread_index() / warp_threads;
    if (thread_index() % warp_threads < p.ring.places)
      init_barrier(&block.filled[warp][thread_index() % warp_threads], piece_arrivals);
    for (int i = p.first + thread_index(); i < p.last; i += product_threads) block.entries[i] = p.entries[i];
    if (thread_index() == 0) {
      block.rows = p.rows >= 0 ? p.rows : p.pass.work.state->rows - p.row_begin;
      block.is_abandoned = 0;
    }
    synchronise();
    const StreamedProgram streamed{p.operations, block.entries, p.last,
                                   p.loop_begin, p.loop_end,    p.draft_length};
    WeightStream weights(streamed, block.filled[warp],
                         program.rings_ + warp * p.ring.places * p.ring.place_bytes, p.ring);
    program.walk(streamed, weights);
  }

 private:
  DRAFTSCOPE_DEVICE explicit Program(const ProgramParams& p)
      : p_(p),
        block_(*reinterpret_cast<ProgramBlock*>(shared_memory() + p.scratch_bytes)),
        rings_(shared_memory() + p.scratch_bytes + program_block_bytes) {}

  DRAFTSCOPE_DEVICE void walk(const StreamedProgram& program, WeightStream& weights) {
    int entry = p_.first;
    int steps = 0;
    int turn = 0;
    unsigned met = 0;
    const bool is_timed = p_.timeline.times != nullptr && thread_index() == 0;
    weights.begin(entry);
    fetch(program, entry, turn);
    wait_for_copies<0>();
    synchronise();
    while (true) {
      const int expected = program.expected_next(entry, steps);
      if (expected < p_.last) fetch(program, expected, turn ^ 1);
      const std::uint64_t begin_ns = is_timed ? device_clock_ns() : 0;
      run_operation(block_.operations[turn], block_.entries[entry], weights);
      wait_for_copies<0>();
      synchronise();
      if (is_timed) note_time(met, entry, begin_ns);
      if (expected >= p_.last) return leave(met);
      if (thread_index() == 0) meet(entry, block_.operations[turn].kind, ++met);
      synchronise();
      if (block_.is_abandoned != 0) return weights.forget();
      const int next = block_.next;
      if (next != expected) {
        if (next >= p_.last) {
          weights.forget();
          return leave(met);
        }
        weights.redirect(next);
        fetch(program, next, turn ^ 1);
        wait_for_copies<0>();
        synchronise();
      }
      entry = next;
      turn ^= 1;
    }
  }

  /// Notes that this block is done with the launch's `n`-th operation.
  DRAFTSCOPE_DEVICE void note_time(unsigned n, int entry, std::uint64_t begin_ns) const {
    p_.timeline.times[n * static_cast<unsigned>(block_count()) + static_cast<unsigned>(block_index())] = {
        begin_ns, device_clock_ns()};
    if (block_index() == 0) p_.timeline.entries[n] = entry + 1;
  }

  /// Brings the operation of an entry to this block; it is there after the next wait for copies and barrier.
  DRAFTSCOPE_DEVICE void fetch(const StreamedProgram& program, int entry, int turn) {
    const auto* from = reinterpret_cast<const std::byte*>(&program.operation(entry));
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

  DRAFTSCOPE_DEVICE void run_operation(const Operation& op, ProgramEntry entry, WeightStream& weights) {
    const PassView view{p_.pass.model, p_.pass.work, op.layer, p_.row_begin,
                        (entry & entry_wants_logits) != 0 ? 1 : 0};
    if (op.pieces == nullptr) return run_small(view, op, block_.rows, p_.attention_tiles);
    if (op.is_plain == 0) return multiply<Format>(view, op, entry, weights);
    // The head of layers whose activations are bf16 may be in fp16.
    if constexpr (!std::is_same_v<Format, PlainWeights<Bf16>> && std::is_same_v<Element, Bf16>)
      if (op.is_f16 != 0) return multiply<PlainWeights<F16>>(view, op, entry, weights);
    multiply<Plain>(view, op, entry, weights);
  }

  /// An operation that is no product.
  DRAFTSCOPE_DEVICE static void run_small(const PassView& view, const Operation& op, int rows, int tiles) {
    switch (op.kind) {
      case OperationKind::load_inputs:
        return op.is_f16 != 0 ? load_inputs<F16>(view) : load_inputs<Bf16>(view);
      case OperationKind::normalise_rows:
        return op.is_f16 != 0 ? normalise_rows<F16>(view, rows, op.norm)
                              : normalise_rows<Bf16>(view, rows, op.norm);
      case OperationKind::normalise_heads:
        return normalise_heads<Element>(view);
      case OperationKind::attention:
        return visit_attention(view, [&]<int head_dim>() { attend<head_dim>(view, rows, tiles); });
      case OperationKind::combine_attention:
        return visit_attention(view, [&]<int head_dim>() { combine<head_dim>(view, rows, tiles); });
      case OperationKind::add_outputs:
        return add_outputs(view, op.norm);
      case OperationKind::keep_states:
        return keep_states(view, op.to, op.boundary);
      case OperationKind::finish_head:
        return finish_head(view);
      case OperationKind::warp_rows:
        return run_sampling(view, op.kind);
      default:
        if (block_index() == 0) run_sampling(view, op.kind);
    }
  }
  /// A step of a round: but for warp_rows one block's.
  DRAFTSCOPE_DEVICE_CALL static void run_sampling(const PassView& view, OperationKind kind) {
    switch (kind) {
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
  DRAFTSCOPE_DEVICE_CALL static void attend(const PassView& view, int rows, int tiles) {
    Attention<Element, head_dim>::run(view, rows, tiles);
  }
  template <int head_dim>
  DRAFTSCOPE_DEVICE_CALL static void combine(const PassView& view, int rows, int tiles) {
    AttentionCombine<Element, head_dim>::run(view, rows, tiles);
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

  template <typename Weights>
  DRAFTSCOPE_DEVICE void multiply(const PassView& view, const Operation& op, ProgramEntry entry,
                                  WeightStream& weights) {
    const int rows = block_.rows;
    if (rows <= 8)
      multiply_rows<Weights, 1>(view, op, entry, rows, weights);
    else if (rows <= 16)
      multiply_rows<Weights, 2>(view, op, entry, rows, weights);
    else if (rows <= 32)
      multiply_rows<Weights, 4>(view, op, entry, rows, weights);
    else
      multiply_rows<Weights, 8>(view, op, entry, rows, weights);
  }

  template <typename Weights, int column_tiles>
  DRAFTSCOPE_DEVICE_CALL static void multiply_rows(const PassView& view, const Operation& op,
                                                   ProgramEntry entry, int rows, WeightStream& stream) {
    WeightStream weights = stream;  // in registers
    const Workspace& work = view.work;
    const StreamedJob job{op.layout, op.tiles, op.depth, rows};
    const std::byte* first = nullptr;
    std::int64_t row_bytes = std::int64_t{op.depth} * 2;
    if (op.kind == OperationKind::output) {
      first = reinterpret_cast<const std::byte*>(work.attended) + view.row_begin * row_bytes;
    } else if (op.kind == OperationKind::down) {
      first = reinterpret_cast<const std::byte*>(work.gated) + view.row_begin * row_bytes;
    } else if ((entry & entry_reads_normed) != 0) {
      first = reinterpret_cast<const std::byte*>(work.normed) + view.row_begin * row_bytes;
    } else {
      std::byte* const staged = shared_memory() + streamed_partial_bytes;
      row_bytes = staged_row_bytes(op.depth);
      const RowNorm<typename Weights::Activation> norm(norm_weights(view, op.norm), op.depth,
                                                       view.model.rms_epsilon);
      // The slices' sums' memory, which nothing needs yet.
      norm.bring(
          rows, reinterpret_cast<float*>(shared_memory()),
          [&](int row) { return work.residual + (std::int64_t{view.row_begin} + row) * op.depth; },
          [&](int row) { return reinterpret_cast<std::uint32_t*>(staged + row * row_bytes); });
      synchronise();
      first = staged;
    }
    StreamedProduct<Weights, column_tiles>::run(
        job, weights, [&](int column) { return first + column * row_bytes; },
        [&](int tile, int r, int column, bool present, float upper, float lower) {
          const int row = view.row_begin + column;
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
        });
    stream = weights;
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
  std::byte* rings_;  ///< of each warp
};

}  // namespace draftscope::engine::cuda

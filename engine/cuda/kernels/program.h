// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A pass or a round as one kernel. One block per multiprocessor walks a program, a list of operations in
// device memory. All blocks are resident (a cooperative launch) and synchronise after each operation. An
// entry of the list takes the place of a launch: which sublayers run, up to where, on which weights and for
// which rows is data.
//
//   Operation   a sublayer's product, attention, a norm or a step of a round, with all that it needs of its
//               layer. A model's operations are written once
//   Program     an ordered list of operations by their places. The first ones, up to loop_end, may be a draft
//               step, which is repeated until the draft ends; there is no other loop
//   Plain path  the same operations with one launch each: a program of which a launch runs one entry. Parts
//               of a wide pass are launched like this, too. So is a round, in parts, if no kernel has code
//               for all of its weights (program_runner.h)
//
// Each of a block's eight warps has the weights of all products copied into its own ring, across barriers
// (weight_stream.h). A draft is assumed to have its maximum length; if it ends earlier, warps discard what
// was copied for its next step.

#include <type_traits>

#include "attention.h"
#include "pass_ops.h"
#include "program_params.h"
#include "sampling.h"
#include "streamed_product.h"

namespace draftscope::engine::cuda {

/// How far a block has come. One thread writes it between two barriers of the block.
struct Walk {
  std::int32_t entry;
  std::int32_t expected;        ///< The next entry, as long as a draft goes on.
  std::int32_t turn;            ///< Index in ProgramBlock::operations of the entry's operation.
  unsigned met;                 ///< Operations before this one.
  std::int32_t is_as_expected;  ///< Whether the entry is the one that was expected.
  std::int32_t changed_state;   ///< Whether the previous operation changed the state.
  std::int32_t is_over;
  std::uint64_t begin_ns;  ///< Start of the operation, if it is timed.
};

/// A block's shared memory between an operation's scratch and the rings. It includes all arguments that
/// operations read, because streaming weights may evict device memory from the L2 cache.
struct ProgramBlock {
  CopyBarrier filled[product_slices][max_ring_places];
  StreamedProducts products;
  WeightStream streams[product_slices];  ///< One stream per warp, as it is between two products.
  ProgramParams p;
  PassExtent extent;
  PassRow row[max_decode_rows];  ///< Rows from row_begin on, if the pass has no more than fit.
  AttentionPlan plan;
  Operation operations[2];  ///< The running operation and the next one.
  std::int32_t rows;
  Walk walk;
};
static_assert(sizeof(ProgramBlock) <= program_state_bytes);

template <typename Format>
class Program {
  using Element = typename Format::Activation;
  using Plain = PlainWeights<Element>;
  static constexpr int max_parts = std::is_same_v<Format, Plain> ? max_copied_parts : max_copied_code_parts;

 public:
  using Params = ProgramParams;
  static constexpr int threads = product_threads;

  DRAFTSCOPE_DEVICE static void run(const ProgramParams& p) {
    if (p.is_draft_step != 0 && p.pass.work.state->stopped != 0) return;
    const int at = p.scratch_bytes;
    begin(p, at);
    do run_operation(at);
    while (end_operation(at));
    forget(at);
  }

 private:
  // Functions that are compiled separately (DRAFTSCOPE_DEVICE_CALL) get the offset of the block in shared
  // memory. Between two operations no other value stays in a register, since operations need them all.

  DRAFTSCOPE_DEVICE static ProgramBlock& block_at(int at) {
    return *reinterpret_cast<ProgramBlock*>(shared_memory() + at);
  }
  /// [products of the launch], after the block
  DRAFTSCOPE_DEVICE static StreamedTiles* products_of(ProgramBlock& block) {
    return reinterpret_cast<StreamedTiles*>(reinterpret_cast<std::byte*>(&block) + program_state_bytes);
  }
  /// [entry − first], the entries of the launch, after the products
  DRAFTSCOPE_DEVICE static ProgramEntry* entries_of(ProgramBlock& block, int n_products) {
    return reinterpret_cast<ProgramEntry*>(products_of(block) + n_products);
  }
  DRAFTSCOPE_DEVICE static ProgramEntry entry_of(ProgramBlock& block, int entry) {
    return entries_of(block, block.p.n_products)[entry - block.p.first];
  }

  /// Loads the launch's arguments and its first operation into shared memory, and requests the first weights.
  DRAFTSCOPE_DEVICE static void begin(const ProgramParams& p, int at) {
    ProgramBlock& block = block_at(at);
    const int warp = thread_index() / warp_threads;
    const int lane = thread_index() % warp_threads;
    if (lane < p.ring.places) init_barrier(&block.filled[warp][lane], piece_arrivals);
    for (int i = p.first + thread_index(); i < p.last; i += product_threads)
      entries_of(block, p.n_products)[i - p.first] = p.entries[i];
    for (int i = thread_index(); i < p.n_products; i += product_threads) {
      const ProgramEntry entry = p.products[i];
      const Operation& of = p.operations[entry & entry_place];
      const int together = (entry & entry_two_tiles) != 0 ? 2 : 1;
      const int left = of.tiles / together - block_index();
      products_of(block)[i] = {of.pieces + std::int64_t{block_index()} * together * of.layout.tile_bytes(),
                               left > 0 ? (left + block_count() - 1) / block_count() : 0,
                               static_cast<std::int16_t>(together),
                               static_cast<std::int16_t>(of.layout.slice_runs),
                               of.layout.runs,
                               of.layout.part_bytes};
    }
    if (thread_index() == 0) {
      block.p = p;
      block.products = {WeightStream::place_in_shared(products_of(block)), p.n_products, p.loop_products,
                        p.draft_length};
      block.rows = p.rows >= 0 ? p.rows : p.pass.work.state->rows - p.row_begin;
      block.walk = {.entry = p.first};
      if (p.timeline.times != nullptr) block.walk.begin_ns = device_clock_ns();
    }
    synchronise();
    WeightStream weights;
    weights.begin(&block.products, block.filled[warp],
                  shared_memory() + at + p.block_bytes + warp * p.ring.places * p.ring.place_bytes, p.ring);
    weights.keep(stream_of(block));
    fetch(block, p.first, 0);
    wait_for_copies<0>();
    synchronise();
    // An operation that changes the state may already run in another block.
    const OperationKind first = block.operations[0].kind;
    if (!changes_rows(first) && !ends_draft_step(first)) bring_state(block);
    fetch_expected(block);
  }

  /// Ends an operation. Returns whether there is another one.
  DRAFTSCOPE_DEVICE_CALL static bool end_operation(int at) {
    ProgramBlock& block = block_at(at);
    wait_for_copies<0>();
    synchronise();
    if (thread_index() == 0) meet(block);
    synchronise();
    if (block.walk.is_over != 0) return false;
    if (block.walk.is_as_expected == 0) {
      end_draft(at);
      fetch(block, block.walk.entry, block.walk.turn);
      wait_for_copies<0>();
      synchronise();
    }
    if (block.walk.changed_state != 0) bring_state(block);
    fetch_expected(block);
    return true;
  }
  /// Finds and loads the operation that is expected after the one that is about to run.
  DRAFTSCOPE_DEVICE static void fetch_expected(ProgramBlock& block) {
    const int expected = expected_next(block);
    if (thread_index() == 0) block.walk.expected = expected;
    if (expected < block.p.last) fetch(block, expected, block.walk.turn ^ 1);
  }

  /// The next entry, as long as a draft goes on.
  [[nodiscard]] DRAFTSCOPE_DEVICE static int expected_next(const ProgramBlock& block) {
    const ProgramParams& p = block.p;
    const Walk& walk = block.walk;
    const bool ends_step = walk.entry + 1 == p.loop_end;
    const auto of_draft = static_cast<unsigned>((p.loop_end - p.first) * p.draft_length);
    return ends_step && walk.met + 1 < of_draft ? p.first : walk.entry + 1;
  }

  /// The stream of the calling thread's warp.
  DRAFTSCOPE_DEVICE static WeightStream& stream_of(ProgramBlock& block) {
    return block.streams[thread_index() / warp_threads];
  }
  /// Drops the pieces that were requested for draft steps that were not taken.
  DRAFTSCOPE_DEVICE_CALL static void end_draft(int at) {
    WeightStream weights = stream_of(block_at(at));
    weights.end_draft();
    weights.keep(stream_of(block_at(at)));
  }
  /// Waits for copies in flight, after the draft or the program ended earlier than it might have.
  DRAFTSCOPE_DEVICE_CALL static void forget(int at) {
    WeightStream weights = stream_of(block_at(at));
    weights.forget();
  }

  /// Loads the state of the pass that operations read, and plans attention.
  DRAFTSCOPE_DEVICE static void bring_state(ProgramBlock& block) {
    const ProgramParams& p = block.p;
    const DeviceModel& model = p.pass.model;
    const PassState& state = *p.pass.work.state;
    const PassExtent extent = extent_of(state);
    const int rows = extent.rows - p.row_begin;
    if (rows <= max_decode_rows) {
      constexpr int row_words = sizeof(PassRow) / 4;
      const auto* from = reinterpret_cast<const std::uint32_t*>(state.row + p.row_begin);
      auto* to = reinterpret_cast<std::uint32_t*>(block.row);
      for (int i = thread_index(); i < rows * row_words; i += product_threads) to[i] = from[i];
    }
    if (thread_index() == 0) {
      block.extent = extent;
      block.plan = plan_attention(block.rows, model.n_heads / model.n_kv_heads, extent.max_keys,
                                  extent.shared_keys, p.attention_tiles);
    }
    synchronise();
  }

  /// Starts to copy an entry's operation to this block; it has arrived after the next wait for copies and
  /// barrier.
  DRAFTSCOPE_DEVICE static void fetch(ProgramBlock& block, int entry, int turn) {
    const auto* from =
        reinterpret_cast<const std::byte*>(block.p.operations + (entry_of(block, entry) & entry_place));
    auto* to = reinterpret_cast<std::byte*>(&block.operations[turn]);
    const int at = thread_index() * chunk_bytes;
    if (at < static_cast<int>(sizeof(Operation))) begin_copy(to + at, from + at, true);
    end_copy_group();
  }

  /// Records when this block finished an operation.
  DRAFTSCOPE_DEVICE static void note_time(const ProgramBlock& block) {
    const Timeline& timeline = block.p.timeline;
    const Walk& walk = block.walk;
    timeline.times[walk.met * static_cast<unsigned>(block_count()) + static_cast<unsigned>(block_index())] = {
        walk.begin_ns, device_clock_ns()};
    if (block_index() == 0) timeline.entries[walk.met] = walk.entry + 1;
  }

  /// Called by one thread: waits until every block has finished an operation, and finds the next one. The
  /// next operation may write to the state concurrently. So rows are read only after an operation that
  /// changes them, and the end of a draft has its own word.
  DRAFTSCOPE_DEVICE static void meet(ProgramBlock& block) {
    const ProgramParams& p = block.p;
    Walk& walk = block.walk;
    if (p.timeline.times != nullptr) note_time(block);
    if (walk.expected >= p.last) return leave(block);
    ++walk.met;
    ProgramState& program = *p.state;
    (void)arrive(&program.arrivals, 1);
    if (!wait_for_arrivals(&program.arrivals, walk.met * static_cast<unsigned>(block_count()))) {
      walk.is_over = 1;
      if (arrive(&program.failures, 1) != 0) return;
      program.failed_entry = walk.entry + 1;
      program.failed_block = block_index();
      return;
    }
    const OperationKind kind = block.operations[walk.turn].kind;
    const PassState& state = *p.pass.work.state;
    if (changes_rows(kind)) block.rows = state.rows;
    const bool goes_back = walk.entry + 1 == p.loop_end && state.goes_on != 0;
    walk.entry = goes_back ? p.first : walk.entry + 1;
    if (walk.entry >= p.last) return leave(block);
    walk.turn ^= 1;
    walk.is_as_expected = walk.entry == walk.expected ? 1 : 0;
    // After a draft's last step, the end of the draft is the next operation that changes the state.
    walk.changed_state = changes_rows(kind) || (ends_draft_step(kind) && goes_back) ? 1 : 0;
    if (p.timeline.times != nullptr) walk.begin_ns = device_clock_ns();
  }

  /// Ends a program. The last block to arrive restores the counter to its initial value.
  DRAFTSCOPE_DEVICE static void leave(ProgramBlock& block) {
    Walk& walk = block.walk;
    walk.is_over = 1;
    if (walk.met == 0) return;
    ProgramState& program = *block.p.state;
    const auto all = (walk.met + 1) * static_cast<unsigned>(block_count());
    if (arrive(&program.arrivals, 1) + 1 == all) program.arrivals = 0;
  }

  DRAFTSCOPE_DEVICE static PassView view_of(const ProgramBlock& block, const Operation& op,
                                            ProgramEntry entry) {
    const ProgramParams& p = block.p;
    return {p.pass.model,
            p.pass.work,
            op.layer,
            p.row_begin,
            (entry & entry_wants_logits) != 0 ? 1 : 0,
            block.extent,
            block.extent.rows - p.row_begin <= max_decode_rows ? block.row
                                                               : p.pass.work.state->row + p.row_begin};
  }

  DRAFTSCOPE_DEVICE static void run_operation(int at) {
    ProgramBlock& block = block_at(at);
    const int turn = block.walk.turn;
    const ProgramEntry entry = entry_of(block, block.walk.entry);
    if (block.operations[turn].pieces == nullptr) return run_small(at, turn);
    if ((entry & entry_two_tiles) == 0) return multiply<1>(at, turn, entry);
    if (rows_of_turn(block, entry) <= 2 * mma_rows) return multiply<2>(at, turn, entry);
    multiply<4>(at, turn, entry);
  }

  /// Runs an operation that is not a product.
  DRAFTSCOPE_DEVICE_CALL static void run_small(int at, int turn) {
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
  /// Runs a step of a round. All kinds except for warp_rows are run by one block.
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

  /// The first row that a product takes in this turn, counted from row_begin.
  DRAFTSCOPE_DEVICE static int first_of_turn(ProgramEntry entry) {
    return (entry & entry_upper_rows) != 0 ? max_product_rows : 0;
  }
  /// Number of rows that a product takes in this turn: fewer, or none, if a round has fewer rows than it
  /// might have.
  DRAFTSCOPE_DEVICE static int rows_of_turn(const ProgramBlock& block, ProgramEntry entry) {
    const int left = block.rows - first_of_turn(entry);
    return left < max_product_rows ? left : max_product_rows;
  }

  /// Both kinds of weights share a function: more functions would spill each other's registers to memory.
  template <int column_tiles>
  DRAFTSCOPE_DEVICE_CALL static void multiply(int at, int turn, ProgramEntry entry) {
    ProgramBlock& block = block_at(at);
    const Operation& op = block.operations[turn];
    const PassView view = view_of(block, op, entry);
    const int rows = rows_of_turn(block, entry);
    const std::int64_t first_row = view.row_begin + first_of_turn(entry);
    const Workspace& work = view.work;
    if (op.kind == OperationKind::qkv && thread_index() / warp_threads == product_slices - 1)
      fetch_cache(view);
    const auto row_of = [&](const std::uint16_t* rows_of_all) {
      return reinterpret_cast<const std::byte*>(rows_of_all + first_row * op.depth);
    };
    StreamedJob job{op.layout, op.tiles, op.depth, rows, nullptr, op.depth * 2};
    if (op.kind == OperationKind::output) {
      job.first_row = row_of(work.attended);
    } else if (op.kind == OperationKind::down) {
      job.first_row = row_of(work.gated);
    } else if ((entry & entry_reads_normed) != 0) {
      job.first_row = row_of(work.normed);
    } else {
      std::byte* const staged = shared_memory() + streamed_partial_bytes;
      job.row_bytes = staged_row_bytes(op.depth);
      const RowNorm<Element> norm(norm_weights(view, op.norm), op.depth, view.model.rms_epsilon);
      // This memory is for the slices' sums and is not in use yet.
      norm.bring(
          rows, reinterpret_cast<float*>(shared_memory()),
          [&](int row) { return work.residual + (first_row + row) * op.depth; },
          [&](int row) { return reinterpret_cast<std::uint32_t*>(staged + row * job.row_bytes); });
      synchronise();
      job.first_row = staged;
    }
    if (op.is_plain != 0)
      multiply_with<Plain, column_tiles>(job, at, turn, entry);
    else if constexpr (!std::is_same_v<Format, Plain>)
      multiply_with<Format, column_tiles>(job, at, turn, entry);
  }
  template <typename Weights, int column_tiles>
  DRAFTSCOPE_DEVICE static void multiply_with(const StreamedJob& job, int at, int turn, ProgramEntry entry) {
    StreamedProduct<Weights, column_tiles, max_parts>::run(job, stream_of(block_at(at)),
                                                           ProductEnds<Weights>{at, turn, entry});
  }

  /// The ends of a product's tiles (streamed_product.h, product_ops.h). Each function makes a new view of the
  /// pass, so that it takes no registers while pieces are multiplied.
  template <typename Weights>
  struct ProductEnds {
    int at, turn;
    ProgramEntry entry;

    DRAFTSCOPE_DEVICE Early bring(int tile, int r, int column) const {
      const ProgramBlock& block = block_at(at);
      const Operation& op = block.operations[turn];
      const PassView view = view_of(block, op, entry);
      const int row = view.row_begin + first_of_turn(entry) + column;
      if (op.kind == OperationKind::qkv)
        return visit_qkv<Weights>(view, [&](auto of) { return decltype(of)::bring(view, tile, r, row); });
      if (op.kind == OperationKind::output || op.kind == OperationKind::down)
        return ResidualOp<Weights>::bring(view, tile, r, row);
      return {};
    }
    DRAFTSCOPE_DEVICE void finish(int tile, int r, int column, bool present, float upper, float lower,
                                  const Early& early) const {
      const ProgramBlock& block = block_at(at);
      const Operation& op = block.operations[turn];
      const PassView view = view_of(block, op, entry);
      const int row = view.row_begin + first_of_turn(entry) + column;
      switch (op.kind) {
        case OperationKind::qkv:
          return visit_qkv<Weights>(
              view, [&](auto of) { decltype(of)::finish(view, tile, r, row, present, upper, lower, early); });
        case OperationKind::output:
          return ResidualOp<Weights>::add(view, op.layer.o, tile, r, row, present, upper, lower, early);
        case OperationKind::gate_up:
          return GateUpOp<Weights>::finish(view, tile, r, row, present, upper, lower);
        case OperationKind::down:
          return ResidualOp<Weights>::add(view, op.layer.down, tile, r, row, present, upper, lower, early);
        default:
          return HeadOp<Weights>::finish(view, tile, r, row, present, upper, lower);
      }
    }
  };

  /// Visits the qkv product. If only some of a layer's heads are in a product, they are still counted over
  /// all heads.
  template <typename Weights, typename Visit>
  DRAFTSCOPE_DEVICE static auto visit_qkv(const PassView& view, const Visit& visit) {
    if constexpr (std::is_same_v<Weights, PlainWeights<Bf16>>)
      if (view.layer.q.is_beside != 0 || view.layer.k.is_beside != 0 || view.layer.v.is_beside != 0)
        return visit(QkvOp<PlainBesideGroups>());
    return visit(QkvOp<Weights>());
  }

  /// Prefetches the keys and values that attention is about to read into the L2 cache, while memory has time.
  /// Called by a warp of each block.
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
};

}  // namespace draftscope::engine::cuda

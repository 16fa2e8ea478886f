// SPDX-License-Identifier: GPL-3.0-or-later
#include "program_runner.h"

#include <draftscope/base/to_size.h>
#include <algorithm>
#include <utility>

#include "kernels/launch_shape.h"

namespace draftscope::engine::cuda {

namespace {

constexpr std::int32_t alignment = 128;

std::int32_t rounded(std::size_t bytes) {
  return static_cast<std::int32_t>((bytes + alignment - 1) / alignment * alignment);
}

bool is_plain(WeightFormat format) {
  return format == WeightFormat::bf16 || format == WeightFormat::f16;
}

PieceLayout layout_of(WeightFormat format, std::int32_t depth) {
  switch (format) {
    case WeightFormat::fp8:
      return piece_layout(depth, 64, 0);
    case WeightFormat::q8_0:
    case WeightFormat::fp8_block:
      return piece_layout(depth, 64, 1);
    case WeightFormat::q4_0:
      return piece_layout(depth, 128, 2);
    case WeightFormat::q4_k:
      return piece_layout(depth, 128, 3);
    case WeightFormat::int4:
    case WeightFormat::int4_f16:
      return piece_layout(depth, 128, 1);
    default:
      return piece_layout(depth, 32, 0);
  }
}

/// Outputs of a layer's product that are in one format.
std::int32_t outputs_in(const speculation::ModelShape& shape, const DeviceLayer& layer, OperationKind product,
                        bool plain) {
  const auto of = [&](const DeviceMatrix& matrix, std::int32_t outputs) {
    return (plain ? matrix.plain : matrix.data) != nullptr ? outputs : 0;
  };
  switch (product) {
    case OperationKind::qkv:
      return of(layer.q, shape.q_width()) + of(layer.k, shape.kv_width()) + of(layer.v, shape.kv_width());
    case OperationKind::output:
      return of(layer.o, shape.d_model);
    case OperationKind::gate_up:
      return of(layer.gate, 2 * shape.d_ff);
    default:
      return of(layer.down, shape.d_model);
  }
}

std::int32_t depth_of(const speculation::ModelShape& shape, OperationKind product) {
  if (product == OperationKind::output) return shape.q_width();
  return product == OperationKind::down ? shape.d_ff : shape.d_model;
}

std::string_view name_of(OperationKind kind) {
  switch (kind) {
    case OperationKind::load_inputs:
      return "load inputs";
    case OperationKind::normalise_rows:
      return "normalise rows";
    case OperationKind::qkv:
      return "qkv";
    case OperationKind::normalise_heads:
      return "normalise heads";
    case OperationKind::attention:
      return "attention";
    case OperationKind::output:
      return "output projection";
    case OperationKind::gate_up:
      return "gate up";
    case OperationKind::down:
      return "down";
    case OperationKind::add_outputs:
      return "add outputs";
    case OperationKind::keep_states:
      return "keep states";
    case OperationKind::head:
      return "head";
    case OperationKind::finish_head:
      return "finish head";
    case OperationKind::finish_draft_step:
      return "finish draft step";
    case OperationKind::finish_sampled_step:
      return "finish sampled step";
    case OperationKind::begin_last_token:
      return "begin last token";
    case OperationKind::begin_verification:
      return "begin verification";
    case OperationKind::warp_rows:
      return "warp rows";
    case OperationKind::judge_draft:
      break;
  }
  return "judge draft";
}

/// A tile of gate and up has as many outputs of each as half a tile has.
std::int32_t tiles_of(std::int32_t outputs) {
  return (outputs + tile_outputs - 1) / tile_outputs;
}

}  // namespace

ProgramShape program_shape(const GpuDescription& device, const speculation::ModelShape& shape,
                           std::int32_t rows, std::int32_t part_bytes, bool sampled) {
  ProgramShape result;
  const std::int32_t queries = rows * (shape.n_heads / shape.n_kv_heads);
  std::size_t scratch =
      std::max({streamed_partial_bytes, row_shared_bytes, attention_shared_bytes(shape.head_dim, queries),
                sampled ? sampling_shared_bytes : 0});
  const std::size_t staged =
      streamed_partial_bytes + to_size(rows) * to_size(staged_row_bytes(shape.d_model));
  result.stages_rows = rows <= max_staged_rows && std::max(scratch, staged) <= device.shared_bytes / 2;
  if (result.stages_rows) scratch = std::max(scratch, staged);
  result.scratch_bytes = rounded(scratch);
  const std::size_t taken = to_size(result.scratch_bytes) + to_size(program_block_bytes);
  const std::size_t left = device.shared_bytes > taken ? device.shared_bytes - taken : 0;
  // Pieces are as long as leaves room for two of each warp's at least.
  for (std::int32_t parts = max_copied_parts; parts > 0 && result.ring.places == 0; --parts) {
    const std::int32_t place_bytes = rounded(to_size(parts * part_bytes));
    const std::size_t places =
        std::min(to_size(max_ring_places), left / (product_slices * to_size(place_bytes)));
    if (places >= 2) result.ring = {static_cast<std::int32_t>(places), place_bytes, parts};
  }
  result.shared_bytes =
      taken + product_slices * to_size(result.ring.places) * to_size(result.ring.place_bytes);
  return result;
}

ProgramRunner::ProgramRunner(Gpu& gpu, const PassParams& base, const speculation::ModelShape& shape,
                             const RoundStates& states)
    : gpu_(gpu), base_(base), shape_(shape), states_(states), device_(gpu.describe()) {}

Result<std::unique_ptr<ProgramRunner>> ProgramRunner::create(Gpu& gpu, const PassParams& base,
                                                             const speculation::ModelShape& shape,
                                                             const PassFormats& formats,
                                                             std::span<const DeviceLayer> layers,
                                                             const RoundStates& states) {
  std::unique_ptr<ProgramRunner> runner(new ProgramRunner(gpu, base, shape, states));
  constexpr std::size_t counter_bytes = 128;
  DRAFTSCOPE_TRY_ASSIGN(
      runner->program_memory_,
      DeviceMemory::allocate(gpu, counter_bytes + max_program_entries * sizeof(ProgramEntry), "programs"));
  const auto plain = [&](OperationKind kind) { return runner->add({.kind = kind}); };
  runner->load_inputs_ = runner->add(
      {.kind = OperationKind::load_inputs, .is_f16 = formats.stored == WeightFormat::f16 ? 1 : 0});
  runner->finish_head_ = plain(OperationKind::finish_head);
  runner->finish_draft_step_ = plain(OperationKind::finish_draft_step);
  runner->finish_sampled_step_ = plain(OperationKind::finish_sampled_step);
  runner->begin_last_token_ = plain(OperationKind::begin_last_token);
  runner->begin_verification_ = plain(OperationKind::begin_verification);
  runner->warp_rows_ = plain(OperationKind::warp_rows);
  runner->judge_draft_ = plain(OperationKind::judge_draft);
  runner->head_norm_ = runner->add({.kind = OperationKind::normalise_rows,
                                    .is_f16 = has_f16_activations(formats.head) ? 1 : 0,
                                    .norm = Norm::head});
  runner->keep_inputs_ = runner->add({.kind = OperationKind::keep_states, .to = states.inputs});
  for (std::int32_t boundary = 0; boundary <= shape.n_layers; ++boundary)
    runner->keeps_.push_back(runner->add(
        {.kind = OperationKind::keep_states, .boundary = boundary, .to = states.boundary(boundary)}));
  DRAFTSCOPE_TRY(runner->pack_head(formats));
  DRAFTSCOPE_TRY_ASSIGN(runner->model_, runner->pack(base, formats, layers));
  DRAFTSCOPE_TRY(runner->upload_operations());
  return runner;
}

Result<void> ProgramRunner::hold_draft(speculation::WeightFormat weights, const PassParams& base,
                                       const PassFormats& formats, std::span<const DeviceLayer> layers) {
  if (!is_plain(model_.format) || !is_plain(head_format_)) return {};  // see runs()
  DRAFTSCOPE_TRY_ASSIGN(Variant variant, pack(base, formats, layers));
  drafts_.insert_or_assign(weights, std::move(variant));
  return upload_operations();
}

ProgramEntry ProgramRunner::add(const Operation& operation) {
  operations_.push_back(operation);
  return static_cast<ProgramEntry>(operations_.size() - 1);
}

bool ProgramRunner::fits(const GpuDescription& device, const speculation::ModelShape& shape,
                         const PassFormats& formats) {
  const std::int32_t part_bytes =
      std::max(layout_of(formats.layers, 1).part_bytes, layout_of(formats.head, 1).part_bytes);
  for (const std::int32_t rows : {1, 8, 16, 32, max_decode_rows})
    if (program_shape(device, shape, rows, part_bytes, true).ring.places == 0) return false;
  return is_plain(formats.head) || formats.head == formats.layers;
}

Result<void> ProgramRunner::pack_head(const PassFormats& formats) {
  const WeightFormat format = formats.head;
  head_format_ = format;
  Operation head{.kind = OperationKind::head,
                 .is_plain = is_plain(format) ? 1 : 0,
                 .is_f16 = format == WeightFormat::f16 ? 1 : 0,
                 .norm = Norm::head};
  head.depth = shape_.d_model;
  head.tiles = tiles_of(shape_.vocab);
  head.layout = layout_of(format, head.depth);
  DRAFTSCOPE_TRY_ASSIGN(
      head_, DeviceMemory::allocate(
                 gpu_, to_size(head.tiles) * static_cast<std::size_t>(head.layout.tile_bytes()), "the head"));
  head.pieces = head_.data();
  DRAFTSCOPE_TRY(
      gpu_.launch({.kernel = Kernel::pack_pieces, .format = format, .blocks = std::min(head.tiles, 1024)},
                  PackParams{base_, nullptr, head.kind, head.layout, head.tiles, head.depth, head_.data()}));
  head_product_ = add(head);
  return {};
}

Result<ProgramRunner::Variant> ProgramRunner::pack(const PassParams& base, const PassFormats& formats,
                                                   std::span<const DeviceLayer> layers) {
  Variant variant;
  variant.format = formats.layers;
  struct Packed {
    std::size_t layer;
    std::size_t operation;
    WeightFormat format;
    std::size_t offset;
  };
  std::vector<Packed> packed;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    LayerPlaces places;
    const auto of_layer = [&](OperationKind kind, Norm norm) {
      return add({.layer = layers[i],
                  .kind = kind,
                  .is_f16 = has_f16_activations(formats.layers) ? 1 : 0,
                  .norm = norm});
    };
    const auto product = [&](OperationKind kind, Norm norm) {
      std::array<std::optional<ProgramEntry>, 2> result;
      for (const bool beside : {false, true}) {
        const std::int32_t outputs = outputs_in(shape_, layers[i], kind, beside);
        if (outputs == 0) continue;
        const WeightFormat format = beside ? WeightFormat::bf16_beside_groups : formats.layers;
        Operation made{.layer = layers[i],
                       .kind = kind,
                       .is_plain = beside || is_plain(formats.layers) ? 1 : 0,
                       .is_f16 = has_f16_activations(formats.layers) ? 1 : 0,
                       .norm = norm};
        made.depth = depth_of(shape_, kind);
        made.tiles = tiles_of(outputs);
        made.layout = layout_of(format, made.depth);
        variant.has_plain = variant.has_plain || beside;
        result[beside ? 1 : 0] = add(made);
        packed.push_back({i, operations_.size() - 1, format, bytes});
        bytes += to_size(made.tiles) * static_cast<std::size_t>(made.layout.tile_bytes());
      }
      return result;
    };
    places.attention_norm = of_layer(OperationKind::normalise_rows, Norm::attention);
    places.qkv = product(OperationKind::qkv, Norm::attention);
    if (base.model.normalises_qk != 0)
      places.heads = of_layer(OperationKind::normalise_heads, Norm::attention);
    places.attention = of_layer(OperationKind::attention, Norm::attention);
    places.output = product(OperationKind::output, Norm::attention);
    if (base.model.normalises_outputs != 0)
      places.add_attention = of_layer(OperationKind::add_outputs, Norm::attention);
    places.mlp_norm = of_layer(OperationKind::normalise_rows, Norm::mlp);
    places.gate_up = product(OperationKind::gate_up, Norm::mlp);
    places.down = product(OperationKind::down, Norm::mlp);
    if (base.model.normalises_outputs != 0) places.add_mlp = of_layer(OperationKind::add_outputs, Norm::mlp);
    variant.layers.push_back(places);
  }
  DRAFTSCOPE_TRY_ASSIGN(variant.pieces, DeviceMemory::allocate(gpu_, bytes, "weights in reading order"));
  for (const Packed& each : packed) {
    Operation& operation = operations_[each.operation];
    std::byte* const pieces = variant.pieces.data() + each.offset;
    operation.pieces = pieces;
    DRAFTSCOPE_TRY(gpu_.launch(
        {.kernel = Kernel::pack_pieces, .format = each.format, .blocks = std::min(operation.tiles, 1024)},
        PackParams{base, base.layers + each.layer, operation.kind, operation.layout, operation.tiles,
                   operation.depth, pieces}));
  }
  return variant;
}

Result<void> ProgramRunner::upload_operations() {
  const std::size_t bytes = operations_.size() * sizeof(Operation);
  if (operations_.size() > entry_place)
    return fail("cuda backend: a model has {} operations, expected at most {}", operations_.size(),
                static_cast<int>(entry_place));
  DRAFTSCOPE_TRY_ASSIGN(operations_memory_, DeviceMemory::allocate(gpu_, bytes, "operations"));
  DRAFTSCOPE_TRY(gpu_.upload(operations_memory_.data(), operations_.data(), bytes));
  return gpu_.synchronise();
}

std::int32_t ProgramRunner::part_bytes(const Variant& variant) const {
  return std::max({layout_of(variant.format, 1).part_bytes, layout_of(head_format_, 1).part_bytes,
                   layout_of(model_.format, 1).part_bytes});
}

void ProgramRunner::write_layer(Written& program, const LayerPlaces& layer, const LayerSlot& slot,
                                bool stages_rows) const {
  std::vector<ProgramEntry>& entries = program.entries;
  const auto put = [&](std::optional<ProgramEntry> place) {
    if (place) entries.push_back(*place);
  };
  const auto put_product = [&](const std::array<std::optional<ProgramEntry>, 2>& places, bool normalises) {
    const ProgramEntry flags = normalises && !stages_rows ? entry_reads_normed : ProgramEntry{0};
    for (const std::optional<ProgramEntry>& place : places)
      if (place) entries.push_back(static_cast<ProgramEntry>(*place | flags));
  };
  if (slot.attention != 0) {
    if (!stages_rows) put(layer.attention_norm);
    put_product(layer.qkv, true);
    put(layer.heads);
    put(layer.attention);
    put_product(layer.output, false);
    put(layer.add_attention);
  }
  if (slot.mlp == 0) return;
  if (!stages_rows) put(layer.mlp_norm);
  put_product(layer.gate_up, true);
  put_product(layer.down, false);
  put(layer.add_mlp);
}

void ProgramRunner::write_head(Written& program, bool logits, bool stages_rows) const {
  if (!stages_rows) program.entries.push_back(head_norm_);
  program.entries.push_back(static_cast<ProgramEntry>(head_product_ | (stages_rows ? 0 : entry_reads_normed) |
                                                      (logits ? entry_wants_logits : 0)));
}

void ProgramRunner::keep(Written& program, std::int32_t boundary) const {
  program.entries.push_back(keeps_[to_size(boundary)]);
}

Result<void> ProgramRunner::launch_pass(const PassForm& form, std::span<const LayerSlot> slots) {
  const Variant& variant = variant_of(form.weights);
  const ProgramShape shape = program_shape(device_, shape_, form.rows, part_bytes(variant), false);
  Written program;
  program.rows = form.rows;
  program.entries.push_back(load_inputs_);
  std::size_t kept = 0;
  const auto keep_before = [&](std::int32_t slot) {
    for (; kept < form.kept.size() && form.kept[kept] == slot; ++kept)
      keep(program, static_cast<std::int32_t>(kept));
  };
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    keep_before(static_cast<std::int32_t>(slot));
    write_layer(program, variant.layers[to_size(slots[slot].layer)], slots[slot], shape.stages_rows);
  }
  keep_before(static_cast<std::int32_t>(slots.size()));
  if (form.head) {
    write_head(program, form.logits, shape.stages_rows);
    program.entries.push_back(finish_head_);
  }
  return launch(program, variant, shape);
}

void ProgramRunner::write_draft_step(Written& program, const StepForm& form,
                                     std::span<const LayerSlot> slots) const {
  const Variant& variant = variant_of(form.weights);
  const bool keeps = form.above_exit && form.keeps_states;
  program.loop_begin = static_cast<std::int32_t>(program.entries.size());
  program.entries.push_back(load_inputs_);
  if (keeps) keep(program, 0);
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    write_layer(program, variant.layers[to_size(slots[slot].layer)], slots[slot], true);
    if (keeps) keep(program, static_cast<std::int32_t>(slot) + 1);
  }
  if (form.above_exit) program.entries.push_back(keep_inputs_);
  write_head(program, form.sampled, true);
  program.entries.push_back(form.sampled ? finish_sampled_step_ : finish_draft_step_);
  program.loop_end = static_cast<std::int32_t>(program.entries.size());
}

void ProgramRunner::write_verification(Written& program, const StepForm& form, bool stages_rows) const {
  const auto layer = [&](std::int32_t index, bool stages) {
    write_layer(program, model_.layers[to_size(index)], {index, 1, 1}, stages);
    if (form.keeps_states) keep(program, index + 1);
  };
  const std::int32_t exit = form.above_exit ? form.slots : 0;
  if (exit > 0) {
    program.entries.push_back(begin_last_token_);
    program.entries.push_back(load_inputs_);
    if (form.keeps_states) keep(program, 0);
    for (std::int32_t index = 0; index < exit; ++index) layer(index, true);
    program.entries.push_back(keep_inputs_);
  }
  program.entries.push_back(begin_verification_);
  program.entries.push_back(load_inputs_);
  if (form.keeps_states && exit == 0) keep(program, 0);
  for (std::int32_t index = exit; index < shape_.n_layers; ++index) layer(index, stages_rows);
  write_head(program, form.sampled, stages_rows);
  program.entries.push_back(finish_head_);
  if (!form.sampled) return;
  program.entries.push_back(warp_rows_);
  program.entries.push_back(judge_draft_);
}

Result<void> ProgramRunner::launch_round(const StepForm& form, std::int32_t draft_length,
                                         std::span<const LayerSlot> slots) {
  const Variant& variant = variant_of(form.weights);
  const ProgramShape shape =
      program_shape(device_, shape_, draft_length + 1, part_bytes(variant), form.sampled);
  Written program;
  program.draft_length = draft_length;
  if (draft_length > 0) write_draft_step(program, form, slots);
  write_verification(program, form, shape.stages_rows);
  return launch(program, variant, shape);
}

Result<void> ProgramRunner::launch(Written program, const Variant& variant, const ProgramShape& shape) {
  const std::size_t n = program.entries.size();
  if (n > max_program_entries)
    return fail("cuda backend: a program has {} entries, expected at most {}", n, max_program_entries);
  auto* const arrivals = reinterpret_cast<unsigned*>(program_memory_.data());
  std::byte* const entries = program_memory_.data() + 128;
  DRAFTSCOPE_TRY(gpu_.clear(arrivals, sizeof(unsigned)));
  DRAFTSCOPE_TRY(gpu_.upload(entries, program.entries.data(), n * sizeof(ProgramEntry)));
  launched_ = std::move(program);
  DRAFTSCOPE_TRY(
      gpu_.launch({.kernel = Kernel::program,
                   .format = variant.format,
                   .blocks = device_.multiprocessors,
                   .shared_bytes = shape.shared_bytes},
                  ProgramParams{.pass = base_,
                                .operations = reinterpret_cast<const Operation*>(operations_memory_.data()),
                                .entries = reinterpret_cast<const ProgramEntry*>(entries),
                                .first = 0,
                                .last = static_cast<std::int32_t>(n),
                                .loop_begin = launched_.loop_begin,
                                .loop_end = launched_.loop_end,
                                .rows = launched_.rows,
                                .draft_length = launched_.draft_length,
                                .arrivals = arrivals,
                                .scratch_bytes = shape.scratch_bytes,
                                .ring = shape.ring}));
  return gpu_.download(&failure_, &base_.work.state->failed_entry, sizeof(failure_));
}

Result<void> ProgramRunner::check() const {
  if (failure_.entry == 0) return {};
  const ProgramEntry entry = launched_.entries[to_size(failure_.entry - 1)];
  return fail("cuda backend: block {} waited for more than a second for others to end {}, entry {} of {}",
              failure_.block, name_of(operations_[entry & entry_place].kind), failure_.entry,
              launched_.entries.size());
}

}  // namespace draftscope::engine::cuda

// SPDX-License-Identifier: GPL-3.0-or-later
#include "program_runner.h"

#include <draftscope/base/to_size.h>
#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "cuda/kernels/launch_shape.h"

namespace draftscope::engine::cuda {

namespace {

constexpr std::int32_t alignment = 128;
constexpr std::size_t state_bytes = 128;
static_assert(sizeof(ProgramState) <= state_bytes);

std::int32_t rounded(std::size_t bytes) {
  return static_cast<std::int32_t>((bytes + alignment - 1) / alignment * alignment);
}

/// Maximum over all formats.
constexpr PieceSize max_pieces{part_bytes_of(max_scale_words), max_copied_code_parts};

/// Whether a block takes two tiles of a product of `rows` rows at once, which loads their activations once
/// for both. With few rows it takes one, so that more blocks have work.
constexpr bool takes_two_tiles(std::int32_t rows) {
  return rows > mma_rows;
}

/// Uses the names of the CPU's spans. RoPE, gates, residuals and most norms are fused into the products.
std::string_view name_of(const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::load_inputs:
      return "embedding";
    case OperationKind::normalise_rows:
      if (operation.norm == Norm::head) return "head";
      return operation.norm == Norm::attention ? "attention norm" : "mlp norm";
    case OperationKind::qkv:
      return "qkv";
    case OperationKind::normalise_heads:
      return "rope";
    case OperationKind::attention:
    case OperationKind::combine_attention:
      return "attention";
    case OperationKind::output:
      return "output projection";
    case OperationKind::gate_up:
      return "gate up";
    case OperationKind::down:
      return "down";
    case OperationKind::add_outputs:
      return operation.norm == Norm::attention ? "output projection" : "down";
    case OperationKind::head:
    case OperationKind::finish_head:
      return "head";
    case OperationKind::finish_sampled_step:
    case OperationKind::warp_rows:
    case OperationKind::judge_draft:
      return "sampling";
    case OperationKind::keep_states:
    case OperationKind::finish_draft_step:
    case OperationKind::begin_last_token:
    case OperationKind::begin_verification:
      break;
  }
  return "round control";
}

/// Whether one block does the whole operation.
bool is_of_one_block(OperationKind kind) {
  switch (kind) {
    case OperationKind::finish_draft_step:
    case OperationKind::finish_sampled_step:
    case OperationKind::begin_last_token:
    case OperationKind::begin_verification:
    case OperationKind::judge_draft:
      return true;
    default:
      return false;
  }
}

}  // namespace

ProgramShape program_shape(const GpuDescription& device, const speculation::ModelShape& shape,
                           std::int32_t rows, const PieceSize& pieces, bool sampled,
                           std::optional<std::int32_t> block_bytes) {
  ProgramShape result;
  // Entries of a draft and a verification over all layers.
  const std::int32_t products = (rows > max_product_rows ? 2 : 1) * 2 * (4 * shape.n_layers + 1);
  const std::int32_t longest = program_block_bytes(products + 2 * (5 * shape.n_layers + 8), products);
  result.block_bytes = block_bytes.value_or(longest);
  const std::int32_t queries = rows * (shape.n_heads / shape.n_kv_heads);
  const std::size_t staged =
      streamed_partial_bytes + to_size(rows) * to_size(staged_row_bytes(shape.d_model));
  // On an H200, rings of 64 KB took at most 2 % longer than rings of 192 KB (measured).
  const std::size_t min_ring_bytes = std::min(std::size_t{64} << 10, device.shared_bytes / 2);
  for (std::int32_t tiles = max_item_tiles; tiles > 0 && result.ring.places == 0; --tiles) {
    std::size_t scratch = std::max({streamed_partial_bytes, row_shared_bytes,
                                    attention_shared_bytes(shape.head_dim, queries, tiles),
                                    sampled ? sampling_shared_bytes : 0});
    result.attention_tiles = tiles;
    result.stages_rows =
        rows <= max_staged_rows && staged + to_size(longest) + min_ring_bytes <= device.shared_bytes;
    if (result.stages_rows) scratch = std::max(scratch, staged);
    result.scratch_bytes = rounded(scratch);
    const std::size_t taken = to_size(result.scratch_bytes) + to_size(result.block_bytes);
    const std::size_t left = device.shared_bytes > taken ? device.shared_bytes - taken : 0;
    // Pieces are as long as possible, with room for two pieces per warp in addition to those taken at once.
    // With pieces of one part, room for two in total is enough.
    const std::size_t least = takes_two_tiles(rows) ? 4 : 3;
    for (std::int32_t parts = pieces.parts; parts > 0 && result.ring.places == 0; parts /= 2) {
      const std::int32_t place_bytes = rounded(to_size(parts * pieces.part_bytes));
      const std::size_t places =
          std::min(to_size(max_ring_places), left / (product_slices * to_size(place_bytes)));
      if (places >= (parts > 1 ? least : 2))
        result.ring = {static_cast<std::int32_t>(places), place_bytes, parts};
    }
    result.shared_bytes =
        taken + product_slices * to_size(result.ring.places) * to_size(result.ring.place_bytes);
  }
  return result;
}

Result<void> check_program_memory(const GpuDescription& device, const speculation::ModelShape& shape) {
  for (const std::int32_t rows : {1, 8, 16, 32, max_decode_rows})
    if (program_shape(device, shape, rows, max_pieces, true).ring.places == 0)
      return fail("model {}: {} has {} bytes of shared memory a block, expected more for a pass of {}",
                  shape.name, device.name, device.shared_bytes, rows);
  return {};
}

ProgramRunner::ProgramRunner(Gpu& gpu, const PassParams& base, const speculation::ModelShape& shape,
                             const RoundStates& states, DecodingPasses passes, profiler::DeviceTrace* trace)
    : gpu_(gpu),
      base_(base),
      shape_(shape),
      states_(states),
      is_plain_(passes == DecodingPasses::plain),
      trace_(trace),
      device_(gpu.describe()) {
  if (trace != nullptr && trace->mode() == profiler::DeviceTraceMode::operations)
    timeline_.emplace(gpu, *trace);
}

Result<std::unique_ptr<ProgramRunner>> ProgramRunner::create(
    Gpu& gpu, const PassParams& base, const speculation::ModelShape& shape, const PassFormats& formats,
    const ModelLayers& layers, const PackedProduct& head, const RoundStates& states, DecodingPasses passes,
    profiler::DeviceTrace* trace) {
  std::unique_ptr<ProgramRunner> runner(new ProgramRunner(gpu, base, shape, states, passes, trace));
  runner->format_ = formats.layers;
  DRAFTSCOPE_TRY_ASSIGN(
      runner->program_memory_,
      DeviceMemory::allocate(gpu, state_bytes + 2 * max_program_entries * sizeof(ProgramEntry), "programs"));
  DRAFTSCOPE_TRY(gpu.clear(runner->program_memory_.data(), state_bytes));
  const auto plain = [&](OperationKind kind) { return runner->add({.kind = kind}, {}); };
  runner->load_inputs_ = runner->add(
      {.kind = OperationKind::load_inputs, .is_f16 = formats.stored == KernelFormat::f16 ? 1 : 0}, {});
  runner->finish_head_ = plain(OperationKind::finish_head);
  runner->finish_draft_step_ = plain(OperationKind::finish_draft_step);
  runner->finish_sampled_step_ = plain(OperationKind::finish_sampled_step);
  runner->begin_last_token_ = plain(OperationKind::begin_last_token);
  runner->begin_verification_ = plain(OperationKind::begin_verification);
  runner->warp_rows_ = plain(OperationKind::warp_rows);
  runner->judge_draft_ = plain(OperationKind::judge_draft);
  runner->head_norm_ = runner->add({.kind = OperationKind::normalise_rows,
                                    .is_f16 = has_f16_activations(formats.head) ? 1 : 0,
                                    .norm = Norm::head},
                                   {});
  runner->keep_inputs_ = runner->add({.kind = OperationKind::keep_states, .to = states.inputs}, {});
  for (std::int32_t boundary = 0; boundary <= shape.n_layers; ++boundary)
    runner->keeps_.push_back(runner->add(
        {.kind = OperationKind::keep_states, .boundary = boundary, .to = states.boundary(boundary)}, {}));
  runner->head_product_ = runner->add(head, {}, Norm::head, -1);
  runner->model_ = runner->add_layers(layers);
  DRAFTSCOPE_TRY(runner->upload_operations());
  return runner;
}

Result<void> ProgramRunner::add_draft(speculation::WeightFormat weights, const ModelLayers& layers) {
  drafts_.insert_or_assign(weights, add_layers(layers));
  return upload_operations();
}

ProgramEntry ProgramRunner::add(const Operation& operation, const Described& described) {
  operations_.push_back(operation);
  described_.push_back(described);
  return static_cast<ProgramEntry>(operations_.size() - 1);
}

ProgramEntry ProgramRunner::add(const PackedProduct& product, const DeviceLayer& layer, Norm norm,
                                std::int32_t index) {
  const bool plain = is_plain(product.format);
  // The head may be in fp16 although the layers' activations are bf16.
  const bool is_everywhere = plain && has_f16_activations(product.format) == has_f16_activations(format_);
  return add({.layer = layer,
              .kind = product.kind,
              .is_plain = plain ? 1 : 0,
              .is_f16 = has_f16_activations(product.format) ? 1 : 0,
              .norm = norm,
              .pieces = product.pieces,
              .layout = product.layout,
              .tiles = product.tiles,
              .depth = product.depth},
             {index, is_everywhere ? std::nullopt : std::optional(product.format)});
}

ProgramRunner::Variant ProgramRunner::add_layers(const ModelLayers& layers) {
  Variant variant;
  for (std::size_t i = 0; i < layers.layers.size(); ++i) {
    const DeviceLayer& layer = layers.layers[i];
    const auto index = static_cast<std::int32_t>(i);
    const std::int32_t is_f16 = has_f16_activations(layers.weights[i].front().format) ? 1 : 0;
    const auto part = [&](OperationKind kind, Norm norm) {
      return add({.layer = layer, .kind = kind, .is_f16 = is_f16, .norm = norm}, {.layer = index});
    };
    LayerPlaces places;
    places.attention_norm = part(OperationKind::normalise_rows, Norm::attention);
    if (base_.model.normalises_qk != 0) places.heads = part(OperationKind::normalise_heads, Norm::attention);
    places.attention = part(OperationKind::attention, Norm::attention);
    places.combine_attention = part(OperationKind::combine_attention, Norm::attention);
    places.mlp_norm = part(OperationKind::normalise_rows, Norm::mlp);
    if (base_.model.normalises_outputs != 0) {
      places.add_attention = part(OperationKind::add_outputs, Norm::attention);
      places.add_mlp = part(OperationKind::add_outputs, Norm::mlp);
    }
    for (const PackedProduct& product : layers.weights[i]) {
      const bool of_attention = product.kind == OperationKind::qkv || product.kind == OperationKind::output;
      std::vector<ProgramEntry>& of_kind = product.kind == OperationKind::qkv       ? places.qkv
                                           : product.kind == OperationKind::output  ? places.output
                                           : product.kind == OperationKind::gate_up ? places.gate_up
                                                                                    : places.down;
      of_kind.push_back(add(product, layer, of_attention ? Norm::attention : Norm::mlp, index));
    }
    variant.push_back(std::move(places));
  }
  return variant;
}

Result<void> ProgramRunner::upload_operations() {
  const std::size_t n = operations_.size();
  const std::size_t bytes = n * sizeof(Operation);
  if (n > entry_place)
    return fail("cuda backend: a model has {} operations, expected at most {}", n,
                static_cast<int>(entry_place));
  std::vector<ProgramEntry> places(n);
  std::iota(places.begin(), places.end(), ProgramEntry{0});
  DRAFTSCOPE_TRY_ASSIGN(operations_memory_,
                        DeviceMemory::allocate(gpu_, bytes + n * sizeof(ProgramEntry), "operations"));
  DRAFTSCOPE_TRY(gpu_.upload(operations_memory_.data(), operations_.data(), bytes));
  DRAFTSCOPE_TRY(gpu_.upload(operations_memory_.data() + bytes, places.data(), n * sizeof(ProgramEntry)));
  return gpu_.synchronise();
}

/// Sets how products for up to `rows` rows are written from here on.
void ProgramRunner::begin_rows(Written& program, std::int32_t rows) const {
  program.stages_rows = program_shape(device_, shape_, rows, max_pieces, program.sampled).stages_rows;
  program.product_flags = static_cast<ProgramEntry>((program.stages_rows ? 0 : entry_reads_normed) |
                                                    (takes_two_tiles(rows) ? entry_two_tiles : 0));
  program.has_upper_rows = rows > max_product_rows;
}

void ProgramRunner::push_product(Written& program, ProgramEntry entry) {
  const auto push = [&](ProgramEntry flags) {
    program.entries.push_back(static_cast<ProgramEntry>(entry | program.product_flags | flags));
  };
  push(0);
  if (program.has_upper_rows) push(entry_upper_rows);
}

void ProgramRunner::write_layer(Written& program, const LayerPlaces& layer, const LayerSlot& slot) const {
  std::vector<ProgramEntry>& entries = program.entries;
  const auto put = [&](OptionalEntry place) {
    if (place) entries.push_back(*place);
  };
  const auto put_product = [&](const std::vector<ProgramEntry>& places) {
    for (const ProgramEntry place : places) push_product(program, place);
  };
  if (slot.attention != 0) {
    if (!program.stages_rows) put(layer.attention_norm);
    put_product(layer.qkv);
    put(layer.heads);
    put(layer.attention);
    put(layer.combine_attention);
    put_product(layer.output);
    put(layer.add_attention);
  }
  if (slot.mlp == 0) return;
  if (!program.stages_rows) put(layer.mlp_norm);
  put_product(layer.gate_up);
  put_product(layer.down);
  put(layer.add_mlp);
}

void ProgramRunner::write_head(Written& program, bool logits) const {
  if (!program.stages_rows) program.entries.push_back(head_norm_);
  push_product(program, static_cast<ProgramEntry>(head_product_ | (logits ? entry_wants_logits : 0)));
}

void ProgramRunner::keep(Written& program, std::int32_t boundary) const {
  program.entries.push_back(keeps_[to_size(boundary)]);
}

Result<void> ProgramRunner::launch_pass(const PassForm& form, std::span<const LayerSlot> slots) {
  const Variant& variant = variant_of(form.weights);
  Written program{.name = "forward", .rows = {0, form.rows}, .width = form.rows, .keys = form.keys};
  begin_rows(program, form.rows);
  program.entries.push_back(load_inputs_);
  std::size_t kept = 0;
  const auto keep_before = [&](std::int32_t slot) {
    for (; kept < form.kept.size() && form.kept[kept] == slot; ++kept)
      keep(program, static_cast<std::int32_t>(kept));
  };
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    keep_before(static_cast<std::int32_t>(slot));
    write_layer(program, variant[to_size(slots[slot].layer)], slots[slot]);
  }
  keep_before(static_cast<std::int32_t>(slots.size()));
  if (form.head) {
    write_head(program, form.logits);
    program.entries.push_back(finish_head_);
  }
  return launch(std::move(program));
}

void ProgramRunner::write_draft_step(Written& program, const RoundForm& form,
                                     std::span<const LayerSlot> slots) const {
  const Variant& variant = variant_of(form.weights);
  const bool keeps = form.above_exit && form.keeps_states;
  begin_rows(program, 1);
  program.entries.push_back(load_inputs_);
  if (keeps) keep(program, 0);
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    write_layer(program, variant[to_size(slots[slot].layer)], slots[slot]);
    if (keeps) keep(program, static_cast<std::int32_t>(slot) + 1);
  }
  if (form.above_exit) program.entries.push_back(keep_inputs_);
  write_head(program, form.sampled);
  program.entries.push_back(form.sampled ? finish_sampled_step_ : finish_draft_step_);
  program.loop_end = static_cast<std::int32_t>(program.entries.size());
}

/// Layers below `exit` run for the last token alone.
void ProgramRunner::write_verification(Written& program, const RoundForm& form, std::int32_t exit) const {
  const auto layer = [&](std::int32_t index) {
    write_layer(program, model_[to_size(index)], {index, 1, 1});
    if (form.keeps_states) keep(program, index + 1);
  };
  if (exit > 0) {
    begin_rows(program, 1);
    program.entries.push_back(begin_last_token_);
    program.entries.push_back(load_inputs_);
    if (form.keeps_states) keep(program, 0);
    for (std::int32_t index = 0; index < exit; ++index) layer(index);
    program.entries.push_back(keep_inputs_);
  }
  begin_rows(program, program.width);
  program.entries.push_back(begin_verification_);
  program.entries.push_back(load_inputs_);
  if (form.keeps_states && exit == 0) keep(program, 0);
  for (std::int32_t index = exit; index < shape_.n_layers; ++index) layer(index);
  write_head(program, form.sampled);
  program.entries.push_back(finish_head_);
  if (!form.sampled) return;
  program.entries.push_back(warp_rows_);
  program.entries.push_back(judge_draft_);
}

Result<void> ProgramRunner::launch_round(const RoundForm& form, std::span<const LayerSlot> slots) {
  Written program{.name = "round",
                  .draft_length = form.draft_length,
                  .width = form.verifies ? form.draft_length + 1 : 1,
                  .keys = form.keys};
  program.sampled = form.sampled;
  if (form.draft_length > 0) write_draft_step(program, form, slots);
  if (form.verifies)
    write_verification(program, form, form.above_exit ? static_cast<std::int32_t>(slots.size()) : 0);
  return launch(std::move(program));
}

Result<void> ProgramRunner::load_inputs(std::int32_t rows) {
  return launch_alone({.name = "embedding", .entries = {load_inputs_}, .rows = {0, rows}});
}

Result<void> ProgramRunner::run_part(std::int32_t layer, LayerPart part, const RowRange& rows) {
  const LayerPlaces& places = model_[to_size(layer)];
  const OptionalEntry parts[]{
      places.attention_norm, places.heads,    places.attention, places.combine_attention,
      places.add_attention,  places.mlp_norm, places.add_mlp};
  const OptionalEntry place = parts[static_cast<std::size_t>(part)];
  if (!place) return {};
  const std::int32_t width = part == LayerPart::attention ? rows.count : 1;
  return launch_alone({.entries = {*place}, .rows = rows, .width = width});
}

Result<void> ProgramRunner::run_head(const RowRange& rows, bool logits) {
  Written program{.name = "head", .rows = rows, .width = rows.count};
  begin_rows(program, rows.count);
  write_head(program, logits);
  program.entries.push_back(finish_head_);
  return launch(std::move(program));
}

bool ProgramRunner::is_product(ProgramEntry entry) const {
  return operations_[entry & entry_place].pieces != nullptr;
}

/// The format whose kernel the operations of a part need, if any.
std::optional<KernelFormat> ProgramRunner::format_of(const Written& program, const Part& part) const {
  for (std::int32_t entry = part.first; entry < part.last; ++entry)
    if (const auto format = described_[program.entries[to_size(entry)] & entry_place].format) return format;
  return std::nullopt;
}

std::vector<ProgramRunner::Part> ProgramRunner::parts_of(const Written& program) const {
  const auto n = static_cast<std::int32_t>(program.entries.size());
  std::vector<Part> parts{{0, 0}};
  std::optional<KernelFormat> format;
  bool is_step_whole = true;
  const auto begin_part = [&](std::int32_t entry) {
    if (entry < program.loop_end) is_step_whole = false;
    parts.push_back({entry, entry});
    format = std::nullopt;
  };
  for (std::int32_t entry = 0; entry < n; ++entry) {
    const auto needed = described_[program.entries[to_size(entry)] & entry_place].format;
    // A trace must distinguish drafts from verifications.
    const bool parts_here = is_plain_ || (needed && format && *needed != *format) ||
                            (entry == program.loop_end && (trace_ != nullptr || !is_step_whole));
    if (entry > 0 && parts_here) begin_part(entry);
    if (needed) format = needed;
    parts.back().last = entry + 1;
  }
  return parts;
}

Result<void> ProgramRunner::launch(Written program) {
  const std::size_t n = program.entries.size();
  if (n > max_program_entries)
    return fail("cuda backend: a program has {} entries, expected at most {}", n, max_program_entries);
  auto* const entries = reinterpret_cast<ProgramEntry*>(program_memory_.data() + state_bytes);
  if (program.entries != on_device_) {
    std::vector<ProgramEntry> listed = program.entries;
    std::copy_if(program.entries.begin(), program.entries.end(), std::back_inserter(listed),
                 [&](ProgramEntry entry) { return is_product(entry); });
    DRAFTSCOPE_TRY(gpu_.upload(entries, listed.data(), listed.size() * sizeof(ProgramEntry)));
  }
  on_device_ = program.entries;
  const std::vector<Part> parts = parts_of(program);
  const auto of_step = static_cast<std::size_t>(std::count_if(
      parts.begin(), parts.end(), [&](const Part& part) { return part.last <= program.loop_end; }));
  // A step in one part loops on the device.
  const std::int32_t steps = of_step > 1 ? program.draft_length : 1;
  if (timeline_) {
    const std::int32_t again = program.loop_end * std::max(program.draft_length - 1, 0);
    DRAFTSCOPE_TRY(timeline_->begin(noted(program), static_cast<std::int32_t>(n) + again,
                                    device_.multiprocessors, program.keys,
                                    std::int64_t{4} * shape_.kv_width()));
  }
  for (std::int32_t step = 0; step < steps; ++step)
    for (std::size_t i = 0; i < of_step; ++i)
      DRAFTSCOPE_TRY(launch_part(program, parts[i], entries, timeline_.has_value()));
  for (std::size_t i = of_step; i < parts.size(); ++i)
    DRAFTSCOPE_TRY(launch_part(program, parts[i], entries, timeline_.has_value()));
  if (timeline_) DRAFTSCOPE_TRY(timeline_->end());
  return gpu_.download(&state_, program_memory_.data(), sizeof(state_));
}

std::optional<traces::Phase> ProgramRunner::phase_of(const Written& program, std::int32_t entry) const {
  if (program.draft_length == 0) return std::nullopt;
  return entry < program.loop_end ? traces::Phase::draft : traces::Phase::verify;
}

std::vector<NotedOperation> ProgramRunner::noted(const Written& program) const {
  std::vector<NotedOperation> all;
  for (std::size_t entry = 0; entry < program.entries.size(); ++entry) {
    const ProgramEntry place = program.entries[entry] & entry_place;
    const Operation& operation = operations_[place];
    all.push_back(
        {name_of(operation), described_[place].layer, phase_of(program, static_cast<std::int32_t>(entry)),
         operation.tiles * operation.layout.tile_bytes(), operation.kind == OperationKind::attention});
  }
  return all;
}

/// Launches a program of one operation without flags, whose entry lies after the operations.
Result<void> ProgramRunner::launch_alone(const Written& program) {
  const auto* const entries = reinterpret_cast<const ProgramEntry*>(operations_memory_.data() +
                                                                    operations_.size() * sizeof(Operation));
  return launch_part(program, {0, 1}, entries + program.entries.front(), false);
}

/// `entries` are the program's entries in device memory.
Result<void> ProgramRunner::launch_part(const Written& program, const Part& part, const ProgramEntry* entries,
                                        bool is_noted) {
  const auto operation_at = [&](std::int32_t entry) -> const Operation& {
    return operations_[program.entries[to_size(entry)] & entry_place];
  };
  const Operation& first = operation_at(part.first);
  const bool is_one = part.last == part.first + 1;
  const bool is_of_step = part.last <= program.loop_end;
  const bool has_loop = part.first == 0 && program.loop_end > 0 && part.last >= program.loop_end;
  const KernelFormat format = format_of(program, part).value_or(format_);
  PieceSize pieces{part_code_bytes, is_plain(format) ? max_copied_parts : max_copied_code_parts};
  for (std::int32_t entry = part.first; entry < part.last; ++entry)
    pieces.part_bytes = std::max(pieces.part_bytes, operation_at(entry).layout.part_bytes);
  const auto products = [&](std::int32_t from, std::int32_t to) {
    return static_cast<std::int32_t>(std::count_if(program.entries.begin() + from,
                                                   program.entries.begin() + to,
                                                   [&](ProgramEntry entry) { return is_product(entry); }));
  };
  const std::int32_t n_products = products(part.first, part.last);
  const ProgramShape shape = program_shape(device_, shape_, program.width, pieces, program.sampled,
                                           program_block_bytes(part.last - part.first, n_products));
  std::int32_t rows = -1;
  if (part.first == 0)
    rows = program.rows.count;
  else if (changes_rows(first.kind))
    rows = 0;

  std::optional<traces::Phase> phase;
  if (program.loop_end > 0 && is_of_step) phase = traces::Phase::draft;
  if (program.loop_end > 0 && part.first >= program.loop_end) phase = traces::Phase::verify;
  std::string_view name = program.name;
  if (phase) name = *phase == traces::Phase::draft ? "draft step" : "verification";
  if (is_one) name = name_of(first);
  const std::int32_t layer =
      is_one ? described_[program.entries[to_size(part.first)] & entry_place].layer : -1;
  const profiler::OperationScope scope(trace_, name, layer, phase);
  const std::int32_t blocks = is_one && is_of_one_block(first.kind) ? 1 : device_.multiprocessors;
  const std::int32_t again = has_loop ? program.loop_end * (program.draft_length - 1) : 0;
  const Timeline timeline = is_noted ? timeline_->next(part.last - part.first + again, blocks) : Timeline{};
  return gpu_.launch(
      {.kernel = Kernel::program, .format = format, .blocks = blocks, .shared_bytes = shape.shared_bytes},
      ProgramParams{.pass = base_,
                    .operations = reinterpret_cast<const Operation*>(operations_memory_.data()),
                    .entries = entries,
                    .first = part.first,
                    .last = part.last,
                    .products = entries + program.entries.size() + products(0, part.first),
                    .n_products = n_products,
                    .loop_products = has_loop ? products(0, program.loop_end) : 0,
                    .loop_end = has_loop ? program.loop_end : 0,
                    .row_begin = program.rows.first,
                    .rows = rows,
                    .draft_length = program.draft_length,
                    .is_draft_step = is_of_step && !has_loop ? 1 : 0,
                    .state = reinterpret_cast<ProgramState*>(program_memory_.data()),
                    .timeline = timeline,
                    .scratch_bytes = shape.scratch_bytes,
                    .block_bytes = shape.block_bytes,
                    .attention_tiles = shape.attention_tiles,
                    .ring = shape.ring});
}

Result<void> ProgramRunner::check() {
  if (timeline_) timeline_->report();
  if (state_.failed_entry == 0) return {};
  const ProgramState failed = std::exchange(state_, {});
  DRAFTSCOPE_TRY(gpu_.clear(program_memory_.data(), state_bytes));
  const ProgramEntry entry = on_device_[to_size(failed.failed_entry - 1)];
  return fail(
      "cuda backend: block {} waited for more than a second for others to end {}, entry {} of {}, expected "
      "less",
      failed.failed_block, name_of(operations_[entry & entry_place]), failed.failed_entry, on_device_.size());
}

}  // namespace draftscope::engine::cuda

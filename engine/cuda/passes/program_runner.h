// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Passes and rounds as programs (kernels/program.h): the operations of a model, the order in which their
// weights lie and are read, and the operations of each pass or round.
//
// A program is one launch, unless its operations take weights for which no kernel has code together. Those
// are two formats with groups, or fp16 beside bf16 activations. Then each part of one format is a launch. A
// draft step in parts is launched as often as the draft may take steps. With DecodingPasses::plain every
// operation is a launch.

#include <draftscope/base/result.h>
#include <draftscope/engine/cuda_backend.h>
#include <draftscope/profiler/device_trace.h>
#include <draftscope/speculation/model_shape.h>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cuda/device_memory.h"
#include "cuda/gpu.h"
#include "cuda/weights/packed_weights.h"
#include "program_timeline.h"

namespace draftscope::engine::cuda {

/// Formats of a pass's matrices.
struct PassFormats {
  KernelFormat stored = KernelFormat::bf16;  ///< Format of the embedding.
  KernelFormat layers = KernelFormat::bf16;
  KernelFormat head = KernelFormat::bf16;
};

/// Layers and their weights, by layer.
struct ModelLayers {
  std::span<const DeviceLayer> layers;
  std::span<const PackedLayer> weights;
};

/// A pass over some layers.
struct PassForm {
  std::int32_t rows = 1;
  bool head = false;
  bool logits = false;
  std::optional<speculation::WeightFormat> weights;  ///< Format of the draft; none = the model's own.
  /// Slots before which states are stored, ascending; the number of slots = after the last one. The n-th
  /// entry, from 0 on, is stored as boundary n of RoundStates.
  std::vector<std::int32_t> kept;
  std::int32_t keys = 0;  ///< Maximum keys of any row.
};

/// A round whose draft runs some layers.
struct RoundForm {
  std::int32_t draft_length = 0;
  std::optional<speculation::WeightFormat> weights;  ///< Format of the draft; none = the model's own.
  bool sampled = false;
  bool above_exit = false;    ///< The verification continues above the draft's layers, the first ones.
  bool keeps_states = false;  ///< Whether states of every boundary are stored.
  bool verifies = true;
  std::int32_t keys = 0;  ///< Keys of the root.
};

/// Where programs store hidden states. The place of a row is relative to the root of a round or the first row
/// of a pass.
struct RoundStates {
  float* inputs = nullptr;      ///< States that the verification above an exit starts from, [rows][d_model].
  float* boundaries = nullptr;  ///< [n_layers + 1][rows][d_model]
  std::size_t boundary_values = 0;
  [[nodiscard]] float* boundary(std::int32_t index) const {
    return boundaries + static_cast<std::size_t>(index) * boundary_values;
  }
};

/// How shared memory is divided for programs of up to `rows` rows of a model.
struct ProgramShape {
  std::int32_t scratch_bytes = 0;
  std::int32_t block_bytes = 0;
  std::int32_t attention_tiles = 1;  ///< Maximum per item of attention.
  RingShape ring{};                  ///< It has no places if the device has too little memory.
  bool stages_rows = true;  ///< Products that need a norm stage their rows; else a norm comes before.
  std::size_t shared_bytes = 0;
};

/// The pieces of a program's products.
struct PieceSize {
  std::int32_t part_bytes;  ///< Maximum over all formats.
  std::int32_t parts;       ///< Maximum parts per copy, which the kernel's code limits.
};

/// Rows are staged where 64 KB are left for the rings, or half of a block's memory if that is less.
/// `sampled`: the program cuts distributions. `block_bytes` is program_block_bytes() of a launch; by default
/// the size for the model's longest round.
[[nodiscard]] ProgramShape program_shape(const GpuDescription& device, const speculation::ModelShape& shape,
                                         std::int32_t rows, const PieceSize& pieces, bool sampled,
                                         std::optional<std::int32_t> block_bytes = {});

/// Fails if a block of the device has no room for programs of a model.
[[nodiscard]] Result<void> check_program_memory(const GpuDescription& device,
                                                const speculation::ModelShape& shape);

/// Operations of a layer that a wide pass has run one by one.
enum class LayerPart : std::uint8_t {
  attention_norm,
  heads,
  attention,
  combine_attention,
  add_attention,
  mlp_norm,
  add_mlp
};

/// Rows of a pass.
struct RowRange {
  std::int32_t first = 0;
  std::int32_t count = 0;
};

class ProgramRunner {
 public:
  /// Owns only what it allocates. `trace` receives the launches; it may be null.
  [[nodiscard]] static Result<std::unique_ptr<ProgramRunner>> create(
      Gpu& gpu, const PassParams& base, const speculation::ModelShape& shape, const PassFormats& formats,
      const ModelLayers& layers, const PackedProduct& head, const RoundStates& states, DecodingPasses passes,
      profiler::DeviceTrace* trace);

  /// Adds the layers in another format, for drafts.
  [[nodiscard]] Result<void> add_draft(speculation::WeightFormat weights, const ModelLayers& layers);

  /// Call it after waiting for the device. Fails if a block of the last program waited for others for more
  /// than a second.
  [[nodiscard]] Result<void> check();

  /// Receives launches; may be null.
  [[nodiscard]] profiler::DeviceTrace* trace() const { return trace_; }

  /// Launches a pass of up to max_decode_rows rows over the slots' layers.
  [[nodiscard]] Result<void> launch_pass(const PassForm& form, std::span<const LayerSlot> slots);
  /// Launches a round whose draft takes these slots.
  [[nodiscard]] Result<void> launch_round(const RoundForm& form, std::span<const LayerSlot> slots);

  // These functions run parts of a wide pass.
  [[nodiscard]] Result<void> load_inputs(std::int32_t rows);
  /// Does nothing if the layer has no such part.
  [[nodiscard]] Result<void> run_part(std::int32_t layer, LayerPart part, const RowRange& rows);
  /// Runs the head and the statistics of the vocabulary, for up to max_decode_rows rows.
  [[nodiscard]] Result<void> run_head(const RowRange& rows, bool logits);

 private:
  using OptionalEntry = std::optional<ProgramEntry>;
  /// Places of a layer's operations among all; a product has one for each format that it is in.
  struct LayerPlaces {
    OptionalEntry attention_norm, heads, attention, combine_attention, add_attention, mlp_norm, add_mlp;
    std::vector<ProgramEntry> qkv, output, gate_up, down;
  };
  /// A model's layers with one set of weights.
  using Variant = std::vector<LayerPlaces>;
  /// An operation's layer and format, which the device does not need.
  struct Described {
    std::int32_t layer = -1;
    std::optional<KernelFormat> format;  ///< None if every kernel of the layers has code for it.
  };
  struct Written {
    std::string_view name;
    std::vector<ProgramEntry> entries;
    std::int32_t loop_end = 0;  ///< Entries before it are a draft step; 0 = there is none.
    std::int32_t draft_length = 0;
    RowRange rows{0, 1};     ///< Rows at its start.
    std::int32_t width = 1;  ///< Maximum rows.
    bool sampled = false;
    bool stages_rows = true;
    ProgramEntry product_flags = 0;
    bool has_upper_rows = false;  ///< Products take two turns.
    std::int32_t keys = 0;        ///< Keys that its first attention reads.
  };
  /// Entries that are one launch.
  struct Part {
    std::int32_t first = 0, last = 0;
  };

  ProgramRunner(Gpu& gpu, const PassParams& base, const speculation::ModelShape& shape,
                const RoundStates& states, DecodingPasses passes, profiler::DeviceTrace* trace);
  [[nodiscard]] ProgramEntry add(const Operation& operation, const Described& described);
  [[nodiscard]] ProgramEntry add(const PackedProduct& product, const DeviceLayer& layer, Norm norm,
                                 std::int32_t index);
  [[nodiscard]] Variant add_layers(const ModelLayers& layers);
  [[nodiscard]] Result<void> upload_operations();

  void begin_rows(Written& program, std::int32_t rows) const;
  static void push_product(Written& program, ProgramEntry entry);
  void write_layer(Written& program, const LayerPlaces& layer, const LayerSlot& slot) const;
  void write_head(Written& program, bool logits) const;
  void keep(Written& program, std::int32_t boundary) const;
  void write_draft_step(Written& program, const RoundForm& form, std::span<const LayerSlot> slots) const;
  void write_verification(Written& program, const RoundForm& form, std::int32_t exit) const;

  [[nodiscard]] bool is_product(ProgramEntry entry) const;
  [[nodiscard]] std::optional<KernelFormat> format_of(const Written& program, const Part& part) const;
  [[nodiscard]] std::vector<Part> parts_of(const Written& program) const;
  [[nodiscard]] Result<void> launch(Written program);
  [[nodiscard]] Result<void> launch_alone(const Written& program);
  [[nodiscard]] Result<void> launch_part(const Written& program, const Part& part,
                                         const ProgramEntry* entries, bool is_noted);
  [[nodiscard]] std::optional<traces::Phase> phase_of(const Written& program, std::int32_t entry) const;
  [[nodiscard]] std::vector<NotedOperation> noted(const Written& program) const;
  [[nodiscard]] const Variant& variant_of(std::optional<speculation::WeightFormat> weights) const {
    return weights ? drafts_.at(*weights) : model_;
  }

  Gpu& gpu_;
  PassParams base_;
  speculation::ModelShape shape_;
  KernelFormat format_ = KernelFormat::bf16;  ///< Format of the layers.
  RoundStates states_;
  bool is_plain_;
  profiler::DeviceTrace* trace_;
  GpuDescription device_;
  std::vector<Operation> operations_;
  std::vector<Described> described_;
  DeviceMemory operations_memory_;  ///< Operations, then the place of each one as an entry.
  DeviceMemory program_memory_;     ///< ProgramState, then entries, then the entries that are products.
  Variant model_;
  std::map<speculation::WeightFormat, Variant> drafts_;
  ProgramEntry load_inputs_ = 0, head_norm_ = 0, head_product_ = 0, finish_head_ = 0, finish_draft_step_ = 0,
               finish_sampled_step_ = 0, begin_last_token_ = 0, begin_verification_ = 0, warp_rows_ = 0,
               judge_draft_ = 0, keep_inputs_ = 0;
  std::vector<ProgramEntry> keeps_;      ///< By boundary.
  std::vector<ProgramEntry> on_device_;  ///< Entries that were uploaded last.
  ProgramState state_{};                 ///< State after the last launch.
  std::optional<ProgramTimeline> timeline_;
};

}  // namespace draftscope::engine::cuda

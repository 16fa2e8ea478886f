// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Passes and rounds as programs (kernels/program.h): what a model's operations are, where its weights lie in
// the order in which they are read, and which of them a pass or a round is.
//
// A program is one launch, but where its operations take weights for which no kernel has code together, in
// two formats with groups, or in fp16 beside activations in bf16: then each part of one format is. A draft
// step that is in parts is launched as often as the draft may take steps. With DecodingPasses::plain every
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
  KernelFormat stored = KernelFormat::bf16;  ///< the embedding
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
  std::optional<speculation::WeightFormat> weights;  ///< the draft's; none = the model's own
  /// Slots before which states are stored, ascending; the number of slots = after the last one. The n-th of
  /// them, from 0 on, is stored as boundary n of RoundStates.
  std::vector<std::int32_t> kept;
  std::int32_t keys = 0;  ///< maximum of any row
};

/// A round whose draft runs some layers.
struct RoundForm {
  std::int32_t draft_length = 0;
  std::optional<speculation::WeightFormat> weights;  ///< the draft's; none = the model's own
  bool sampled = false;
  bool above_exit = false;    ///< the verification goes on above the draft's layers, which are the first ones
  bool keeps_states = false;  ///< whether states of every boundary are kept
  bool verifies = true;
  std::int32_t keys = 0;  ///< keys of the root
};

/// Where programs store hidden states: a row at its place after the root of a round, or after the first row
/// of a pass.
struct RoundStates {
  float* inputs = nullptr;      ///< states that the verification above an exit starts from, [rows][d_model]
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
  std::int32_t attention_tiles = 1;  ///< maximum per item of attention
  RingShape ring{};                  ///< has no places where the device has too little memory
  bool stages_rows = true;  ///< products that normalise hold their rows; else a norm comes before them
  std::size_t shared_bytes = 0;
};

/// The pieces of a program's products.
struct PieceSize {
  std::int32_t part_bytes;  ///< maximum of any format
  std::int32_t parts;       ///< maximum parts per copy: as many as the kernel has code for
};

/// Rows are staged where 64 KB are left for the rings,
/// or half of a block's memory if that is less. `sampled`: the program cuts distributions. `block_bytes`: of
/// what a launch runs (program_block_bytes()); by default what the model's longest round takes.
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
  /// Owns only what it allocates. `trace` is told what is launched; it may be null.
  [[nodiscard]] static Result<std::unique_ptr<ProgramRunner>> create(
      Gpu& gpu, const PassParams& base, const speculation::ModelShape& shape, const PassFormats& formats,
      const ModelLayers& layers, const PackedProduct& head, const RoundStates& states, DecodingPasses passes,
      profiler::DeviceTrace* trace);

  /// Adds the layers in another format, for drafts.
  [[nodiscard]] Result<void> add_draft(speculation::WeightFormat weights, const ModelLayers& layers);

  /// After the device has been waited for: an error if a block waited for others for more than a second in
  /// the program that was launched last.
  [[nodiscard]] Result<void> check();

  /// A pass of up to max_decode_rows rows over the slots' layers.
  [[nodiscard]] Result<void> launch_pass(const PassForm& form, std::span<const LayerSlot> slots);
  /// A round whose draft takes these slots.
  [[nodiscard]] Result<void> launch_round(const RoundForm& form, std::span<const LayerSlot> slots);

  // Parts of a wide pass.
  [[nodiscard]] Result<void> load_inputs(std::int32_t rows);
  /// Does nothing where the layer has no such part.
  [[nodiscard]] Result<void> run_part(std::int32_t layer, LayerPart part, const RowRange& rows);
  /// The head, and what becomes of the vocabulary's statistics, for up to max_decode_rows rows.
  [[nodiscard]] Result<void> run_head(const RowRange& rows, bool logits);

 private:
  using OptionalEntry = std::optional<ProgramEntry>;
  /// Places of a layer's operations among all; a product has one for each format that it is in.
  struct LayerPlaces {
    OptionalEntry attention_norm, heads, attention, combine_attention, add_attention, mlp_norm, add_mlp;
    std::vector<ProgramEntry> qkv, output, gate_up, down;
  };
  /// A model's layers on some weights.
  using Variant = std::vector<LayerPlaces>;
  /// An operation's layer and format, which the device is not told.
  struct Described {
    std::int32_t layer = -1;
    std::optional<KernelFormat> format;  ///< none of what every kernel of the layers has code for
  };
  struct Written {
    std::string_view name;
    std::vector<ProgramEntry> entries;
    std::int32_t loop_end = 0;  ///< entries before it are a draft step, or it is 0
    std::int32_t draft_length = 0;
    RowRange rows{0, 1};     ///< rows at its beginning
    std::int32_t width = 1;  ///< rows at most
    bool sampled = false;
    bool stages_rows = true;
    ProgramEntry product_flags = 0;
    bool has_upper_rows = false;  ///< products take two turns
    std::int32_t keys = 0;        ///< keys that its first attention reads
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
  KernelFormat format_ = KernelFormat::bf16;  ///< the layers'
  RoundStates states_;
  bool is_plain_;
  profiler::DeviceTrace* trace_;
  GpuDescription device_;
  std::vector<Operation> operations_;
  std::vector<Described> described_;
  DeviceMemory operations_memory_;  ///< operations, then each one's place as an entry
  DeviceMemory program_memory_;     ///< ProgramState, then entries, then those that are products
  Variant model_;
  std::map<speculation::WeightFormat, Variant> drafts_;
  ProgramEntry load_inputs_ = 0, head_norm_ = 0, head_product_ = 0, finish_head_ = 0, finish_draft_step_ = 0,
               finish_sampled_step_ = 0, begin_last_token_ = 0, begin_verification_ = 0, warp_rows_ = 0,
               judge_draft_ = 0, keep_inputs_ = 0;
  std::vector<ProgramEntry> keeps_;      ///< by boundary
  std::vector<ProgramEntry> on_device_;  ///< entries that were uploaded last
  ProgramState state_{};                 ///< after the last launch
  std::optional<ProgramTimeline> timeline_;
};

}  // namespace draftscope::engine::cuda

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Passes and rounds as programs (kernels/program.h): what a model's operations are, where its weights lie in
// the order in which they are read, and which of them a pass or a round is.

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "device_memory.h"
#include "gpu.h"
#include "pass_graphs.h"
#include "pass_launcher.h"

namespace draftscope::engine::cuda {

/// How shared memory is divided for programs of up to `rows` rows of a model.
struct ProgramShape {
  std::int32_t scratch_bytes = 0;
  RingShape ring{};
  bool stages_rows = true;  ///< products that normalise hold their rows; else a norm comes ahead of them
  std::size_t shared_bytes = 0;
};

/// `part_bytes`: the most of any format of the program. Rows are staged where at least half of a block's
/// memory is left for the rings. `sampled`: the program cuts distributions.
[[nodiscard]] ProgramShape program_shape(const GpuDescription& device, const speculation::ModelShape& shape,
                                         std::int32_t rows, std::int32_t part_bytes, bool sampled);

class ProgramRunner {
 public:
  /// Whether a block has room for programs of any width that it is asked for.
  [[nodiscard]] static bool fits(const GpuDescription& device, const speculation::ModelShape& shape,
                                 const PassFormats& formats);

  /// Packs the weights of `layers`, which lie in device memory at `base.layers`, and the head's. Nothing but
  /// what it allocates is owned.
  [[nodiscard]] static Result<std::unique_ptr<ProgramRunner>> create(Gpu& gpu, const PassParams& base,
                                                                     const speculation::ModelShape& shape,
                                                                     const PassFormats& formats,
                                                                     std::span<const DeviceLayer> layers,
                                                                     const RoundStates& states);

  /// Packs a draft's weights, which lie at `layers` and in device memory at `base.layers`.
  [[nodiscard]] Result<void> hold_draft(speculation::WeightFormat weights, const PassParams& base,
                                        const PassFormats& formats, std::span<const DeviceLayer> layers);

  /// Whether one program has kernels for the layers' weights and for a draft's: those of one format beside
  /// 16-bit ones.
  [[nodiscard]] bool runs(std::optional<speculation::WeightFormat> weights) const {
    return !weights || drafts_.contains(*weights);
  }
  /// After the device has been waited for: an error if a block waited for others for more than a second in
  /// the program that was launched last.
  [[nodiscard]] Result<void> check() const;

  /// A pass over the slots' layers.
  [[nodiscard]] Result<void> launch_pass(const PassForm& form, std::span<const LayerSlot> slots);
  /// A round whose draft takes these slots.
  [[nodiscard]] Result<void> launch_round(const StepForm& form, std::int32_t draft_length,
                                          std::span<const LayerSlot> slots);

 private:
  /// Places of a layer's operations among all; a product has one for each of two formats, or none.
  struct LayerPlaces {
    std::optional<ProgramEntry> attention_norm, heads, attention, add_attention, mlp_norm, add_mlp;
    std::array<std::optional<ProgramEntry>, 2> qkv, output, gate_up, down;
  };
  /// A model's layers on some weights.
  struct Variant {
    WeightFormat format = WeightFormat::bf16;
    bool has_plain = false;  ///< some matrices are plain beside it
    DeviceMemory pieces;
    std::vector<LayerPlaces> layers;
  };
  struct Written {
    std::vector<ProgramEntry> entries;
    std::int32_t loop_begin = 0, loop_end = 0;
    std::int32_t rows = 1;  ///< rows that it begins with
    std::int32_t draft_length = 0;
  };

  ProgramRunner(Gpu& gpu, const PassParams& base, const speculation::ModelShape& shape,
                const RoundStates& states);
  [[nodiscard]] Result<Variant> pack(const PassParams& base, const PassFormats& formats,
                                     std::span<const DeviceLayer> layers);
  [[nodiscard]] Result<void> pack_head(const PassFormats& formats);
  [[nodiscard]] Result<void> upload_operations();
  [[nodiscard]] ProgramEntry add(const Operation& operation);
  /// Where a program's failure is brought to: PassState::failed_entry and failed_block.
  struct Failure {
    std::int32_t entry = 0, block = 0;
  };
  void write_layer(Written& program, const LayerPlaces& layer, const LayerSlot& slot, bool stages_rows) const;
  void write_head(Written& program, bool logits, bool stages_rows) const;
  void keep(Written& program, std::int32_t boundary) const;
  void write_draft_step(Written& program, const StepForm& form, std::span<const LayerSlot> slots) const;
  void write_verification(Written& program, const StepForm& form, bool stages_rows) const;
  [[nodiscard]] Result<void> launch(Written program, const Variant& variant, const ProgramShape& shape);
  [[nodiscard]] const Variant& variant_of(std::optional<speculation::WeightFormat> weights) const {
    return weights ? drafts_.at(*weights) : model_;
  }
  [[nodiscard]] std::int32_t part_bytes(const Variant& variant) const;

  Gpu& gpu_;
  PassParams base_;
  speculation::ModelShape shape_;
  RoundStates states_;
  GpuDescription device_;
  std::vector<Operation> operations_;
  DeviceMemory operations_memory_;
  DeviceMemory head_;
  DeviceMemory program_memory_;  ///< entries, and the counter of arrivals
  WeightFormat head_format_ = WeightFormat::bf16;
  Variant model_;
  std::map<speculation::WeightFormat, Variant> drafts_;
  ProgramEntry load_inputs_ = 0, head_norm_ = 0, head_product_ = 0, finish_head_ = 0, finish_draft_step_ = 0,
               finish_sampled_step_ = 0, begin_last_token_ = 0, begin_verification_ = 0, warp_rows_ = 0,
               judge_draft_ = 0, keep_inputs_ = 0;
  std::vector<ProgramEntry> keeps_;  ///< by boundary
  Written launched_;
  Failure failure_;
};

}  // namespace draftscope::engine::cuda

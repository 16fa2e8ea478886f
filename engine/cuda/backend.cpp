// SPDX-License-Identifier: GPL-3.0-or-later
#include "backend.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "buffers.h"
#include "checkpoint/file_watch.h"
#include "cpu/key_lists.h"
#include "cpu/validate.h"
#include "cuda/passes/batch_limits.h"
#include "cuda/passes/host_state.h"
#include "cuda/passes/pass_launcher.h"
#include "cuda/passes/program_runner.h"
#include "cuda/weights/model_upload.h"
#include "device_memory.h"
#include "device_states.h"
#include "kernels/launch_shape.h"
#include "numbers/rope.h"

namespace draftscope::engine::cuda {

namespace {

constexpr std::int32_t default_cache_rows = 4096;

class CudaBackend final : public Backend {
 public:
  CudaBackend(std::unique_ptr<Gpu> gpu, const Checkpoint& checkpoint, UploadedModel model,
              DeviceMemory memory, const Buffers& buffers, std::int32_t cache_rows, std::int32_t max_rows,
              std::int32_t n_positions, profiler::DeviceTrace* trace)
      : gpu_(std::move(gpu)),
        checkpoint_(checkpoint),
        model_(std::move(model)),
        memory_(std::move(memory)),
        buffers_(buffers),
        cache_rows_(cache_rows),
        max_rows_(max_rows),
        n_positions_(n_positions),
        trace_(trace),
        positions_(to_size(cache_rows)),
        state_(std::make_unique<PassState>()) {}

  void set_recorder(profiler::SpanRecorder* recorder) override {
    recorder_ = recorder;
    layer_name_id_ = recorder != nullptr ? recorder->name_id("layer") : traces::StringId();
  }
  const speculation::ModelShape& shape() const override { return model_.shape; }
  std::int32_t cache_rows() const override { return cache_rows_; }
  std::int32_t max_rows() const override { return max_rows_; }
  std::int32_t max_invariant_rows() const override { return std::min(max_decode_rows, cache_rows_); }
  std::int32_t max_verified_rows() const override { return std::min(max_verification_rows, cache_rows_); }

  BackendDescription describe() const override {
    const std::size_t kv_bytes = 2 * to_size(model_.shape.n_layers) * to_size(cache_rows_) *
                                 to_size(model_.shape.kv_width()) * sizeof(std::uint16_t);
    const std::string stored(dtype_name(checkpoint_.weights.embedding.dtype));
    const std::string layers(!is_plain(model_.layers) ? weights_name(model_.layers) : "");
    std::size_t draft_bytes = 0;
    for (const auto& [format, draft] : drafts_) draft_bytes += draft.bytes();
    return {.device = "cuda",
            .processor = gpu_->describe().name,
            .kernels = gpu_->describe().architecture + (layers.empty() ? "" : "-" + layers),
            .kv_bytes = kv_bytes,
            .workspace_bytes = memory_.bytes() - kv_bytes,
            .weight_bytes = model_.memory.bytes(),
            .draft_weight_bytes = draft_bytes,
            .weights = layers.empty() ? stored : layers + ", " + stored,
            .draft_formats = draft_formats()};
  }

  /// Uploads tables and creates the parts that need the device; called once after construction.
  Result<void> prepare(DecodingPasses passes) {
    const speculation::ModelShape& shape = model_.shape;
    const std::size_t plane = to_size(cache_rows_) * to_size(shape.kv_width());
    for (std::size_t i = 0; i < model_.host_layers.size(); ++i) {
      model_.host_layers[i].keys = buffers_.cache + 2 * i * plane;
      model_.host_layers[i].values = buffers_.cache + (2 * i + 1) * plane;
    }
    DRAFTSCOPE_TRY(gpu_->upload(buffers_.layers, model_.host_layers.data(),
                                model_.host_layers.size() * sizeof(DeviceLayer)));
    const Rope rope(shape, cache_rows_);
    const std::size_t half = to_size(shape.rotary_width() / 2);
    std::vector<float> cosine(to_size(n_positions_) * half), sine(cosine.size());
    for (std::int32_t position = 0; position < n_positions_; ++position)
      rope.angles(position, cosine.data() + to_size(position) * half, sine.data() + to_size(position) * half);
    DRAFTSCOPE_TRY(gpu_->upload(buffers_.cosine, cosine.data(), cosine.size() * sizeof(float)));
    DRAFTSCOPE_TRY(gpu_->upload(buffers_.sine, sine.data(), sine.size() * sizeof(float)));
    // A round downloads as many head results as it could have had rows, so all of them must be defined.
    DRAFTSCOPE_TRY(gpu_->clear(buffers_.work.head_results, to_size(max_decode_rows) * sizeof(HeadResult)));
    const PassParams params{model_.model, buffers_.work};
    const PassFormats formats{model_.stored, model_.layers, model_.head};
    const std::int32_t rows = std::min(max_rows_, max_decode_rows);
    const std::size_t d_model = to_size(shape.d_model);
    DRAFTSCOPE_TRY_ASSIGN(
        programs_,
        ProgramRunner::create(
            *gpu_, params, shape, formats, {model_.host_layers, model_.weights}, model_.head_weights,
            {buffers_.hidden, buffers_.work.round_states, to_size(rows) * d_model}, passes, trace_));
    launcher_.emplace(*gpu_, params, shape, formats, *programs_);
    states_.emplace(*gpu_, *launcher_, buffers_, d_model, rows, *state_);
    return gpu_->synchronise();
  }

  Result<void> prepare_draft_weights(speculation::WeightFormat format) override {
    if (drafts_.contains(format)) return {};
    DRAFTSCOPE_TRY_ASSIGN(const KernelFormat held, draft_format(format));
    DRAFTSCOPE_TRY_ASSIGN(UploadedDraftLayers layers, upload_draft_layers(*gpu_, checkpoint_, model_, held));
    // The draft layers use the keys and values of the model's own layers.
    DRAFTSCOPE_TRY(programs_->add_draft(format, {layers.layers, layers.weights}));
    drafts_.try_emplace(format, std::move(layers.memory));
    return {};
  }

  StateBank* states() override { return &*states_; }

  Result<void> forward(const Batch& batch, Outputs& outputs) override {
    DRAFTSCOPE_TRY(cpu::check_batch(batch, model_.shape,
                                    {cache_rows_, max_rows_, buffers_.work.n_round_states, states_->size()}));
    DRAFTSCOPE_TRY(check_limits(batch, limits()));
    DRAFTSCOPE_TRY(check_weights(batch.weights, "batch"));
    DRAFTSCOPE_TRY(arrange(batch));
    DRAFTSCOPE_TRY(upload_batch(batch));
    const auto rows = static_cast<std::int32_t>(batch.rows.size());
    const Wanted& wanted = batch.wanted;
    const std::int32_t head_rows = wanted.head ? rows - wanted.head_from : 0;
    const bool logits = wanted.logits || wanted.top_k > 1;
    if (rows > max_decode_rows)
      DRAFTSCOPE_TRY(launch_wide(batch, logits));
    else
      DRAFTSCOPE_TRY(programs_->launch_pass(
          {rows, wanted.head, logits, batch.weights, kept_slots(wanted.hidden_after), state_->max_keys},
          slots_));
    if (wanted.top_k > 1) DRAFTSCOPE_TRY(launcher_->select_top(head_rows, wanted.top_k, buffers_.top));
    return download(batch, head_rows, outputs);
  }

  /// A draft step with a sliding window would have to move the window, so such rounds go through forward().
  bool has_chain_rounds() const override { return window() == 0; }

  /// True unless device activity is recorded: it is attributed to rounds by their launches.
  bool runs_ahead() const override { return has_chain_rounds() && trace_ == nullptr; }

  Result<void> chain_round(const ChainRound& round, ChainRoundOutputs& outputs) override {
    DRAFTSCOPE_TRY(check_round(round, limits()));
    DRAFTSCOPE_TRY(check_weights(round.weights, "chain round"));
    set_round(round, *state_);
    for (std::int32_t i = 0; i <= round.draft_length; ++i)
      positions_[to_size(round.root_position + i)] = round.root_position + i;
    place_slots(round.layers, round.mask);
    DRAFTSCOPE_TRY(upload_state(1));
    DRAFTSCOPE_TRY(programs_->launch_round({.draft_length = round.draft_length,
                                            .weights = round.weights,
                                            .sampled = is_sampled(round),
                                            .above_exit = round.above_exit,
                                            .keeps_states = !round.states.empty(),
                                            .verifies = round.verifies,
                                            .keys = round.root_position + 1},
                                           slots_));
    results_.resize(round.verifies ? to_size(round.draft_length + 1) : 0);
    DRAFTSCOPE_TRY(
        gpu_->download(state_.get(), buffers_.work.state,
                       offsetof(PassState, draft) + to_size(round.draft_length) * sizeof(DraftedToken)));
    DRAFTSCOPE_TRY(
        gpu_->download(results_.data(), buffers_.work.head_results, results_.size() * sizeof(HeadResult)));
    DRAFTSCOPE_TRY(gpu_->synchronise());
    DRAFTSCOPE_TRY(programs_->check());
    take_round(*state_, results_, is_sampled(round), outputs);
    return download_states(round, outputs);
  }

  Result<void> move_cache_rows(std::span<const CacheMove> moves) override {
    DRAFTSCOPE_TRY(cpu::check_moves(moves, cache_rows_));
    if (moves.empty()) return {};
    std::vector<RowMove> rows;
    rows.reserve(moves.size());
    for (const CacheMove& move : moves) {
      rows.push_back({move.from, move.to});
      positions_[to_size(move.to)] = positions_[to_size(move.from)];
    }
    for (std::size_t done = 0; done < rows.size(); done += to_size(cache_rows_)) {
      const std::size_t count = std::min(rows.size() - done, to_size(cache_rows_));
      DRAFTSCOPE_TRY(gpu_->upload(buffers_.moves, rows.data() + done, count * sizeof(RowMove)));
      DRAFTSCOPE_TRY(
          launcher_->move_cache_rows(buffers_.layers, static_cast<std::int32_t>(count), buffers_.moves));
    }
    return {};
  }

  Result<void> check_weights() const override { return check_watched_files(); }
  Result<void> check_weights_unchanged() const override { return check_watched_files_unchanged(); }

 private:
  /// For each boundary, the first slot at or after it. Layers that skip both sublayers have no slot.
  [[nodiscard]] std::vector<std::int32_t> kept_slots(std::span<const std::int32_t> boundaries) const {
    std::vector<std::int32_t> slots;
    slots.reserve(boundaries.size());
    for (const std::int32_t boundary : boundaries) {
      const auto after = std::find_if(slots_.begin(), slots_.end(),
                                      [&](const LayerSlot& slot) { return slot.layer >= boundary; });
      slots.push_back(static_cast<std::int32_t>(after - slots_.begin()));
    }
    return slots;
  }

  [[nodiscard]] Result<KernelFormat> draft_format(speculation::WeightFormat format) const {
    return draft_layer_format(checkpoint_, model_, format);
  }
  [[nodiscard]] std::vector<speculation::WeightFormat> draft_formats() const {
    std::vector<speculation::WeightFormat> formats;
    for (const speculation::WeightFormatRow& row : speculation::weight_formats())
      if (draft_format(row.format)) formats.push_back(row.format);
    return formats;
  }

  /// The sliding window in tokens; 0 if it covers the whole cache.
  [[nodiscard]] std::int32_t window() const {
    return model_.shape.sliding_window < cache_rows_ ? model_.shape.sliding_window : 0;
  }
  [[nodiscard]] Result<void> check_weights(std::optional<speculation::WeightFormat> weights,
                                           std::string_view place) const {
    if (!weights || drafts_.contains(*weights)) return {};
    return fail("{}: found weights {}, expected those that are held for drafts", place,
                speculation::weight_format_name(*weights));
  }

  [[nodiscard]] BackendLimits limits() const {
    return {.vocab = model_.shape.vocab,
            .n_layers = model_.shape.n_layers,
            .cache_rows = cache_rows_,
            .positions = n_positions_,
            .invariant_rows = max_invariant_rows()};
  }

  /// Assigns a slot to every layer that runs, in order; layers that skip both sublayers get none.
  void place_slots(LayerRange range, const speculation::SublayerMask* mask) {
    slots_.clear();
    for (std::int32_t layer = range.begin; layer < range.end; ++layer) {
      const LayerSlot slot{layer, mask == nullptr || mask->runs_attention(layer) ? 1 : 0,
                           mask == nullptr || mask->runs_mlp(layer) ? 1 : 0};
      if (slot.attention != 0 || slot.mlp != 0) slots_.push_back(slot);
    }
  }

  /// Fills the host's copy of the pass's state. Error: the rows have more keys than the device has room for.
  Result<void> arrange(const Batch& batch) {
    set_rows(batch, *state_);
    if (batch.layers.begin >= batch.layers.end) return {};
    for (std::size_t i = 0; i < batch.rows.size(); ++i)
      positions_[to_size(batch.first_row) + i] = batch.rows[i].position;
    lists_.build(batch, positions_, window());
    set_keys(batch, lists_.ranges(), window() != 0, *state_);
    if (lists_.extra().size() <= max_extra_keys) return {};
    return fail("batch.ancestors name {} keys, expected at most {} on this device", lists_.extra().size(),
                max_extra_keys);
  }

  Result<void> upload_batch(const Batch& batch) {
    const std::span<const std::int32_t> extra = lists_.extra();
    if (batch.layers.begin < batch.layers.end && !extra.empty())
      DRAFTSCOPE_TRY(gpu_->upload(buffers_.extra_keys, extra.data(), extra.size_bytes()));
    if (!batch.hidden.empty())
      DRAFTSCOPE_TRY(gpu_->upload(buffers_.hidden, batch.hidden.data(), batch.hidden.size_bytes()));
    place_slots(batch.layers, batch.mask);
    return upload_state(batch.rows.size());
  }

  /// Uploads the state with the first `rows` rows of the pass.
  Result<void> upload_state(std::size_t rows) {
    return gpu_->upload(buffers_.work.state, state_.get(), offsetof(PassState, row) + rows * sizeof(PassRow));
  }

  /// Launches the operations of a pass that has more rows than decoding kernels take.
  Result<void> launch_wide(const Batch& batch, bool logits) {
    const auto rows = static_cast<std::int32_t>(batch.rows.size());
    DRAFTSCOPE_TRY(programs_->load_inputs(rows));
    for (const LayerSlot& slot : slots_) {
      const profiler::ScopedSpan span(recorder_, profiler::Level::layers, layer_name_id_, slot.layer);
      DRAFTSCOPE_TRY(launcher_->wide_layer(slot, model_.host_layers[to_size(slot.layer)],
                                           model_.weights[to_size(slot.layer)], rows,
                                           lists_.extra().empty()));
    }
    if (!batch.wanted.head) return {};
    return programs_->run_head({batch.wanted.head_from, rows - batch.wanted.head_from}, logits);
  }

  /// Downloads the states of a round's rows; their number follows from what the round drafted.
  Result<void> download_states(const ChainRound& round, ChainRoundOutputs& outputs) {
    if (round.states.empty() || round.keeps_states) {
      outputs.hidden.clear();
      return {};
    }
    DRAFTSCOPE_TRY(download_boundaries(round.states, outputs.verified.size(), outputs.hidden));
    return gpu_->synchronise();
  }

  /// Downloads the first `rows` states at each boundary, with one copy per run of consecutive boundaries.
  Result<void> download_boundaries(std::span<const std::int32_t> boundaries, std::size_t rows,
                                   std::vector<float>& hidden) {
    const std::size_t d_model = to_size(model_.shape.d_model);
    const std::size_t kept = to_size(std::min(max_rows_, max_decode_rows)) * d_model;
    const std::size_t values = rows * d_model;
    hidden.resize(boundaries.size() * values);
    for (std::size_t first = 0; first < boundaries.size();) {
      std::size_t end = first + 1;
      while (end < boundaries.size() && boundaries[end] == boundaries[end - 1] + 1) ++end;
      DRAFTSCOPE_TRY(gpu_->download_rows(hidden.data() + first * values,
                                         buffers_.work.round_states + to_size(boundaries[first]) * kept,
                                         {values * sizeof(float), end - first, kept * sizeof(float)}));
      first = end;
    }
    return {};
  }

  /// Downloads the states that a wide pass has after its last layer.
  Result<void> download_residual(std::size_t rows, std::vector<float>& hidden) {
    hidden.resize(rows * to_size(model_.shape.d_model));
    return gpu_->download(hidden.data(), buffers_.work.residual, hidden.size() * sizeof(float));
  }

  Result<void> download(const Batch& batch, std::int32_t head_rows, Outputs& outputs) {
    const Wanted& wanted = batch.wanted;
    outputs.logits.resize(wanted.logits ? to_size(head_rows) * to_size(model_.shape.vocab) : 0);
    outputs.top.resize(to_size(head_rows) * to_size(wanted.top_k));
    results_.resize(outputs.top.size());
    // A pass stores its states in order, from boundary 0 on.
    const bool keeps_states = wanted.keep_at >= 0;  // They stay in the bank.
    kept_.resize(keeps_states ? 0 : wanted.hidden_after.size());
    std::iota(kept_.begin(), kept_.end(), 0);
    if (batch.rows.size() > to_size(max_decode_rows) && !kept_.empty())
      DRAFTSCOPE_TRY(download_residual(batch.rows.size(), outputs.hidden));
    else
      DRAFTSCOPE_TRY(download_boundaries(kept_, batch.rows.size(), outputs.hidden));
    if (!outputs.logits.empty())
      DRAFTSCOPE_TRY(
          gpu_->download(outputs.logits.data(), buffers_.work.logits, outputs.logits.size() * sizeof(float)));
    const HeadResult* source = wanted.top_k > 1 ? buffers_.top : buffers_.work.head_results;
    if (!results_.empty())
      DRAFTSCOPE_TRY(gpu_->download(results_.data(), source, results_.size() * sizeof(HeadResult)));
    // Nobody needs to wait for states that stay on the device.
    if (keeps_states && !wanted.head) return {};
    DRAFTSCOPE_TRY(gpu_->synchronise());
    DRAFTSCOPE_TRY(programs_->check());
    for (std::size_t i = 0; i < results_.size(); ++i)
      outputs.top[i] = {results_[i].token, results_[i].logit, results_[i].probability};
    return {};
  }

  std::unique_ptr<Gpu> gpu_;  // Declared first, so that memory is released before the device.
  Checkpoint checkpoint_;
  UploadedModel model_;
  DeviceMemory memory_;
  Buffers buffers_;
  std::int32_t cache_rows_;
  std::int32_t max_rows_;
  std::int32_t n_positions_;
  std::map<speculation::WeightFormat, DeviceMemory> drafts_;
  std::unique_ptr<ProgramRunner> programs_;
  std::optional<PassLauncher> launcher_;
  profiler::DeviceTrace* trace_;
  profiler::SpanRecorder* recorder_ = nullptr;
  traces::StringId layer_name_id_;
  std::vector<std::int32_t> positions_;  // Positions of the cache rows.
  KeyLists lists_;
  std::vector<LayerSlot> slots_;
  std::vector<std::int32_t> kept_;  // Boundaries of the states that a pass stores.
  std::unique_ptr<PassState> state_;
  std::optional<DeviceStates> states_;
  std::vector<HeadResult> results_;
};

}  // namespace

Result<std::unique_ptr<Backend>> make_backend(std::unique_ptr<Gpu> gpu, const Checkpoint& checkpoint,
                                              const CudaOptions& options) {
  if (options.cache_rows < 0)
    return fail("cuda backend: cache_rows is {}, expected 0 or more", options.cache_rows);
  DRAFTSCOPE_TRY(check_model(checkpoint, options, gpu->describe()));
  const speculation::ModelShape& shape = checkpoint.shape;
  const std::int32_t cache_rows =
      options.cache_rows > 0 ? options.cache_rows : std::min(shape.max_positions, default_cache_rows);
  const std::int32_t rows = std::min(max_pass_rows, cache_rows);
  const std::int32_t n_positions = std::max(shape.max_positions, cache_rows);
  const BufferSizes sizes{cache_rows, rows, n_positions};
  Pieces measured(nullptr);
  (void)place_buffers(measured, shape, sizes);
  DRAFTSCOPE_TRY(check_memory(*gpu, checkpoint, options, measured.bytes(), cache_rows));
  DRAFTSCOPE_TRY_ASSIGN(UploadedModel model, upload_model(*gpu, checkpoint, options.weights));
  DRAFTSCOPE_TRY_ASSIGN(DeviceMemory memory,
                        DeviceMemory::allocate(*gpu, measured.bytes(), "the K/V cache and buffers"));
  Pieces pieces(memory.data());
  const Buffers buffers = place_buffers(pieces, shape, sizes);
  model.model.cache_rows = cache_rows;
  model.model.n_positions = n_positions;
  model.model.cosine = buffers.cosine;
  model.model.sine = buffers.sine;
  auto backend =
      std::make_unique<CudaBackend>(std::move(gpu), checkpoint, std::move(model), std::move(memory), buffers,
                                    cache_rows, rows, n_positions, options.device_trace);
  DRAFTSCOPE_TRY(backend->prepare(options.passes));
  return backend;
}

}  // namespace draftscope::engine::cuda

// SPDX-License-Identifier: GPL-3.0-or-later
#include "backend.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "backend/key_lists.h"
#include "cpu/rope.h"
#include "cpu/validate.h"
#include "device_memory.h"
#include "kernels/launch_shape.h"
#include "model_upload.h"
#include "pass_launcher.h"

namespace draftscope::engine::cuda {

namespace {

constexpr std::int32_t default_cache_rows = 4096;
constexpr std::int32_t max_extra_keys = 64 * 1024;  // of all rows of a batch together
constexpr std::int32_t every_key = 1 << 30;

std::size_t size(std::int32_t n) {
  return static_cast<std::size_t>(n);
}

/// What the graphs of a round depend on.
struct StepForm {
  std::int32_t slots = 0;  ///< layers that run
  bool sampled = false;
  friend bool operator<(const StepForm& a, const StepForm& b) {
    return std::tie(a.slots, a.sampled) < std::tie(b.slots, b.sampled);
  }
};
struct VerificationForm {
  std::int32_t rows = 1;
  bool sampled = false;
  friend bool operator<(const VerificationForm& a, const VerificationForm& b) {
    return std::tie(a.rows, a.sampled) < std::tie(b.rows, b.sampled);
  }
};

/// Everything in device memory but the weights.
struct Buffers {
  DeviceLayer* layers = nullptr;
  DeviceLayer* draft_layers = nullptr;  ///< their matrices in fp8; used with fp8 drafts alone
  LayerSlot* slots = nullptr;           ///< [2][n_layers]: a pass's (or a draft's), and all layers
  std::int32_t* extra_keys = nullptr;
  float* hidden = nullptr;
  float* boundary_states = nullptr;  ///< [most boundaries asked for][rows][d_model]; the residual's copies
  HeadResult* top = nullptr;
  RowMove* moves = nullptr;
  float* cosine = nullptr;
  float* sine = nullptr;
  std::uint16_t* cache = nullptr;
  Workspace work{};
};

/// Takes the same pieces in the same order every time; with a null base it only measures.
Buffers place_buffers(Pieces& pieces, const speculation::ModelShape& shape, std::int32_t cache_rows,
                      std::int32_t rows, std::int32_t n_positions, bool fp8) {
  Buffers b;
  const std::size_t d_model = size(shape.d_model);
  const std::size_t group = size(shape.n_heads / shape.n_kv_heads);
  b.cache = pieces.take<std::uint16_t>(2 * size(shape.n_layers) * size(cache_rows) * size(shape.kv_width()));
  b.layers = pieces.take<DeviceLayer>(size(shape.n_layers));
  b.draft_layers = pieces.take<DeviceLayer>(size(shape.n_layers));
  b.slots = pieces.take<LayerSlot>(2 * size(shape.n_layers));
  b.extra_keys = pieces.take<std::int32_t>(max_extra_keys);
  b.hidden = pieces.take<float>(size(rows) * d_model);
  b.boundary_states =
      pieces.take<float>((size(shape.n_layers) + 1) * size(std::min(rows, max_decode_rows)) * d_model);
  b.top = pieces.take<HeadResult>(size(max_decode_rows) * size(std::min(shape.vocab, max_top)));
  b.moves = pieces.take<RowMove>(size(cache_rows));
  b.cosine = pieces.take<float>(size(n_positions) * size(shape.head_dim / 2));
  b.sine = pieces.take<float>(size(n_positions) * size(shape.head_dim / 2));
  Workspace& work = b.work;
  work.state = pieces.take<PassState>(1);
  work.residual = pieces.take<float>(size(rows) * d_model);
  work.queries = pieces.take<std::uint16_t>(size(rows) * size(shape.q_width()));
  work.attended = pieces.take<std::uint16_t>(size(rows) * size(shape.q_width()));
  work.gated = pieces.take<std::uint16_t>(size(rows) * size(shape.d_ff));
  work.normed = pieces.take<std::uint16_t>(size(rows) * d_model);
  work.wide = pieces.take<float>(PassLauncher::wide_values(shape, rows));
  const std::size_t places =
      size(shape.n_kv_heads) * size(max_splits(cache_rows)) * size(max_decode_rows) * group;
  work.split_sums = pieces.take<float>(places * size(shape.head_dim));
  work.split_statistics = pieces.take<float>(places * 2);
  work.arrivals = pieces.take<unsigned>(size(shape.n_kv_heads));
  work.logits = pieces.take<float>(size(max_decode_rows) * size(shape.vocab));
  const std::size_t tiles = size((shape.vocab + tile_outputs - 1) / tile_outputs);
  work.head_partials = pieces.take<HeadPartial>(size(max_decode_rows) * tiles);
  work.head_results = pieces.take<HeadResult>(size(max_decode_rows));
  work.draft_logits = pieces.take<float>(size(max_drafted_tokens) * size(shape.vocab));
  work.draft_rows = pieces.take<WarpedRow>(size(max_drafted_tokens));
  work.target_rows = pieces.take<WarpedRow>(size(max_decode_rows));
  if (fp8) {
    const std::size_t widest = std::max(size(shape.d_ff), size(shape.q_width()));
    work.widened = pieces.take<std::uint16_t>(widest * d_model);
  }
  work.slots = b.slots;
  work.extra_keys = b.extra_keys;
  work.hidden = b.hidden;
  return b;
}

class CudaBackend final : public Backend {
 public:
  /// Without fp8 drafts `draft` has no layers.
  CudaBackend(std::unique_ptr<Gpu> gpu, UploadedModel model, UploadedDraftLayers draft, DeviceMemory memory,
              const Buffers& buffers, std::int32_t cache_rows, std::int32_t max_rows,
              std::int32_t n_positions, profiler::DeviceTrace* trace)
      : gpu_(std::move(gpu)),
        model_(std::move(model)),
        draft_(std::move(draft)),
        memory_(std::move(memory)),
        buffers_(buffers),
        cache_rows_(cache_rows),
        max_rows_(max_rows),
        n_positions_(n_positions),
        launcher_(*gpu_, {model_.model, buffers_.work, buffers_.layers, 0, 0, 0}, model_.shape, model_.stored,
                  model_.layers, trace),
        draft_launcher_(*gpu_,
                        {model_.model, buffers_.work,
                         has_fp8_drafts() ? buffers_.draft_layers : buffers_.layers, 0, 0, 0},
                        model_.shape, model_.stored, has_fp8_drafts() ? WeightFormat::fp8 : model_.layers,
                        trace),
        trace_(trace),
        positions_(size(cache_rows)),
        state_(std::make_unique<PassState>()) {}

  void set_recorder(profiler::SpanRecorder* recorder) override {
    recorder_ = recorder;
    layer_name_ = recorder != nullptr ? recorder->name_id("layer") : 0;
  }
  const speculation::ModelShape& shape() const override { return model_.shape; }
  std::int32_t cache_rows() const override { return cache_rows_; }
  std::int32_t max_rows() const override { return max_rows_; }
  std::int32_t max_invariant_rows() const override { return std::min(max_decode_rows, cache_rows_); }

  BackendDescription describe() const override {
    const std::size_t kv_bytes = 2 * size(model_.shape.n_layers) * size(cache_rows_) *
                                 size(model_.shape.kv_width()) * sizeof(std::uint16_t);
    const char* const kernels = has_fp8_drafts()                     ? "sm90-fp8-drafts"
                                : model_.layers == WeightFormat::fp8 ? "sm90-fp8"
                                                                     : "sm90";
    return {"cuda", gpu_->describe().name, kernels, 0, kv_bytes, memory_.bytes() - kv_bytes};
  }

  /// What construction leaves to do on the device.
  Result<void> prepare() {
    const speculation::ModelShape& shape = model_.shape;
    const std::size_t plane = size(cache_rows_) * size(shape.kv_width());
    for (std::size_t i = 0; i < model_.host_layers.size(); ++i) {
      model_.host_layers[i].keys = buffers_.cache + 2 * i * plane;
      model_.host_layers[i].values = buffers_.cache + (2 * i + 1) * plane;
    }
    DRAFTSCOPE_TRY(gpu_->upload(buffers_.layers, model_.host_layers.data(),
                                model_.host_layers.size() * sizeof(DeviceLayer)));
    for (std::size_t i = 0; i < draft_.host_layers.size(); ++i) {
      draft_.host_layers[i].keys = model_.host_layers[i].keys;
      draft_.host_layers[i].values = model_.host_layers[i].values;
    }
    DRAFTSCOPE_TRY(gpu_->upload(buffers_.draft_layers, draft_.host_layers.data(),
                                draft_.host_layers.size() * sizeof(DeviceLayer)));
    const cpu::Rope rope(shape);
    const std::size_t half = size(shape.head_dim / 2);
    std::vector<float> cosine(size(n_positions_) * half), sine(cosine.size());
    for (std::int32_t position = 0; position < n_positions_; ++position)
      rope.angles(position, cosine.data() + size(position) * half, sine.data() + size(position) * half);
    DRAFTSCOPE_TRY(gpu_->upload(buffers_.cosine, cosine.data(), cosine.size() * sizeof(float)));
    DRAFTSCOPE_TRY(gpu_->upload(buffers_.sine, sine.data(), sine.size() * sizeof(float)));
    DRAFTSCOPE_TRY(gpu_->clear(buffers_.work.arrivals, size(shape.n_kv_heads) * sizeof(unsigned)));
    // A round brings back as many rows as it might have had.
    DRAFTSCOPE_TRY(gpu_->clear(buffers_.work.head_results, size(max_decode_rows) * sizeof(HeadResult)));
    std::vector<LayerSlot> all;
    all.reserve(size(shape.n_layers));
    for (std::int32_t layer = 0; layer < shape.n_layers; ++layer) all.push_back({layer, 1, 1});
    DRAFTSCOPE_TRY(gpu_->upload(buffers_.slots + shape.n_layers, all.data(), all.size() * sizeof(LayerSlot)));
    return gpu_->synchronise();
  }

  Result<void> forward(const Batch& batch, Outputs& outputs) override {
    DRAFTSCOPE_TRY(cpu::check_batch(batch, model_.shape, {cache_rows_, max_rows_}));
    DRAFTSCOPE_TRY(check_limits(batch));
    DRAFTSCOPE_TRY(upload_batch(batch));
    const auto rows = static_cast<std::int32_t>(batch.rows.size());
    const bool is_wide = rows > max_decode_rows;
    const Wanted& wanted = batch.wanted;
    const std::int32_t head_rows = wanted.head ? rows - wanted.head_from : 0;
    const bool logits = wanted.logits || wanted.top_k > 1;
    if (is_wide || !wanted.hidden_after.empty() || wanted.head_from != 0)
      DRAFTSCOPE_TRY(launch_singly(batch, is_wide, logits));
    else
      DRAFTSCOPE_TRY(launch_as_graph({static_cast<std::int32_t>(slots_.size()), rows, wanted.head, logits,
                                      batch.is_draft && has_fp8_drafts()}));
    if (wanted.top_k > 1) DRAFTSCOPE_TRY(launcher_.select_top(head_rows, wanted.top_k, buffers_.top));
    return download(batch, head_rows, outputs);
  }

  /// With a sliding window a draft step would have to move the window: left to forward().
  bool has_chain_rounds() const override { return model_.shape.sliding_window == 0; }

  Result<void> chain_round(const ChainRound& round, ChainRoundOutputs& outputs) override {
    DRAFTSCOPE_TRY(check_round(round));
    PassState& state = *state_;
    state.rows = 1;
    state.first_row = round.root_position;
    state.shared_keys = every_key;
    state.max_keys = round.root_position + 1;
    state.head_from = 0;
    state.stopped = 0;
    state.drafted = 0;
    state.root_token = round.root;
    state.root_position = round.root_position;
    state.threshold = static_cast<float>(round.threshold);
    state.n_stop_tokens = static_cast<std::int32_t>(round.stops.size());
    std::copy(round.stops.begin(), round.stops.end(), state.stop_tokens);
    state.inputs[0] = {round.root, -1, round.root_position};
    state.keys[0] = {0, round.root_position + 1, 0, 0};
    for (std::int32_t i = 0; i <= round.draft_length; ++i)
      positions_[size(round.root_position + i)] = round.root_position + i;
    const bool sampled = round.sampling != nullptr && !round.sampling->greedy();
    if (sampled)
      state.sampling = {.inverse_temperature = static_cast<float>(1.0 / round.sampling->temperature),
                        .top_k = round.sampling->top_k,
                        .top_p = round.sampling->top_p,
                        .temperature = round.sampling->temperature,
                        .coupled = round.sampling->coupled ? 1 : 0,
                        .seed = round.key.seed,
                        .stream = round.key.stream};
    choose_slots(round.layers, round.mask);
    if (!slots_.empty())
      DRAFTSCOPE_TRY(gpu_->upload(buffers_.slots, slots_.data(), slots_.size() * sizeof(LayerSlot)));
    DRAFTSCOPE_TRY(gpu_->upload(buffers_.work.state, &state, sizeof state));
    DRAFTSCOPE_TRY(launch_round({static_cast<std::int32_t>(slots_.size()), sampled}, round.draft_length));
    results_.resize(size(round.draft_length + 1));
    DRAFTSCOPE_TRY(gpu_->download(&state, buffers_.work.state, sizeof state));
    DRAFTSCOPE_TRY(
        gpu_->download(results_.data(), buffers_.work.head_results, results_.size() * sizeof(HeadResult)));
    DRAFTSCOPE_TRY(gpu_->synchronise());
    outputs.drafted.clear();
    outputs.drawn_probabilities.clear();
    for (std::int32_t i = 0; i < state.drafted; ++i) {
      outputs.drafted.push_back({state.draft[i].token, state.draft[i].logit, state.draft[i].probability});
      outputs.drawn_probabilities.push_back(state.draft[i].drawn_probability);
    }
    outputs.accepted = sampled ? state.accepted : 0;
    outputs.own_token = sampled ? state.own_token : -1;
    outputs.verified.clear();
    for (std::int32_t i = 0; i <= state.drafted; ++i)
      outputs.verified.push_back(
          {results_[size(i)].token, results_[size(i)].logit, results_[size(i)].probability});
    outputs.verify_ns = static_cast<std::int64_t>(state.end_ns - state.verify_start_ns);
    return {};
  }

  Result<void> move_cache_rows(std::span<const CacheMove> moves) override {
    DRAFTSCOPE_TRY(cpu::check_moves(moves, cache_rows_));
    if (moves.empty()) return {};
    std::vector<RowMove> rows;
    rows.reserve(moves.size());
    for (const CacheMove& move : moves) {
      rows.push_back({move.from, move.to});
      positions_[size(move.to)] = positions_[size(move.from)];
    }
    for (std::size_t done = 0; done < rows.size(); done += size(cache_rows_)) {
      const std::size_t count = std::min(rows.size() - done, size(cache_rows_));
      DRAFTSCOPE_TRY(gpu_->upload(buffers_.moves, rows.data() + done, count * sizeof(RowMove)));
      DRAFTSCOPE_TRY(
          launcher_.move_cache_rows(model_.shape.n_layers, static_cast<std::int32_t>(count), buffers_.moves));
    }
    return {};
  }

 private:
  [[nodiscard]] bool has_fp8_drafts() const { return !draft_.host_layers.empty(); }

  Result<void> check_round(const ChainRound& round) const {
    if (round.root < 0 || round.root >= model_.shape.vocab)
      return fail("chain round: root is {}, expected 0 to {}", round.root, model_.shape.vocab - 1);
    const std::int32_t most = std::min(max_invariant_rows() - 1, max_drafted_tokens);
    if (round.draft_length < 0 || round.draft_length > most)
      return fail("chain round: draft_length is {}, expected 0 to {}", round.draft_length, most);
    if (round.sampling != nullptr) DRAFTSCOPE_TRY(check(*round.sampling));
    if (round.root_position < 0 ||
        round.root_position + round.draft_length >= std::min(cache_rows_, n_positions_))
      return fail(
          "chain round: root_position is {} with draft_length {}, expected them to end within {} rows",
          round.root_position, round.draft_length, std::min(cache_rows_, n_positions_));
    if (round.layers.begin != 0 || round.layers.end < 0 || round.layers.end > model_.shape.n_layers)
      return fail("chain round: layers are [{}, {}), expected [0, E) with E at most {}", round.layers.begin,
                  round.layers.end, model_.shape.n_layers);
    if (round.mask != nullptr && round.mask->n_layers() != model_.shape.n_layers)
      return fail("chain round: mask is for {} layers, expected {}", round.mask->n_layers(),
                  model_.shape.n_layers);
    if (round.stops.size() > max_stop_tokens)
      return fail("chain round: {} stop tokens, expected at most {}", round.stops.size(), max_stop_tokens);
    return {};
  }

  Result<void> check_limits(const Batch& batch) const {
    for (std::size_t i = 0; i < batch.rows.size(); ++i)
      if (batch.rows[i].position >= n_positions_)
        return fail("batch.rows[{}].position is {}, expected less than {} on this device", i,
                    batch.rows[i].position, n_positions_);
    if (batch.wanted.top_k > max_top)
      return fail("batch.wanted.top_k is {}, expected at most {} on this device", batch.wanted.top_k,
                  max_top);
    const auto rows = static_cast<std::int32_t>(batch.rows.size());
    if (batch.wanted.head && rows - batch.wanted.head_from > max_decode_rows)
      return fail("batch.wanted.head_from is {} of {} rows, expected at most {} head rows on this device",
                  batch.wanted.head_from, rows, max_decode_rows);
    if (!batch.wanted.hidden_after.empty() && rows > max_decode_rows)
      return fail("batch.wanted.hidden_after is given for {} rows, expected at most {} on this device", rows,
                  max_decode_rows);
    return {};
  }

  /// Which layers run, in order; those that skip both sublayers take no place.
  void choose_slots(LayerRange range, const speculation::SublayerMask* mask) {
    slots_.clear();
    layers_.clear();
    for (std::int32_t layer = range.begin; layer < range.end; ++layer) {
      const LayerSlot slot{layer, mask == nullptr || mask->runs_attention(layer) ? 1 : 0,
                           mask == nullptr || mask->runs_mlp(layer) ? 1 : 0};
      if (slot.attention == 0 && slot.mlp == 0) continue;
      slots_.push_back(slot);
      layers_.push_back(layer);
    }
  }

  Result<void> upload_batch(const Batch& batch) {
    PassState& state = *state_;
    const auto rows = static_cast<std::int32_t>(batch.rows.size());
    state.rows = rows;
    state.first_row = batch.first_row;
    state.head_from = batch.wanted.head ? batch.wanted.head_from : 0;
    state.stopped = 0;
    state.drafted = 0;
    state.shared_keys = 0;
    state.max_keys = 0;
    for (std::size_t i = 0; i < batch.rows.size(); ++i)
      state.inputs[i] = {batch.rows[i].token, batch.rows[i].hidden, batch.rows[i].position};
    if (batch.layers.begin < batch.layers.end) {
      for (std::int32_t i = 0; i < rows; ++i)
        positions_[size(batch.first_row + i)] = batch.rows[size(i)].position;
      lists_.build(batch, positions_, model_.shape.sliding_window);
      state.shared_keys = batch.ancestors.empty() ? every_key : batch.committed;
      for (std::size_t i = 0; i < batch.rows.size(); ++i) {
        const KeyListRange& range = lists_.ranges()[i];
        state.keys[i] = {range.begin, range.end, range.extra_begin, range.extra_end};
        state.max_keys = std::max(state.max_keys, range.size());
        if (range.begin != 0) state.shared_keys = 0;
        if (batch.ancestors.empty() && range.extra_end > range.extra_begin) state.shared_keys = 0;
      }
      if (model_.shape.sliding_window != 0) state.shared_keys = 0;
      const std::span<const std::int32_t> extra = lists_.extra();
      if (extra.size() > max_extra_keys)
        return fail("batch.ancestors name {} keys, expected at most {} on this device", extra.size(),
                    max_extra_keys);
      if (!extra.empty()) DRAFTSCOPE_TRY(gpu_->upload(buffers_.extra_keys, extra.data(), extra.size_bytes()));
    }
    if (!batch.hidden.empty())
      DRAFTSCOPE_TRY(gpu_->upload(buffers_.hidden, batch.hidden.data(), batch.hidden.size_bytes()));
    choose_slots(batch.layers, batch.mask);
    if (!slots_.empty())
      DRAFTSCOPE_TRY(gpu_->upload(buffers_.slots, slots_.data(), slots_.size() * sizeof(LayerSlot)));
    return gpu_->upload(buffers_.work.state, &state, sizeof state);
  }

  /// Launch by launch: what a graph does not cover.
  Result<void> launch_singly(const Batch& batch, bool is_wide, bool logits) {
    const auto rows = static_cast<std::int32_t>(batch.rows.size());
    PassLauncher& launcher = batch.is_draft && !is_wide ? draft_launcher_ : launcher_;
    DRAFTSCOPE_TRY(launcher.load_inputs(rows));
    const auto boundaries = batch.wanted.hidden_after;
    std::size_t copied = 0;
    const auto copy_boundary = [&](std::int32_t boundary) -> Result<void> {
      if (copied == boundaries.size() || boundaries[copied] != boundary) return {};
      const std::size_t values = batch.rows.size() * size(model_.shape.d_model);
      return gpu_->copy(buffers_.boundary_states + copied++ * values, buffers_.work.residual,
                        values * sizeof(float));
    };
    std::int32_t slot = 0;
    for (std::int32_t layer = batch.layers.begin; layer < batch.layers.end; ++layer) {
      DRAFTSCOPE_TRY(copy_boundary(layer));
      if (size(slot) == slots_.size() || slots_[size(slot)].layer != layer) continue;
      const LayerSlot& runs = slots_[size(slot)];
      const profiler::ScopedSpan span(recorder_, profiler::Level::layers, layer_name_, layer);
      if (is_wide)
        DRAFTSCOPE_TRY(launcher_.wide_layer(slot, model_.host_layers[size(layer)], rows, runs.attention != 0,
                                            runs.mlp != 0));
      else
        DRAFTSCOPE_TRY(launcher.layer(slot, rows));
      ++slot;
    }
    DRAFTSCOPE_TRY(copy_boundary(batch.layers.end));
    if (!batch.wanted.head) return {};
    const std::int32_t head_rows = rows - batch.wanted.head_from;
    DRAFTSCOPE_TRY(launcher_.head(batch.wanted.head_from, head_rows, logits));
    return launcher_.finish_head(head_rows);
  }

  Result<void> launch_as_graph(PassForm form) {
    form.rows = rows_of_form(form.rows);
    PassLauncher& launcher = form.is_draft ? draft_launcher_ : launcher_;
    const auto launches = [&]() -> Result<void> {
      DRAFTSCOPE_TRY(launcher.load_inputs(form.rows));
      for (std::int32_t slot = 0; slot < form.slots; ++slot) DRAFTSCOPE_TRY(launcher.layer(slot, form.rows));
      if (!form.head) return {};
      DRAFTSCOPE_TRY(launcher_.head(0, form.rows, form.logits));
      return launcher_.finish_head(form.rows);
    };
    DRAFTSCOPE_TRY_ASSIGN(const int graph, graph_of(graphs_, form, "forward", {}, launches));
    const profiler::LayersScope layers(trace_, layers_);
    return gpu_->launch_graph(graph);
  }

  /// A graph a draft step, launched γ times, and one for the verification: steps after the draft's end do
  /// nothing.
  Result<void> launch_round(StepForm form, std::int32_t draft_length) {
    const auto step = [&]() -> Result<void> {
      DRAFTSCOPE_TRY(launcher_.load_inputs(1));
      for (std::int32_t slot = 0; slot < form.slots; ++slot) DRAFTSCOPE_TRY(draft_launcher_.layer(slot, 1));
      DRAFTSCOPE_TRY(launcher_.head(0, 1, form.sampled));
      return launcher_.finish_draft_step(form.sampled);
    };
    const auto verification = [&](std::int32_t rows) -> Result<void> {
      const std::int32_t n_layers = model_.shape.n_layers;
      DRAFTSCOPE_TRY(launcher_.begin_verification());
      DRAFTSCOPE_TRY(launcher_.load_inputs(rows));
      // The slot table's second half holds all layers.
      for (std::int32_t slot = n_layers; slot < 2 * n_layers; ++slot)
        DRAFTSCOPE_TRY(launcher_.layer(slot, rows));
      DRAFTSCOPE_TRY(launcher_.head(0, rows, form.sampled));
      DRAFTSCOPE_TRY(launcher_.finish_head(rows));
      if (!form.sampled) return {};
      return launcher_.judge_draft(rows);
    };
    if (draft_length > 0) {
      DRAFTSCOPE_TRY_ASSIGN(const int step_graph,
                            graph_of(step_graphs_, form, "draft step", traces::Phase::draft, step));
      const profiler::LayersScope layers(trace_, layers_);
      for (std::int32_t i = 0; i < draft_length; ++i) DRAFTSCOPE_TRY(gpu_->launch_graph(step_graph));
    }
    const std::int32_t rows = rows_of_form(draft_length + 1);
    DRAFTSCOPE_TRY_ASSIGN(const int verification_graph,
                          graph_of(verification_graphs_, VerificationForm{rows, form.sampled}, "verification",
                                   traces::Phase::verify, [&] { return verification(rows); }));
    return gpu_->launch_graph(verification_graph);
  }

  /// The graph of a form, captured at its first use.
  template <typename Form, typename Launches>
  Result<int> graph_of(std::map<Form, int>& graphs, const Form& form, std::string_view name,
                       std::optional<traces::Phase> phase, Launches launches) {
    if (const auto found = graphs.find(form); found != graphs.end()) return found->second;
    const profiler::GraphScope scope(trace_, name, -1, phase);
    DRAFTSCOPE_TRY(gpu_->begin_graph());
    const Result<void> launched = launches();
    // Ended even if a launch failed: a stream must not stay in capture.
    const Result<int> graph = gpu_->end_graph();
    DRAFTSCOPE_TRY(launched);
    DRAFTSCOPE_TRY(graph);
    graphs.emplace(form, *graph);
    return *graph;
  }

  /// Launches of a group serve any number of rows up to the group's.
  static std::int32_t rows_of_form(std::int32_t rows) {
    constexpr std::int32_t half_group = 8;
    if (rows == 1) return 1;
    return rows <= half_group ? half_group : (rows + max_launch_rows - 1) / max_launch_rows * max_launch_rows;
  }

  Result<void> download(const Batch& batch, std::int32_t head_rows, Outputs& outputs) {
    const Wanted& wanted = batch.wanted;
    const std::size_t d_model = size(model_.shape.d_model);
    outputs.hidden.resize(wanted.hidden_after.size() * batch.rows.size() * d_model);
    outputs.logits.resize(wanted.logits ? size(head_rows) * size(model_.shape.vocab) : 0);
    outputs.top.resize(size(head_rows) * size(wanted.top_k));
    results_.resize(outputs.top.size());
    if (!outputs.hidden.empty())
      DRAFTSCOPE_TRY(gpu_->download(outputs.hidden.data(), buffers_.boundary_states,
                                    outputs.hidden.size() * sizeof(float)));
    if (!outputs.logits.empty())
      DRAFTSCOPE_TRY(
          gpu_->download(outputs.logits.data(), buffers_.work.logits, outputs.logits.size() * sizeof(float)));
    const HeadResult* source = wanted.top_k > 1 ? buffers_.top : buffers_.work.head_results;
    if (!results_.empty())
      DRAFTSCOPE_TRY(gpu_->download(results_.data(), source, results_.size() * sizeof(HeadResult)));
    DRAFTSCOPE_TRY(gpu_->synchronise());
    for (std::size_t i = 0; i < results_.size(); ++i)
      outputs.top[i] = {results_[i].token, results_[i].logit, results_[i].probability};
    return {};
  }

  std::unique_ptr<Gpu> gpu_;  // first: memory is given back before the device goes
  UploadedModel model_;
  UploadedDraftLayers draft_;
  DeviceMemory memory_;
  Buffers buffers_;
  std::int32_t cache_rows_;
  std::int32_t max_rows_;
  std::int32_t n_positions_;
  PassLauncher launcher_;
  PassLauncher draft_launcher_;  // the same without fp8 drafts
  profiler::DeviceTrace* trace_;
  profiler::SpanRecorder* recorder_ = nullptr;
  std::int64_t layer_name_ = 0;
  std::map<PassForm, int> graphs_;
  std::map<StepForm, int> step_graphs_;
  std::map<VerificationForm, int> verification_graphs_;
  std::vector<std::int32_t> positions_;  // of cache rows
  KeyLists lists_;
  std::vector<LayerSlot> slots_;
  std::vector<std::int32_t> layers_;  // of slots_
  std::unique_ptr<PassState> state_;
  std::vector<HeadResult> results_;
};

std::string gigabytes(std::size_t bytes) {
  return fmt::format("{:.3f} GB", static_cast<double>(bytes) * 1e-9);
}

/// What the driver takes beside: graphs, and kernels when they are first launched.
constexpr std::size_t driver_bytes = std::size_t{128} << 20;

/// Whether all of it fits, before anything is allocated.
Result<void> check_memory(const Gpu& gpu, const Checkpoint& checkpoint, const CudaOptions& options,
                          std::size_t buffer_bytes, std::int32_t cache_rows) {
  const std::size_t weights =
      model_bytes(checkpoint, options.weights) + (options.fp8_drafts ? draft_layer_bytes(checkpoint) : 0);
  // A matrix passes through memory of its own while it is quantised, which is given back before the buffers
  // are allocated; they hold it widened, and so are larger.
  const std::size_t needed = weights + buffer_bytes + driver_bytes;
  DRAFTSCOPE_TRY_ASSIGN(const std::size_t free, gpu.free_bytes());
  if (needed <= free) return {};
  return fail(
      "cuda backend: {} needs {} of device memory ({} weights, {} K/V cache of {} rows and buffers, {} "
      "graphs "
      "and kernels), {} has {} free",
      checkpoint.shape.name, gigabytes(needed), gigabytes(weights), gigabytes(buffer_bytes), cache_rows,
      gigabytes(driver_bytes), gpu.describe().name, gigabytes(free));
}

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
  const bool fp8 = options.weights == CudaWeights::fp8;
  Pieces measured(nullptr);
  place_buffers(measured, shape, cache_rows, rows, n_positions, fp8);
  DRAFTSCOPE_TRY(check_memory(*gpu, checkpoint, options, measured.bytes(), cache_rows));
  DRAFTSCOPE_TRY_ASSIGN(UploadedModel model, upload_model(*gpu, checkpoint, options.weights));
  UploadedDraftLayers draft;
  if (options.fp8_drafts) {
    DRAFTSCOPE_TRY_ASSIGN(draft, upload_draft_layers(*gpu, checkpoint, model));
  }
  DRAFTSCOPE_TRY_ASSIGN(DeviceMemory memory,
                        DeviceMemory::allocate(*gpu, measured.bytes(), "the K/V cache and buffers"));
  Pieces pieces(memory.data());
  const Buffers buffers = place_buffers(pieces, shape, cache_rows, rows, n_positions, fp8);
  model.model.cache_rows = cache_rows;
  model.model.n_positions = n_positions;
  model.model.cosine = buffers.cosine;
  model.model.sine = buffers.sine;
  auto backend =
      std::make_unique<CudaBackend>(std::move(gpu), std::move(model), std::move(draft), std::move(memory),
                                    buffers, cache_rows, rows, n_positions, options.device_trace);
  DRAFTSCOPE_TRY(backend->prepare());
  return backend;
}

}  // namespace draftscope::engine::cuda

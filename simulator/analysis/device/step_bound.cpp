// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/simulator/analysis/device_timeline.h>
#include <draftscope/simulator/analysis/gpu.h>

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace draftscope::simulator {

namespace {

/// A size in meta; absent if it is missing or none that a machine can have.
std::optional<double> size_of(const traces::Meta& meta, const std::string& key) {
  const auto value = parse_number<std::int64_t>(meta_value(meta, key));
  if (!value || *value <= 0) return std::nullopt;
  return static_cast<double>(*value);
}

/// Mean K/V rows that a step of the run reads, its own included; absent without a step.
std::optional<double> mean_context(const traces::Recording& recording, traces::RunId run) {
  std::unordered_map<traces::PromptId, std::size_t> prompt_tokens;
  for (const traces::Prompt& prompt : recording.prompts)
    prompt_tokens.emplace(prompt.id, prompt.tokens.size());
  double rows = 0.0;
  double steps = 0.0;
  for (const traces::Request& request : recording.requests) {
    const auto prompt = prompt_tokens.find(request.prompt_id);
    if (request.run_id != run || prompt == prompt_tokens.end() || request.tokens.size() < 2) continue;
    // The prefill gives the first token; step i then reads the prompt and i + 1 tokens.
    const auto of_request = static_cast<double>(request.tokens.size() - 1);
    steps += of_request;
    rows += of_request * (static_cast<double>(prompt->second) + 0.5 * (of_request + 1.0));
  }
  if (steps == 0.0) return std::nullopt;
  return rows / steps;
}

/// Bytes of K/V that a step reads at a context; layers with a window read no more than it.
double cache_bytes_at(const traces::Meta& meta, double context) {
  const std::optional<double> row_bytes = cache_row_bytes(meta);
  if (!row_bytes) return 0.0;
  const Result<ModelShape> shape = recorded_shape(meta);
  if (!shape) return *row_bytes * context;
  double bytes = 0.0;
  for (std::int32_t layer = 0; layer < shape->n_layers; ++layer) {
    const std::int32_t window = shape->window_of(layer);
    bytes += *row_bytes / shape->n_layers *
             (window > 0 ? std::min(context, static_cast<double>(window)) : context);
  }
  return bytes;
}

std::string decimal_bytes(double bytes) {
  return bytes < 1e9 ? number_text(bytes / 1e6) + " MB" : number_text(bytes / 1e9) + " GB";
}

}  // namespace

std::optional<ReadRate> read_rate(const traces::Meta& meta) {
  if (!is_gpu_recording(meta)) return std::nullopt;
  const Result<GpuSpecification> gpu = find_gpu_of_driver(recorded_gpu_name(meta));
  if (!gpu) return std::nullopt;
  return ReadRate{gpu->name, gpu->bandwidth_gb_s, gpu->bandwidth_gb_s * gpu->read_efficiency};
}

std::optional<double> cache_row_bytes(const traces::Meta& meta) {
  const std::optional<double> bytes = size_of(meta, "kv_bytes");
  const std::optional<double> rows = size_of(meta, "cache_rows");
  if (!bytes || !rows) return std::nullopt;
  return *bytes / *rows;
}

std::optional<double> StepBound::share() const {
  if (!rate) return std::nullopt;
  return gb_s() / rate->specified_gb_s;
}

std::optional<StepBound> step_bound(const MeasuredRecording& measured) {
  const traces::Run* baseline = measured.figures.baseline;
  const std::optional<double> weights = size_of(measured.recording->meta, "bytes_a_step");
  if (baseline == nullptr || !weights) return std::nullopt;
  const auto run = std::find_if(measured.figures.runs.begin(), measured.figures.runs.end(),
                                [&](const RunFigures& figures) { return figures.all.run == baseline; });
  if (run == measured.figures.runs.end()) return std::nullopt;
  StepBound bound;
  bound.weight_bytes = *weights;
  bound.rate = read_rate(measured.recording->meta);
  if (const auto context = mean_context(*measured.recording, baseline->id))
    bound.cache_bytes = cache_bytes_at(measured.recording->meta, *context);
  const DeviceTime& device = run->all.device;
  if (device.rounds > 0 && device.busy_ns > 0) {
    bound.ns = static_cast<double>(device.busy_ns) / static_cast<double>(device.rounds);
    bound.is_busy_time = true;
    if (device.wall_ns > 0)
      bound.busy_share = static_cast<double>(device.busy_ns) / static_cast<double>(device.wall_ns);
  } else if (const auto tokens_per_second = run->all.throughput.decode_tokens_per_second;
             tokens_per_second && *tokens_per_second > 0.0) {
    bound.ns = 1e9 / *tokens_per_second;
  } else {
    return std::nullopt;
  }
  return bound;
}

std::string step_bound_text(const MeasuredRecording& measured, Characters characters) {
  const std::optional<StepBound> bound = step_bound(measured);
  if (!bound) return {};
  const char* certainty = is_predicted(measured.recording->meta) ? "modelled" : "measured";
  std::string text = fmt::format(
      "A vanilla step reads {} (by sizes) in {} {} ({}): {} GB/s",
      decimal_bytes(bound->weight_bytes + bound->cache_bytes), duration_text(bound->ns, characters),
      bound->is_busy_time ? "busy" : "of wall time", certainty, number_text(bound->gb_s()));
  if (const auto share = bound->share(); share && *share <= 1.0)
    text += fmt::format(", {} of the {} that the {} is specified for", percent_text(*share),
                        number_text(bound->rate->specified_gb_s), bound->rate->gpu);
  else if (share)
    text += fmt::format(", more than the {} of the {}'s memory: most of it comes from a cache",
                        number_text(bound->rate->specified_gb_s), bound->rate->gpu);
  if (bound->busy_share)
    text += fmt::format("; the device is busy for {} of a step", percent_text(*bound->busy_share));
  return text + ".";
}

}  // namespace draftscope::simulator

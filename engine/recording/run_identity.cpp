// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/recording/run_identity.h>

#include <sys/utsname.h>

#include <draftscope/base/clock.h>
#include <draftscope/speculation/model_shape_json.h>
#include <draftscope/speculation/next_token_name.h>

#include <nlohmann/json.hpp>

namespace draftscope::engine {

namespace {

/// Whether a CPU backend has matrices that are not plain.
bool is_packed(const BackendDescription& device) {
  return device.device == "cpu" && device.weights != "f32" && device.weights != "bf16" &&
         device.weights != "f16" && !device.weights.empty();
}

struct HeldBytes {
  std::size_t all = 0;
  std::size_t per_step = 0;  ///< bytes read by a decode step
};

HeldBytes held_bytes(const Checkpoint& checkpoint, const BackendDescription& device) {
  if (!is_packed(device)) return {checkpoint.weight_bytes(), checkpoint.bytes_per_step()};
  const TensorView& embedding = checkpoint.weights.embedding;
  const bool tied = checkpoint.shape.tied_embeddings;
  return {device.weight_bytes,
          tied ? device.weight_bytes : device.weight_bytes - embedding.bytes() + embedding.row_bytes()};
}

}  // namespace

traces::Meta run_identity(const Checkpoint& checkpoint, const Backend& backend,
                          const DecodingOptions& decoding, const RecordingSettings& settings) {
  const BackendDescription device = backend.describe();
  const HeldBytes held = held_bytes(checkpoint, device);
  const bool holds_packed = is_packed(device) || checkpoint.has_blocks() || checkpoint.has_quantised();
  const ClockPair clock = read_clock_pair();
  utsname system{};
  uname(&system);
  traces::Meta meta{{"tool_version", DRAFTSCOPE_VERSION},
                    {"model", checkpoint.shape.name},
                    {"model_path", checkpoint.path.string()},
                    {"model_shape", speculation::recorded_shape_json(checkpoint.shape)},
                    {"checkpoint_hash", checkpoint.hash},
                    {"weight_bytes", std::to_string(held.all)},
                    {"bytes_a_step", std::to_string(held.per_step)},
                    {"synthetic", checkpoint.synthetic ? "1" : "0"},
                    {"redundancy", fmt::format("{}", checkpoint.redundancy)},
                    {"dtype", std::string(dtype_name(checkpoint.weights.embedding.dtype))},
                    {"weights", holds_packed           ? device.weights
                                : checkpoint.has_fp8() ? "fp8"
                                                       : settings.weights},
                    {"stored_as", checkpoint.stored_as},
                    {"device", device.device},
                    {"processor", device.processor},
                    {"kernels", device.kernels},
                    {"threads", std::to_string(device.threads)},
                    {"kv_bytes", std::to_string(device.kv_bytes)},
                    {"cache_rows", std::to_string(backend.cache_rows())},
                    {"clock_start_monotonic_ns", std::to_string(clock.monotonic_ns)},
                    {"clock_start_realtime_ns", std::to_string(clock.realtime_ns)},
                    {"seed", std::to_string(decoding.seed)},
                    {"temperature", fmt::format("{}", decoding.sampling.temperature)},
                    {"coupling", decoding.sampling.coupled ? "gumbel" : "none"},
                    {"top_k", std::to_string(decoding.sampling.top_k)},
                    {"top_p", fmt::format("{}", decoding.sampling.top_p)},
                    {"repetition_penalty", fmt::format("{}", decoding.sampling.repetition_penalty)},
                    {"max_tokens", std::to_string(decoding.max_tokens)},
                    {"repeats", std::to_string(settings.repeats)},
                    {"prompts_file", settings.prompts_file},
                    {"level", settings.level},
                    {"command_line", settings.command_line},
                    {"hostname", system.nodename},
                    {"kernel_release", system.release},
                    {"rank", "0"}};
  if (device.device != "cpu") meta["launches"] = settings.launches;
  for (const auto& [key, value] : {std::pair("min_p", decoding.sampling.min_p),
                                   std::pair("frequency_penalty", decoding.sampling.frequency_penalty),
                                   std::pair("presence_penalty", decoding.sampling.presence_penalty)})
    if (value != 0.0) meta[key] = fmt::format("{}", value);
  nlohmann::json bias = nlohmann::json::object();
  for (const TokenBias& of : decoding.sampling.logit_bias) bias[std::to_string(of.token)] = of.bias;
  if (!bias.empty()) meta["logit_bias"] = bias.dump();
  if (checkpoint.has_next_token_layer) {
    // One layer like the model's own, after the join of a token and a state.
    const std::int32_t d_model = checkpoint.shape.d_model;
    meta[speculation::next_token_layer_key] =
        nlohmann::ordered_json{{"n_layers", 1}, {"join", {{"rows", d_model}, {"columns", 2 * d_model}}}}
            .dump();
  }
  if (!decoding.stop_strings.empty()) meta["stop_strings"] = nlohmann::json(decoding.stop_strings).dump();
  return meta;
}

}  // namespace draftscope::engine

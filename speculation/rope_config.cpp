// SPDX-License-Identifier: GPL-3.0-or-later
#include "rope_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "size_ranges.h"

namespace draftscope::speculation {
namespace {

constexpr Range<double> theta_range{1.0 + 1e-9, 1e12};
constexpr Range<double> factor_range{1.0, 1e6};
constexpr Range<double> frequency_range{1e-6, 1e6};
constexpr Range<double> scale_range{1e-6, 1e6};

/// Keys of rope_scaling and rope_parameters. One that the kind of scaling has no use for is passed over, as
/// in transformers.
constexpr std::array<std::string_view, 18> rope_keys{"rope_type",
                                                     "type",
                                                     "rope_theta",
                                                     "factor",
                                                     "original_max_position_embeddings",
                                                     "max_position_embeddings",
                                                     "partial_rotary_factor",
                                                     "low_freq_factor",
                                                     "high_freq_factor",
                                                     "beta_fast",
                                                     "beta_slow",
                                                     "attention_factor",
                                                     "mscale",
                                                     "mscale_all_dim",
                                                     "truncate",
                                                     "short_factor",
                                                     "long_factor",
                                                     "finetuned"};

/// Keys of rope_parameters where kinds of layers differ, as transformers 5 writes them.
constexpr std::array<std::string_view, 2> layer_kinds{"full_attention", "sliding_attention"};

/// Fails on a key that is neither among `known` nor `own`: what is not understood may change the model.
Result<void> check_keys(const JsonField& fields, std::span<const std::string_view> known,
                        std::string_view own) {
  if (fields.is_null()) return {};
  DRAFTSCOPE_TRY_ASSIGN(const auto members, fields.members());
  for (const auto& [key, field] : members)
    if (key != own && !field.is_null() && std::find(known.begin(), known.end(), key) == known.end())
      return field.wrong(known.size() == layer_kinds.size()
                             ? "full_attention and sliding_attention alone"
                             : "a key that is known, such as rope_type, rope_theta or factor");
  return {};
}

Result<RopeKind> parse_kind(const JsonField& fields, const ModelFamily& family) {
  constexpr std::array<std::pair<std::string_view, RopeKind>, 6> kinds{{{"default", RopeKind::standard},
                                                                        {"linear", RopeKind::linear},
                                                                        {"dynamic", RopeKind::dynamic},
                                                                        {"llama3", RopeKind::llama3},
                                                                        {"yarn", RopeKind::yarn},
                                                                        {"longrope", RopeKind::longrope}}};
  const std::string_view field = fields["rope_type"].is_null() ? "type" : "rope_type";
  DRAFTSCOPE_TRY_ASSIGN(const auto name, fields[field].text_or("default"));
  // Early files of Phi-3 use these names for longrope.
  if (family.model_type == "phi3" && (name == "su" || name == "yarn")) return RopeKind::longrope;
  for (const auto& [known, kind] : kinds)
    if (name == known) return kind;
  return fields[field].wrong("default, linear, dynamic, llama3, yarn or longrope");
}

Result<void> parse_llama3(const JsonField& fields, std::int32_t max_positions, RopeScaling& rope) {
  DRAFTSCOPE_TRY_ASSIGN(rope.factor, fields["factor"].number(factor_range));
  DRAFTSCOPE_TRY_ASSIGN(rope.low_frequency_factor, fields["low_freq_factor"].number(frequency_range));
  DRAFTSCOPE_TRY_ASSIGN(rope.high_frequency_factor, fields["high_freq_factor"].number(frequency_range));
  if (rope.high_frequency_factor <= rope.low_frequency_factor)
    return fields["high_freq_factor"].wrong(
        fmt::format("above low_freq_factor {}", rope.low_frequency_factor));
  DRAFTSCOPE_TRY_ASSIGN(rope.original_max_positions, fields["original_max_position_embeddings"].integer_or(
                                                         positions_range, max_positions));
  return {};
}

Result<void> parse_yarn(const JsonField& fields, std::int32_t max_positions, RopeScaling& rope) {
  DRAFTSCOPE_TRY_ASSIGN(rope.original_max_positions, fields["original_max_position_embeddings"].integer_or(
                                                         positions_range, max_positions));
  // A null factor means the ratio of the two context lengths; an absent one is an error in Hugging Face's
  // code and here.
  if (fields.has("factor") && fields["factor"].is_null()) {
    rope.factor = static_cast<double>(max_positions) / rope.original_max_positions;
  } else {
    DRAFTSCOPE_TRY_ASSIGN(rope.factor, fields["factor"].number(factor_range));
  }
  DRAFTSCOPE_TRY_ASSIGN(rope.attention_factor, fields["attention_factor"].number_or(scale_range, 0.0));
  DRAFTSCOPE_TRY_ASSIGN(rope.beta_fast, fields["beta_fast"].number_or(frequency_range, 32.0));
  DRAFTSCOPE_TRY_ASSIGN(rope.beta_slow, fields["beta_slow"].number_or(frequency_range, 1.0));
  if (rope.beta_fast < rope.beta_slow)
    return fields["beta_fast"].wrong(fmt::format("at least beta_slow {}", rope.beta_slow));
  // 0 means "not given" in Hugging Face's formula too.
  DRAFTSCOPE_TRY_ASSIGN(rope.mscale, fields["mscale"].number_or({0.0, scale_range.max}, 0.0));
  DRAFTSCOPE_TRY_ASSIGN(rope.mscale_all_dim, fields["mscale_all_dim"].number_or({0.0, scale_range.max}, 0.0));
  DRAFTSCOPE_TRY_ASSIGN(rope.truncate, fields["truncate"].boolean_or(true));
  return {};
}

/// Reads positive factors, one per rotated pair.
Result<std::vector<double>> parse_factors(const JsonField& field, std::int32_t pairs) {
  DRAFTSCOPE_TRY_ASSIGN(auto factors, field.numbers());
  if (factors.size() != static_cast<std::size_t>(pairs))
    return fail("{} has {} entries, expected {}, one for each rotated pair", field.name(), factors.size(),
                pairs);
  for (const double factor : factors)
    if (!(factor > 0.0 && factor <= factor_range.max))
      return fail("{} holds {}, expected numbers above 0", field.name(), factor);
  return factors;
}

Result<void> parse_longrope(const JsonField& config, const JsonField& fields, const ModelShape& shape,
                            std::int32_t rotated, RopeScaling& rope) {
  constexpr auto key = "original_max_position_embeddings";
  const JsonField original = fields[key].is_null() ? config[key] : fields[key];
  DRAFTSCOPE_TRY_ASSIGN(rope.original_max_positions,
                        original.integer_or(positions_range, shape.max_positions));
  DRAFTSCOPE_TRY_ASSIGN(
      rope.factor, fields["factor"].number_or(
                       factor_range, static_cast<double>(shape.max_positions) / rope.original_max_positions));
  DRAFTSCOPE_TRY_ASSIGN(rope.attention_factor, fields["attention_factor"].number_or(scale_range, 0.0));
  DRAFTSCOPE_TRY_ASSIGN(rope.short_factors, parse_factors(fields["short_factor"], rotated / 2));
  DRAFTSCOPE_TRY_ASSIGN(rope.long_factors, parse_factors(fields["long_factor"], rotated / 2));
  return {};
}

/// Reads the number of rotated dimensions of a head; 0 = all.
Result<std::int32_t> parse_rotated(const JsonField& config, const JsonField& fields,
                                   const ModelFamily& family, std::int32_t head_dim) {
  constexpr auto key = "partial_rotary_factor";
  const JsonField field = fields[key].is_null() ? config[key] : fields[key];
  DRAFTSCOPE_TRY_ASSIGN(const double share, field.number_or({0.0, 1.0}, 1.0));
  if (share == 1.0) return 0;
  if (!family.rotates_partly) return field.wrong("1: partly rotated heads are not supported");
  const auto rotated = static_cast<std::int32_t>(head_dim * share);
  if (rotated < 2 || rotated % 2 != 0)
    return field.wrong(fmt::format("a share of head_dim {} that is an even number of dimensions", head_dim));
  return rotated;
}

/// Reads Hunyuan's `alpha`, which stretches the base once for all positions.
Result<void> parse_alpha(const JsonField& fields, std::int32_t head_dim, RopeScaling& rope) {
  DRAFTSCOPE_TRY_ASSIGN(const double alpha, fields["alpha"].number_or({0.0, 1e12}, 0.0));
  if (rope.kind != RopeKind::dynamic || alpha == 0.0) return {};
  if (head_dim < 4) return fields["alpha"].wrong("none for heads of 2 dimensions");
  rope.kind = RopeKind::standard;
  rope.theta *= std::pow(alpha, head_dim / (head_dim - 2.0));
  if (!(rope.theta >= theta_range.min && rope.theta <= theta_range.max))
    return fields["alpha"].wrong(fmt::format("one that keeps the base within {}", theta_range.max));
  return {};
}

/// Reads the scale of queries, which counts in original contexts.
Result<void> parse_query_scale(const JsonField& fields, RopeScaling& rope) {
  DRAFTSCOPE_TRY_ASSIGN(rope.query_beta, fields["llama_4_scaling_beta"].number_or({0.0, 100.0}, 0.0));
  if (rope.query_beta == 0.0) return {};
  DRAFTSCOPE_TRY_ASSIGN(rope.original_max_positions,
                        fields["original_max_position_embeddings"].integer(positions_range));
  return {};
}

/// Reads the rotation of one kind of layers, whose base is `theta` where the fields name none.
Result<RopeScaling> parse_layers(const JsonField& config, const JsonField& fields, const ModelFamily& family,
                                 const ModelShape& shape, double theta) {
  RopeScaling rope;
  const std::int32_t max_positions = shape.max_positions;
  DRAFTSCOPE_TRY(check_keys(fields, rope_keys, family.rope_key));
  DRAFTSCOPE_TRY_ASSIGN(rope.rotated_dimensions, parse_rotated(config, fields, family, shape.head_dim));
  rope.theta = theta;
  if (fields.is_null()) return rope;
  DRAFTSCOPE_TRY_ASSIGN(rope.theta, fields["rope_theta"].number_or(theta_range, theta));
  DRAFTSCOPE_TRY_ASSIGN(rope.kind, parse_kind(fields, family));
  if (family.rope_key == "alpha") DRAFTSCOPE_TRY(parse_alpha(fields, shape.head_dim, rope));
  switch (rope.kind) {
    case RopeKind::standard:
      break;
    case RopeKind::dynamic:
      // Hugging Face scales from max_position_embeddings and reads no original length for this kind.
      rope.original_max_positions = max_positions;
      [[fallthrough]];
    case RopeKind::linear: {
      DRAFTSCOPE_TRY_ASSIGN(rope.factor, fields["factor"].number(factor_range));
      break;
    }
    case RopeKind::llama3:
      DRAFTSCOPE_TRY(parse_llama3(fields, max_positions, rope));
      break;
    case RopeKind::yarn:
      DRAFTSCOPE_TRY(parse_yarn(fields, max_positions, rope));
      break;
    case RopeKind::longrope:
      DRAFTSCOPE_TRY(parse_longrope(config, fields, shape,
                                    rope.rotated_dimensions > 0 ? rope.rotated_dimensions : shape.head_dim,
                                    rope));
      break;
  }
  if (family.rope_key == "llama_4_scaling_beta") DRAFTSCOPE_TRY(parse_query_scale(fields, rope));
  return rope;
}

/// The scaling of Ministral 3's class, where config.json has none.
RopeScaling ministral3_rope() {
  return {.kind = RopeKind::yarn,
          .theta = 1e6,
          .factor = 16.0,
          .original_max_positions = 16384,
          .mscale = 1.0,
          .mscale_all_dim = 1.0,
          .query_beta = 0.1};
}

/// The scaling of Apertus' class, where config.json has none.
RopeScaling apertus_rope(double theta) {
  return {.kind = RopeKind::llama3, .theta = theta, .factor = 8.0, .original_max_positions = 8192};
}

/// Reads the base of layers with a window, which have no scaling; 0 = they rotate as the others do. `local`
/// is their own object, if there is one.
Result<double> parse_local_theta(const JsonField& config, const JsonField& local, const ModelFamily& family,
                                 const ModelShape& shape, const RopeScaling& full, double theta) {
  if (local.is_null()) {
    if (family.scales_full_layers) return full.kind == RopeKind::standard ? 0.0 : theta;
    if (family.local_theta == 0.0) return 0.0;
    return config["rope_local_base_freq"].number_or(theta_range, family.local_theta);
  }
  constexpr auto unscaled = "default: scaled layers with a window are not supported";
  DRAFTSCOPE_TRY_ASSIGN(const RopeKind kind, parse_kind(local, family));
  if (kind != RopeKind::standard && kind != full.kind) return local["rope_type"].wrong(unscaled);
  const double by_default = family.local_theta > 0.0 ? family.local_theta : theta;
  DRAFTSCOPE_TRY_ASSIGN(const RopeScaling own, parse_layers(config, local, family, shape, by_default));
  if (own == full && family.local_theta == 0.0) return 0.0;
  if (own.kind != RopeKind::standard) return local["rope_type"].wrong(unscaled);
  if (own.rotated_dimensions != full.rotated_dimensions)
    return local["partial_rotary_factor"].wrong("that of full_attention");
  return own.theta;
}

/// The object of the rotation, under its old name or its new one. An empty object says nothing.
Result<JsonField> scaling_of(const JsonField& config) {
  const JsonField old = config["rope_scaling"];
  const JsonField parameters = config["rope_parameters"];
  for (const JsonField& field : {old, parameters})
    if (!field.is_null()) DRAFTSCOPE_TRY(field.object());
  // Files for older readers may have both, of which the new one also has what else is known of the rotation.
  const auto has_all_of = [](const nlohmann::json& all, const nlohmann::json& part) {
    return std::ranges::all_of(part.items(), [&](const auto& one) {
      const auto found = all.find(one.key());
      return found != all.end() && *found == one.value();
    });
  };
  if (has_all_of(parameters.value(), old.value())) return parameters;
  if (has_all_of(old.value(), parameters.value())) return old;
  return old.wrong("null or the same as rope_parameters");
}

}  // namespace

Result<RopeScaling> parse_rope(const JsonField& config, const ModelFamily& family, const ModelShape& shape) {
  DRAFTSCOPE_TRY_ASSIGN(const double theta, config["rope_theta"].number_or(theta_range, family.theta));
  DRAFTSCOPE_TRY_ASSIGN(const JsonField scaling, scaling_of(config));
  DRAFTSCOPE_TRY_ASSIGN(const std::string model_type,
                        config["model_type"].text_or(std::string(family.model_type)));
  if (scaling.is_null() && model_type == "ministral3") return ministral3_rope();
  if (scaling.is_null() && family.model_type == "apertus") return apertus_rope(theta);
  const JsonField local = scaling["sliding_attention"];
  const bool by_kind = scaling.has("full_attention") || !local.is_null();
  if (by_kind) DRAFTSCOPE_TRY(check_keys(scaling, layer_kinds, {}));
  // A model whose layers are all of one kind may name that kind alone.
  const JsonField full = by_kind && !scaling["full_attention"].is_null() ? scaling["full_attention"] : local;
  DRAFTSCOPE_TRY_ASSIGN(RopeScaling rope,
                        parse_layers(config, by_kind ? full : scaling, family, shape, theta));
  DRAFTSCOPE_TRY_ASSIGN(rope.local_theta, parse_local_theta(config, local, family, shape, rope, theta));
  return rope;
}

}  // namespace draftscope::speculation

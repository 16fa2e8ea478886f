// SPDX-License-Identifier: GPL-3.0-or-later
#include "rope_config.h"

#include <array>
#include <utility>

#include "size_ranges.h"

namespace draftscope::speculation {
namespace {

constexpr Range<double> theta_range{1.0 + 1e-9, 1e12};
constexpr Range<double> factor_range{1.0, 1e6};
constexpr Range<double> frequency_range{1e-6, 1e6};
constexpr Range<double> scale_range{1e-6, 1e6};

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

/// Reads the base of layers with a window, which have no scaling.
Result<double> parse_local_theta(const JsonField& config, const JsonField& local, const ModelFamily& family) {
  if (family.local_theta == 0.0) return 0.0;
  if (local.is_null()) return config["rope_local_base_freq"].number_or(theta_range, family.local_theta);
  DRAFTSCOPE_TRY_ASSIGN(const RopeKind kind, parse_kind(local, family));
  if (kind != RopeKind::standard)
    return local["rope_type"].wrong("default: scaled layers with a window are not supported");
  return local["rope_theta"].number_or(theta_range, family.local_theta);
}

}  // namespace

Result<RopeScaling> parse_rope(const JsonField& config, const ModelFamily& family, const ModelShape& shape) {
  RopeScaling rope;
  const std::int32_t max_positions = shape.max_positions;
  DRAFTSCOPE_TRY_ASSIGN(rope.theta, config["rope_theta"].number_or(theta_range, family.theta));
  const JsonField scaling = config[config["rope_scaling"].is_null() ? "rope_parameters" : "rope_scaling"];
  if (!scaling.is_null()) DRAFTSCOPE_TRY(scaling.object());
  // transformers 5 writes one object per kind of layer where they differ.
  const bool by_kind = family.local_theta > 0.0 && scaling.has("full_attention");
  const JsonField fields = by_kind ? scaling["full_attention"] : scaling;
  DRAFTSCOPE_TRY_ASSIGN(rope.local_theta, parse_local_theta(config, scaling["sliding_attention"], family));
  DRAFTSCOPE_TRY_ASSIGN(rope.rotated_dimensions, parse_rotated(config, fields, family, shape.head_dim));
  if (fields.is_null()) return rope;
  DRAFTSCOPE_TRY_ASSIGN(rope.theta, fields["rope_theta"].number_or(theta_range, rope.theta));
  DRAFTSCOPE_TRY_ASSIGN(rope.kind, parse_kind(fields, family));
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
  return rope;
}

}  // namespace draftscope::speculation

// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <array>
#include <utility>

#include "config.h"

namespace draftscope::engine {
namespace {

constexpr Range<double> theta_range{1.0 + 1e-9, 1e12};
constexpr Range<double> factor_range{1.0, 1e6};
constexpr Range<double> frequency_range{1e-6, 1e6};
constexpr Range<double> scale_range{1e-6, 1e6};
constexpr Range<std::int32_t> positions_range{1, 1 << 30};

Result<speculation::RopeKind> parse_kind(const ConfigFields& fields) {
  constexpr std::array<std::pair<std::string_view, speculation::RopeKind>, 5> kinds{
      {{"default", speculation::RopeKind::standard},
       {"linear", speculation::RopeKind::linear},
       {"dynamic", speculation::RopeKind::dynamic},
       {"llama3", speculation::RopeKind::llama3},
       {"yarn", speculation::RopeKind::yarn}}};
  const char* const field = fields.is_null_or_absent("rope_type") ? "type" : "rope_type";
  DRAFTSCOPE_TRY_ASSIGN(const auto name, fields.text_or(field, "default"));
  for (const auto& [known, kind] : kinds)
    if (name == known) return kind;
  return fields.wrong(field, "default, linear, dynamic, llama3 or yarn");
}

Result<void> parse_llama3(const ConfigFields& fields, std::int32_t max_positions,
                          speculation::RopeScaling& rope) {
  DRAFTSCOPE_TRY_ASSIGN(rope.factor, fields.number("factor", factor_range));
  DRAFTSCOPE_TRY_ASSIGN(rope.low_frequency_factor, fields.number("low_freq_factor", frequency_range));
  DRAFTSCOPE_TRY_ASSIGN(rope.high_frequency_factor, fields.number("high_freq_factor", frequency_range));
  if (rope.high_frequency_factor <= rope.low_frequency_factor)
    return fields.wrong("high_freq_factor",
                        fmt::format("above low_freq_factor {}", rope.low_frequency_factor));
  DRAFTSCOPE_TRY_ASSIGN(rope.original_max_positions, fields.integer_or("original_max_position_embeddings",
                                                                       positions_range, max_positions));
  return {};
}

Result<void> parse_yarn(const ConfigFields& fields, std::int32_t max_positions,
                        speculation::RopeScaling& rope) {
  DRAFTSCOPE_TRY_ASSIGN(rope.original_max_positions, fields.integer_or("original_max_position_embeddings",
                                                                       positions_range, max_positions));
  // A null factor is the ratio of the two context lengths; an absent one is an error there and here.
  if (fields.has("factor") && fields.is_null_or_absent("factor")) {
    rope.factor = static_cast<double>(max_positions) / rope.original_max_positions;
  } else {
    DRAFTSCOPE_TRY_ASSIGN(rope.factor, fields.number("factor", factor_range));
  }
  DRAFTSCOPE_TRY_ASSIGN(rope.attention_factor, fields.number_or("attention_factor", scale_range, 0.0));
  DRAFTSCOPE_TRY_ASSIGN(rope.beta_fast, fields.number_or("beta_fast", frequency_range, 32.0));
  DRAFTSCOPE_TRY_ASSIGN(rope.beta_slow, fields.number_or("beta_slow", frequency_range, 1.0));
  if (rope.beta_fast < rope.beta_slow)
    return fields.wrong("beta_fast", fmt::format("at least beta_slow {}", rope.beta_slow));
  // 0 stands for "not given" in Hugging Face's formula too.
  DRAFTSCOPE_TRY_ASSIGN(rope.mscale, fields.number_or("mscale", {0.0, scale_range.most}, 0.0));
  DRAFTSCOPE_TRY_ASSIGN(rope.mscale_all_dim,
                        fields.number_or("mscale_all_dim", {0.0, scale_range.most}, 0.0));
  DRAFTSCOPE_TRY_ASSIGN(rope.truncate, fields.boolean_or("truncate", true));
  return {};
}

Result<void> check_whole_rotation(const ConfigFields& fields) {
  DRAFTSCOPE_TRY_ASSIGN(const auto share, fields.number_or("partial_rotary_factor", {0.0, 1.0}, 1.0));
  if (share != 1.0) return fields.wrong("partial_rotary_factor", "1: partly rotated heads are not supported");
  return {};
}

}  // namespace

Result<speculation::RopeScaling> parse_rope(const ConfigFields& config, std::int32_t max_positions) {
  speculation::RopeScaling rope;
  DRAFTSCOPE_TRY_ASSIGN(rope.theta, config.number_or("rope_theta", theta_range, rope.theta));
  DRAFTSCOPE_TRY(check_whole_rotation(config));
  DRAFTSCOPE_TRY_ASSIGN(auto fields, config.object("rope_scaling"));
  if (!fields) {
    DRAFTSCOPE_TRY_ASSIGN(fields, config.object("rope_parameters"));
  }
  if (!fields) return rope;
  DRAFTSCOPE_TRY(check_whole_rotation(*fields));
  DRAFTSCOPE_TRY_ASSIGN(rope.theta, fields->number_or("rope_theta", theta_range, rope.theta));
  DRAFTSCOPE_TRY_ASSIGN(rope.kind, parse_kind(*fields));
  switch (rope.kind) {
    case speculation::RopeKind::standard:
      break;
    case speculation::RopeKind::dynamic:
      // Hugging Face stretches from max_position_embeddings and reads no original length for this kind.
      rope.original_max_positions = max_positions;
      [[fallthrough]];
    case speculation::RopeKind::linear: {
      DRAFTSCOPE_TRY_ASSIGN(rope.factor, fields->number("factor", factor_range));
      break;
    }
    case speculation::RopeKind::llama3:
      DRAFTSCOPE_TRY(parse_llama3(*fields, max_positions, rope));
      break;
    case speculation::RopeKind::yarn:
      DRAFTSCOPE_TRY(parse_yarn(*fields, max_positions, rope));
      break;
  }
  return rope;
}

}  // namespace draftscope::engine

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

Result<RopeKind> parse_kind(const JsonField& fields) {
  constexpr std::array<std::pair<std::string_view, RopeKind>, 5> kinds{{{"default", RopeKind::standard},
                                                                        {"linear", RopeKind::linear},
                                                                        {"dynamic", RopeKind::dynamic},
                                                                        {"llama3", RopeKind::llama3},
                                                                        {"yarn", RopeKind::yarn}}};
  const std::string_view field = fields["rope_type"].is_null() ? "type" : "rope_type";
  DRAFTSCOPE_TRY_ASSIGN(const auto name, fields[field].text_or("default"));
  for (const auto& [known, kind] : kinds)
    if (name == known) return kind;
  return fields[field].wrong("default, linear, dynamic, llama3 or yarn");
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
  // A null factor is the ratio of the two context lengths; an absent one is an error there and here.
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
  // 0 stands for "not given" in Hugging Face's formula too.
  DRAFTSCOPE_TRY_ASSIGN(rope.mscale, fields["mscale"].number_or({0.0, scale_range.max}, 0.0));
  DRAFTSCOPE_TRY_ASSIGN(rope.mscale_all_dim, fields["mscale_all_dim"].number_or({0.0, scale_range.max}, 0.0));
  DRAFTSCOPE_TRY_ASSIGN(rope.truncate, fields["truncate"].boolean_or(true));
  return {};
}

Result<void> check_whole_rotation(const JsonField& fields) {
  DRAFTSCOPE_TRY_ASSIGN(const auto share, fields["partial_rotary_factor"].number_or({0.0, 1.0}, 1.0));
  if (share != 1.0) return fields["partial_rotary_factor"].wrong("1: partly rotated heads are not supported");
  return {};
}

}  // namespace

Result<RopeScaling> parse_rope(const JsonField& config, std::int32_t max_positions) {
  RopeScaling rope;
  DRAFTSCOPE_TRY_ASSIGN(rope.theta, config["rope_theta"].number_or(theta_range, rope.theta));
  DRAFTSCOPE_TRY(check_whole_rotation(config));
  const char* const field = config["rope_scaling"].is_null() ? "rope_parameters" : "rope_scaling";
  if (config[field].is_null()) return rope;
  DRAFTSCOPE_TRY_ASSIGN(const JsonField fields, config[field].object());
  DRAFTSCOPE_TRY(check_whole_rotation(fields));
  DRAFTSCOPE_TRY_ASSIGN(rope.theta, fields["rope_theta"].number_or(theta_range, rope.theta));
  DRAFTSCOPE_TRY_ASSIGN(rope.kind, parse_kind(fields));
  switch (rope.kind) {
    case RopeKind::standard:
      break;
    case RopeKind::dynamic:
      // Hugging Face stretches from max_position_embeddings and reads no original length for this kind.
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
  }
  return rope;
}

}  // namespace draftscope::speculation

// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/weight_format.h>

#include <draftscope/base/quote.h>
#include <algorithm>
#include <array>
#include <iterator>

namespace draftscope::speculation {

namespace {

/// [WeightFormat]; bits and names of blocks are ggml's.
constexpr std::array all_formats{
    WeightFormatRow{WeightFormat::f32, "f32", 32.0, MadeBy::none, "plain fp32"},
    WeightFormatRow{WeightFormat::bf16, "bf16", 16.0, MadeBy::none, "plain bf16"},
    WeightFormatRow{WeightFormat::f16, "f16", 16.0, MadeBy::none, "plain fp16"},
    WeightFormatRow{WeightFormat::fp8_block, "fp8_block", 8.03125, MadeBy::cuda,
                    "e4m3, a scale every 128 x 128"},
    WeightFormatRow{WeightFormat::fp8, "fp8", 8.0, MadeBy::cuda, "e4m3, a scale an output"},
    WeightFormatRow{WeightFormat::q8_0, "q8_0", 8.5, MadeBy::both, "8 bits, a scale every 32 weights"},
    WeightFormatRow{WeightFormat::q6_k, "q6_k", 6.5625, MadeBy::none, "6 bits, two levels of scales"},
    WeightFormatRow{WeightFormat::q5_1, "q5_1", 6.0, MadeBy::cpu, "5 bits, scale and minimum every 32"},
    WeightFormatRow{WeightFormat::q5_0, "q5_0", 5.5, MadeBy::cpu, "5 bits, a scale every 32 weights"},
    WeightFormatRow{WeightFormat::q5_k, "q5_k", 5.5, MadeBy::none, "5 bits, two levels of scales and minima"},
    WeightFormatRow{WeightFormat::q4_1, "q4_1", 5.0, MadeBy::cpu, "4 bits, scale and minimum every 32"},
    WeightFormatRow{WeightFormat::q4_0, "q4_0", 4.5, MadeBy::both, "4 bits, a scale every 32 weights"},
    WeightFormatRow{WeightFormat::q4_k, "q4_k", 4.5, MadeBy::cuda, "4 bits, two levels of scales and minima",
                    true},
    WeightFormatRow{WeightFormat::iq4_nl, "iq4_nl", 4.5, MadeBy::none, "4 bits of a table, a scale every 32"},
    WeightFormatRow{WeightFormat::iq4_xs, "iq4_xs", 4.25, MadeBy::none,
                    "4 bits of a table, two levels of scales"},
    WeightFormatRow{WeightFormat::mxfp4, "mxfp4", 4.25, MadeBy::none, "e2m1, a power of two every 32"},
    WeightFormatRow{WeightFormat::int4, "int4", 4.25, MadeBy::cuda, "4 bits, scale and zero point every 128"},
    WeightFormatRow{WeightFormat::q3_0, "q3_0", 3.5, MadeBy::cpu, "3 bits, a scale every 32 weights"},
};

}  // namespace

std::span<const WeightFormatRow> weight_formats() {
  return all_formats;
}

const WeightFormatRow& weight_format_row(WeightFormat format) {
  return all_formats[static_cast<std::size_t>(format)];
}

const WeightFormatRow* find_weight_format(std::string_view name) {
  const auto row = std::ranges::find(all_formats, name, &WeightFormatRow::name);
  return row == std::end(all_formats) ? nullptr : &*row;
}

Result<WeightFormat> parse_weight_format(std::string_view name) {
  if (const WeightFormatRow* row = find_weight_format(name)) return row->format;
  std::string names;
  for (const WeightFormatRow& row : all_formats) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return fail("weights: found {}, expected one of: {}", quote(name), names);
}

std::optional<double> leading_bits(std::string_view formats) {
  const WeightFormatRow* row = find_weight_format(formats.substr(0, formats.find(',')));
  return row == nullptr ? std::nullopt : std::optional(row->bits);
}

std::string made_weight_formats(MadeBy by) {
  std::string names;
  for (const WeightFormatRow& row : all_formats)
    if (makes(by, row)) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

}  // namespace draftscope::speculation

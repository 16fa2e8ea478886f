// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/auto/auto_drafters.h>

#include <draftscope/base/quote.h>
#include <draftscope/speculation/auto/auto_policy.h>
#include <draftscope/speculation/rules/rules_of.h>
#include <draftscope/speculation/skip_set_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace draftscope::speculation {

namespace {

Result<std::vector<WeightFormat>> listed_formats(std::string_view text) {
  std::vector<WeightFormat> formats;
  if (text.empty() || text == "none") return formats;
  while (true) {
    const std::size_t plus = text.find('+');
    const auto format = parse_weight_format(text.substr(0, plus));
    if (!format || weight_format_row(*format).made_by == MadeBy::none)
      return fail("strategy auto: formats: found {}, expected one of {}, {}", text.substr(0, plus),
                  made_weight_formats(MadeBy::cpu), made_weight_formats(MadeBy::cuda));
    if (std::find(formats.begin(), formats.end(), *format) == formats.end()) formats.push_back(*format);
    if (plus == std::string_view::npos) return formats;
    text.remove_prefix(plus + 1);
  }
}

Result<void> add_exits(const StrategySpecification& automatic, std::int32_t n_layers,
                       std::vector<AutoDrafter>& drafters) {
  for (const std::int32_t exit : listed_layers(automatic.text("exits"))) {
    if (exit < 1 || exit >= n_layers)
      return fail("strategy auto: exits: found {}, expected 1 to {}", exit, n_layers - 1);
    drafters.push_back({fmt::format("exit {}", exit),
                        SublayerMask::early_exit(n_layers, exit),
                        std::nullopt,
                        {static_cast<double>(exit) / n_layers, 0.5}});
  }
  return {};
}

Result<void> add_skip_set(const StrategySpecification& automatic, std::int32_t n_layers,
                          std::vector<AutoDrafter>& drafters) {
  const SkipSetText skipped{automatic.text("skip-attention"), automatic.text("skip-mlp")};
  if (skipped.attention.empty() && skipped.mlp.empty()) return {};
  auto mask = parse_skip_set_text(skipped, n_layers);
  if (!mask) return fail("strategy auto: {}", mask.error().message);
  drafters.push_back({"skip set", *std::move(mask), std::nullopt, {0.8, 0.7}});
  return {};
}

/// A drafter as `expected` names it.
std::string expected_name(const AutoDrafter& drafter) {
  std::string name = drafter.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

/// Takes over what `expected` says of the drafters. Formats that this target's backend cannot make are passed
/// over.
Result<void> take_expectations(const StrategySpecification& automatic, std::span<const WeightFormat> formats,
                               std::vector<AutoDrafter>& drafters) {
  DRAFTSCOPE_TRY_ASSIGN(const auto expectations, parse_expectations(automatic.text("expected")));
  for (const DrafterExpectation& expected : expectations) {
    const auto drafter = std::find_if(drafters.begin(), drafters.end(), [&](const AutoDrafter& candidate) {
      return expected_name(candidate) == expected.drafter;
    });
    if (drafter != drafters.end()) {
      drafter->expected.acceptance = expected.acceptance;
      drafter->expected.step_cost = expected.step_cost;
      drafter->expected.is_measured = true;
      continue;
    }
    const auto format = parse_weight_format(expected.drafter);
    if (!format || std::find(formats.begin(), formats.end(), *format) == formats.end())
      return fail(
          "strategy auto: expected: found {}, expected one of its exits, as exit-8, formats, or skip-set",
          quote(expected.drafter));
  }
  return {};
}

}  // namespace

HeldTarget held_target(std::string_view device, std::string_view weights) {
  const MadeBy backend = device == "cuda" ? MadeBy::cuda : device == "cpu" ? MadeBy::cpu : MadeBy::none;
  // A name that says nothing is taken for two bytes a weight.
  HeldTarget target{
      .formats = {}, .holds_one_copy = backend == MadeBy::cuda, .bits = leading_bits(weights).value_or(16.0)};
  for (const WeightFormatRow& row : weight_formats())
    if (makes(backend, row)) target.formats.push_back(row.format);
  return target;
}

Result<std::vector<AutoDrafter>> auto_drafters(const StrategySpecification& automatic, std::int32_t n_layers,
                                               const HeldTarget& target) {
  std::vector<AutoDrafter> drafters;
  DRAFTSCOPE_TRY(add_exits(automatic, n_layers, drafters));
  DRAFTSCOPE_TRY(add_skip_set(automatic, n_layers, drafters));
  DRAFTSCOPE_TRY_ASSIGN(const auto formats, listed_formats(automatic.text("formats")));
  const auto is_made = [&](WeightFormat format) {
    return std::find(target.formats.begin(), target.formats.end(), format) != target.formats.end();
  };
  const bool has_fp8 = is_made(WeightFormat::fp8) &&
                       std::find(formats.begin(), formats.end(), WeightFormat::fp8) != formats.end();
  for (const WeightFormat format : formats) {
    const WeightFormatRow& row = weight_format_row(format);
    if (!is_made(format) || row.bits >= target.bits) continue;
    if (target.holds_one_copy && format != WeightFormat::fp8 && has_fp8) continue;
    drafters.push_back({std::string(row.name),
                        SublayerMask(n_layers),
                        format,
                        {.step_cost = row.bits / target.bits, .bits = row.bits}});
  }
  DRAFTSCOPE_TRY(take_expectations(automatic, formats, drafters));
  return drafters;
}

AutoOptions auto_options(const StrategySpecification& automatic, std::span<const AutoDrafter> drafters) {
  AutoOptions options;
  options.max_length = automatic.integer("max-gamma");
  options.account.share = automatic.number("loss");
  for (const AutoDrafter& drafter : drafters) options.drafters.push_back(drafter.expected);
  return options;
}

}  // namespace draftscope::speculation

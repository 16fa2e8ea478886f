// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/auto/rule_drafters.h"

#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/statistics.h>
#include <draftscope/speculation/skip_set_text.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace draftscope::speculation {

namespace {

constexpr double cost_per_row = 0.03;  // cost of a row of a verification, in vanilla rounds
constexpr double min_step_cost = 0.02;
constexpr double max_step_cost = 1.0;

Result<DrafterExpectation> expectation_of(std::string_view text) {
  const std::size_t first = text.find('/');
  const std::size_t second = first == std::string_view::npos ? first : text.find('/', first + 1);
  if (second != std::string_view::npos) {
    const auto acceptance = parse_number<double>(text.substr(first + 1, second - first - 1));
    const auto cost = parse_number<double>(text.substr(second + 1));
    if (first > 0 && acceptance && *acceptance > 0.0 && *acceptance < 1.0 && cost && *cost > 0.0 &&
        *cost <= 10.0)
      return DrafterExpectation{std::string(text.substr(0, first)), *acceptance, *cost};
  }
  return fail(
      "strategy auto: expected: found {}, expected drafter/acceptance/step cost as in exit-8/0.71/0.35, the "
      "acceptance between 0 and 1, the cost above 0 and at most 10",
      quote(text));
}

/// Expected accepted tokens of a chain, α + α² + …; its length need not be whole.
double accepted_of_chain(double acceptance, double length) {
  return acceptance * (1.0 - std::pow(acceptance, length)) / (1.0 - acceptance);
}

/// The measurement with the median score.
std::optional<Measurement> middle_of(std::vector<Measurement> repeats) {
  if (repeats.empty()) return std::nullopt;
  return lower_median(repeats, [](const Measurement& a, const Measurement& b) { return a.score < b.score; });
}

std::string without_none(const std::string& list) {
  return list == "none" ? std::string() : list;
}

/// The parameters that describe drafters to `auto`.
class KnownDrafters {
 public:
  KnownDrafters(const StrategySpecification& automatic, std::vector<DrafterExpectation> expected)
      : exits_(listed_layers(automatic.text("exits"))),
        skipped_{automatic.text("skip-attention"), automatic.text("skip-mlp")},
        formats_(without_none(automatic.text("formats"))),
        expected_(std::move(expected)) {}

  void add(const StrategySpecification& setting, const std::optional<Measurement>& measured,
           const PolicyFile& policy) {
    if (!setting.has_parts()) return;
    const auto weights = setting.draft_weights();
    const std::string drafter = add_mask(setting, policy);
    if (weights) add_format(weight_format_row(*weights).name);
    // Only the combination of a part of the model and fewer bits was measured, neither by itself.
    const bool is_both = weights && !drafter.empty();
    const std::string measured_as = weights ? std::string(weight_format_row(*weights).name) : drafter;
    const bool is_whole_model = setting.drafts_with(MaskLayers::all);
    if (!measured || is_both || measured_as.empty() || (weights && !is_whole_model)) return;
    const auto is_it = [&](const DrafterExpectation& known) { return known.drafter == measured_as; };
    if (std::any_of(expected_.begin(), expected_.end(), is_it)) return;
    if (const auto figures = step_figures(*measured))
      expected_.push_back({measured_as, figures->acceptance, figures->step_cost});
  }

  /// Text of the parameters.
  [[nodiscard]] std::string text() const {
    std::string text = fmt::format("formats={}", formats_.empty() ? "none" : formats_);
    if (!exits_.empty()) text += fmt::format(",exits={}", fmt::join(exits_, "+"));
    if (has_skip_set())
      text += fmt::format(",skip-attention={},skip-mlp={}", skipped_.attention, skipped_.mlp);
    if (!expected_.empty()) text += fmt::format(",expected={}", expectations_text(expected_));
    return text;
  }

 private:
  [[nodiscard]] bool has_skip_set() const { return !skipped_.attention.empty() || !skipped_.mlp.empty(); }

  /// Adds the setting's part of the model and returns its name as a drafter; empty if it is the whole model,
  /// or changes during decoding.
  std::string add_mask(const StrategySpecification& setting, const PolicyFile& policy) {
    if (setting.drafts_with(MaskLayers::below_exit)) {
      const std::int32_t exit = setting.integer("exit");
      if (std::find(exits_.begin(), exits_.end(), exit) == exits_.end()) exits_.push_back(exit);
      return fmt::format("exit-{}", exit);
    }
    if (!setting.drafts_with(MaskLayers::beside_listed_set)) return {};
    SkipSetText set{setting.text("skip-attention"), setting.text("skip-mlp")};
    if (set.attention.empty() && set.mlp.empty() && policy.skip_set) set = skip_set_text(*policy.skip_set);
    if (set.attention.empty() && set.mlp.empty()) return {};
    // There is room for only one skip set: the best one, or the one that was asked for.
    if (has_skip_set() && (set.attention != skipped_.attention || set.mlp != skipped_.mlp)) return {};
    skipped_ = std::move(set);
    return "skip-set";
  }

  void add_format(std::string_view format) {
    if (fmt::format("+{}+", formats_).find(fmt::format("+{}+", format)) != std::string::npos) return;
    formats_ += fmt::format("{}{}", formats_.empty() ? "" : "+", format);
  }

  std::vector<std::int32_t> exits_;
  SkipSetText skipped_;
  std::string formats_;
  std::vector<DrafterExpectation> expected_;
};

}  // namespace

Result<std::vector<DrafterExpectation>> parse_expectations(std::string_view text) {
  std::vector<DrafterExpectation> expectations;
  if (text.empty()) return expectations;
  while (true) {
    const std::size_t plus = text.find('+');
    DRAFTSCOPE_TRY_ASSIGN(expectations.emplace_back(), expectation_of(text.substr(0, plus)));
    if (plus == std::string_view::npos) return expectations;
    text.remove_prefix(plus + 1);
  }
}

std::string expectations_text(const std::vector<DrafterExpectation>& expectations) {
  std::vector<std::string> parts;
  parts.reserve(expectations.size());
  for (const DrafterExpectation& expected : expectations)
    parts.push_back(fmt::format("{}/{}/{}", expected.drafter, expected.acceptance, expected.step_cost));
  return fmt::format("{}", fmt::join(parts, "+"));
}

std::optional<StepFigures> step_figures(const Measurement& measured) {
  constexpr double least = 1e-3;
  const double accepted = measured.tokens_per_round - 1.0;
  const double rate = measured.acceptance_rate;
  if (!(rate > 0.0 && rate < 1.0 && accepted > 0.0 && measured.score > 0.0)) return std::nullopt;
  const double drafted = accepted / rate;
  // A longer chain has more accepted tokens, so bisection finds the acceptance between these bounds.
  double low = least;
  double high = 1.0 - least;
  constexpr int halvings = 40;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2.0;
    (accepted_of_chain(middle, drafted) < accepted ? low : high) = middle;
  }
  const double round = measured.tokens_per_round / measured.score;  // vanilla rounds
  const double step = (round - 1.0 - cost_per_row * drafted) / drafted;
  const auto rounded = [](double figure) { return std::round(figure * 1e4) / 1e4; };
  return StepFigures{rounded(low), rounded(std::clamp(step, min_step_cost, max_step_cost))};
}

Result<StrategySpecification> with_policy(const StrategySpecification& automatic, const PolicyFile& policy,
                                          std::int32_t n_layers) {
  DRAFTSCOPE_TRY_ASSIGN(auto expected, parse_expectations(automatic.text("expected")));
  KnownDrafters known(automatic, std::move(expected));
  std::vector<Finalist> settings = policy.finalists;
  if (settings.empty()) settings.push_back({policy.strategy, policy.repeats});
  for (Finalist& finalist : settings) {
    const auto setting = parse_strategy(finalist.setting, n_layers);
    if (!setting) return fail("setting {} of a policy: {}", quote(finalist.setting), setting.error().message);
    known.add(*setting, middle_of(std::move(finalist.repeats)), policy);
  }
  return parse_strategy(fmt::format("auto:max-gamma={},loss={},{}", automatic.integer("max-gamma"),
                                    automatic.number("loss"), known.text()),
                        n_layers);
}

Result<StrategySpecification> with_policy_read(const StrategySpecification& automatic,
                                               const ModelShape& shape) {
  const std::string& file = automatic.text("policy");
  if (file == "none") return automatic;
  DRAFTSCOPE_TRY_ASSIGN(const PolicyFile policy, read_policy(file));
  DRAFTSCOPE_TRY(check_policy_finished(policy, file));
  DRAFTSCOPE_TRY(check_policy_shape(policy, shape, file));
  auto specification = with_policy(automatic, policy, shape.n_layers);
  if (!specification) return fail("{}: {}", file, specification.error().message);
  return specification;
}

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

/// The name of a drafter in `expected`.
std::string expected_name(const AutoDrafter& drafter) {
  std::string name = drafter.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

/// Applies the figures in `expected` to the drafters. Formats that this target's backend cannot make are
/// ignored.
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
          "strategy auto: expected: found {}, expected one of its exits, as exit-8, formats, skip-set, or "
          "next-token-layer where the checkpoint has one",
          quote(expected.drafter));
  }
  return {};
}

}  // namespace

HeldTarget held_target(std::string_view device, std::string_view weights) {
  const MadeBy backend = device == "cuda" ? MadeBy::cuda : device == "cpu" ? MadeBy::cpu : MadeBy::none;
  // An unknown name is assumed to mean two bytes per weight.
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
  if (target.has_next_token_layer)
    drafters.push_back(
        {std::string(next_token_layer_name), SublayerMask(n_layers), std::nullopt, {0.2, 0.6}});
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

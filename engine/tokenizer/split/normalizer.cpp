// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/split/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "tokenizer/read_json.h"
#include "tokenizer/split/utf8.h"

namespace draftscope::engine::tokenizer {
namespace {

Result<NormalizerStep> parse_step(const std::string& type, const JsonField& field) {
  if (type == "Prepend") {
    DRAFTSCOPE_TRY_ASSIGN(auto text, field["prepend"].text());
    return NormalizerStep(Prepend{std::move(text)});
  }
  if (type == "Replace") {
    DRAFTSCOPE_TRY_ASSIGN(auto pattern, Pattern::parse(field["pattern"]));
    DRAFTSCOPE_TRY_ASSIGN(auto content, field["content"].text());
    return NormalizerStep(ReplaceMatches{std::move(pattern), std::move(content)});
  }
  if (type == "NFC") return NormalizerStep(UnicodeForm{true, false});
  if (type == "NFD") return NormalizerStep(UnicodeForm{false, false});
  if (type == "NFKC") return NormalizerStep(UnicodeForm{true, true});
  if (type == "NFKD") return NormalizerStep(UnicodeForm{false, true});
  return fail("{}: normalizer '{}' is not implemented", field.name(), type);
}

Result<std::string> apply_step(const Prepend& step, std::string text, StepBudget& budget) {
  DRAFTSCOPE_TRY(budget.spend(step.text.size()));
  if (!text.empty()) text.insert(0, step.text);
  return text;
}

Result<std::string> apply_step(const ReplaceMatches& step, const std::string& text, StepBudget& budget) {
  std::string replaced;
  std::size_t copied = 0;
  DRAFTSCOPE_TRY(step.pattern.for_each_match(text, budget, [&](Range match) {
    if (!budget.take(step.content.size() + 1)) return;
    replaced.append(text, copied, match.begin - copied);
    replaced += step.content;
    copied = match.end;
  }));
  replaced.append(text, copied, std::string::npos);
  return replaced;
}

// Puts each run of combining marks into canonical order. Uses a stable sort, since utf8proc's insertion sort
// takes quadratic time on a long run.
void sort_marks(std::vector<utf8proc_int32_t>& code_points) {
  const auto combining_class = [](utf8proc_int32_t c) { return utf8proc_get_property(c)->combining_class; };
  const auto is_starter = [&](utf8proc_int32_t c) { return combining_class(c) == 0; };
  for (auto run = code_points.begin(); run != code_points.end();) {
    run = std::find_if_not(run, code_points.end(), is_starter);
    const auto end = std::find_if(run, code_points.end(), is_starter);
    std::stable_sort(run, end, [&](auto a, auto b) { return combining_class(a) < combining_class(b); });
    run = end;
  }
}

Result<std::string> apply_step(const UnicodeForm& step, const std::string& text, StepBudget& budget) {
  constexpr std::size_t steps_per_byte = 8;
  DRAFTSCOPE_TRY(budget.spend(steps_per_byte * text.size()));
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return text;
  constexpr std::size_t longest_decomposition = 18;  // length of U+FDFA under NFKD
  const int decompose = UTF8PROC_DECOMPOSE | UTF8PROC_STABLE | (step.compatibility ? UTF8PROC_COMPAT : 0);
  std::vector<utf8proc_int32_t> code_points;
  std::array<utf8proc_int32_t, longest_decomposition> parts{};
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Scan scan = scan_utf8(std::string_view(text).substr(at));
    at += scan.length;
    int boundary_class = 0;
    const auto count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(scan.code_point), parts.data(), parts.size(),
                                static_cast<utf8proc_option_t>(decompose), &boundary_class);
    if (count < 0 || static_cast<std::size_t>(count) > parts.size())
      return fail("Unicode normalisation fails at U+{:04X}, expected text of assigned characters",
                  static_cast<std::uint32_t>(scan.code_point));
    code_points.insert(code_points.end(), parts.begin(), parts.begin() + count);
  }
  sort_marks(code_points);
  auto count = static_cast<utf8proc_ssize_t>(code_points.size());
  if (step.compose)
    count = utf8proc_normalize_utf32(code_points.data(), count,
                                     static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  std::string normalized;
  for (utf8proc_ssize_t i = 0; i < count; ++i)
    append_utf8(normalized, static_cast<char32_t>(code_points[static_cast<std::size_t>(i)]));
  return normalized;
}

}  // namespace

Result<Normalizer> Normalizer::parse(const JsonField& field) {
  Normalizer normalizer;
  DRAFTSCOPE_TRY(for_each_in_sequence(
      field, "normalizers", [&](const std::string& type, const JsonField& step_field) -> Result<void> {
        DRAFTSCOPE_TRY_ASSIGN(auto step, parse_step(type, step_field));
        normalizer.steps_.push_back(std::move(step));
        return {};
      }));
  return normalizer;
}

Result<std::string> Normalizer::apply(std::string text, StepBudget& budget) const {
  budget.at_stage("normalizer");
  for (const NormalizerStep& step : steps_) {
    DRAFTSCOPE_TRY(budget.spend(text.size() + 1));
    DRAFTSCOPE_TRY_ASSIGN(
        text, std::visit([&](const auto& s) { return apply_step(s, std::move(text), budget); }, step));
  }
  return text;
}

}  // namespace draftscope::engine::tokenizer

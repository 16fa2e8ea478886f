// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/split/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "tokenizer/split/oniguruma.h"
#include "tokenizer/split/utf8.h"

namespace draftscope::engine::tokenizer {
namespace {

struct FreeMatchData {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};
struct FreeMatchContext {
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};
struct FreeCompileContext {
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
};

std::string error_text(int code) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(code, buffer.data(), buffer.size());
  return {buffer.begin(), std::find(buffer.begin(), buffer.end(), 0)};
}

Result<void> for_each_literal(std::string_view text, std::string_view literal, StepBudget& budget,
                              const Pattern::Visit& visit) {
  constexpr std::size_t bytes_compared_per_step = 16;
  DRAFTSCOPE_TRY(budget.spend((text.size() + 1) * (1 + literal.size() / bytes_compared_per_step)));
  for (auto at = text.find(literal); at != std::string_view::npos;
       at = text.find(literal, at + literal.size())) {
    visit({at, at + literal.size()});
    if (budget.is_spent()) return budget.error();
  }
  return {};
}

/// The first place after the character at `at`; past the text's end it is one byte later.
std::size_t after_character(std::string_view text, std::size_t at) {
  return at < text.size() ? at + scan_utf8(text.substr(at)).length : at + 1;
}

/// Searches matches in one text. PCRE2's own limits count neither the characters that a step reads nor the
/// alternatives that fail, so the pattern calls out before each of its items, and the budget pays for the
/// item and for the way that the search went since the item before, forward or back.
class Matcher {
 public:
  Matcher(const pcre2_code& code, std::string_view text, StepBudget& budget)
      : code_(&code),
        text_(text),
        budget_(&budget),
        data_(pcre2_match_data_create(1, nullptr)),
        context_(pcre2_match_context_create(nullptr)) {
    if (!is_ready()) return;
    constexpr std::uint32_t max_kibibytes = std::uint32_t{64} << 10U;
    constexpr std::uint32_t max_depth = 1'000'000;
    pcre2_set_heap_limit(context_.get(), max_kibibytes);
    pcre2_set_depth_limit(context_.get(), max_depth);
    pcre2_set_match_limit(context_.get(), std::numeric_limits<std::uint32_t>::max());
    pcre2_set_callout(context_.get(), pay, this);
  }
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;
  [[nodiscard]] bool is_ready() const { return data_ != nullptr && context_ != nullptr; }

  /// The first match that begins at `from` or later. Errors: the budget is spent, PCRE2 fails.
  Result<std::optional<Range>> next(std::size_t from) {
    constexpr std::size_t steps_of_call = 16;
    DRAFTSCOPE_TRY(budget_->spend(steps_of_call));
    int count = search(from, 0);
    if (count == PCRE2_ERROR_JIT_STACKLIMIT) count = search(from, PCRE2_NO_JIT);
    if (count == PCRE2_ERROR_NOMATCH) return std::nullopt;
    if (count >= 0) {
      const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(data_.get());
      return Range{offsets[0], offsets[1]};
    }
    if (budget_->is_spent()) return budget_->error();
    return fail("split pattern fails at byte {} of a piece: {}, expected to need less than 64 MiB", from,
                error_text(count));
  }

 private:
  static int pay(pcre2_callout_block* block, void* matcher) {
    constexpr std::size_t steps_of_item = 4;  // The interpreter takes up to 20 ns.
    constexpr std::size_t bytes_read_per_step = 4;
    Matcher& it = *static_cast<Matcher*>(matcher);
    const std::size_t before = std::exchange(it.at_, block->current_position);
    const std::size_t way = before < it.at_ ? it.at_ - before : before - it.at_;
    return it.budget_->take(steps_of_item + way / bytes_read_per_step) ? 0 : PCRE2_ERROR_CALLOUT;
  }

  int search(std::size_t from, std::uint32_t options) {
    at_ = from;
    // The whole prompt was checked before; checking again at each match would be quadratic.
    return pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text_.data()), text_.size(), from,
                       options | PCRE2_NO_UTF_CHECK, data_.get(), context_.get());
  }

  const pcre2_code* code_;
  std::string_view text_;
  StepBudget* budget_;
  std::size_t at_ = 0;  ///< Byte at which the last item was tried.
  std::unique_ptr<pcre2_match_data, FreeMatchData> data_;
  std::unique_ptr<pcre2_match_context, FreeMatchContext> context_;
};

}  // namespace

Result<Pattern> Pattern::parse(const JsonField& field) {
  DRAFTSCOPE_TRY(field.object());
  if (!field["Regex"].is_null()) {
    const JsonField expression = field["Regex"];
    DRAFTSCOPE_TRY_ASSIGN(auto text, expression.text());
    return regex(text, expression.name());
  }
  const JsonField literal_field = field["String"];
  DRAFTSCOPE_TRY_ASSIGN(auto text, literal_field.text());
  if (text.empty()) return fail("{} is empty, expected at least one character", literal_field.name());
  return literal(std::move(text));
}

Result<Pattern> Pattern::regex(std::string_view expression, std::string_view path) {
  DRAFTSCOPE_TRY_ASSIGN(const auto translated, translate_oniguruma(expression, path));
  const std::unique_ptr<pcre2_compile_context, FreeCompileContext> context(
      pcre2_compile_context_create(nullptr));
  if (!context) return fail("{}: out of memory", path);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  constexpr std::size_t max_pattern_bytes = std::size_t{64} << 10U;
  pcre2_set_max_pattern_length(context.get(), max_pattern_bytes);
  int code = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* compiled =
      // PCRE2 takes bytes as unsigned char; the view outlives the call.
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_AUTO_CALLOUT, &code, &offset, context.get());
  if (compiled == nullptr)
    return fail("{}: bad expression: {}, expected one that PCRE2 takes", path, error_text(code));
  Pattern pattern;
  pattern.code_.reset(compiled, [](const pcre2_code* c) { pcre2_code_free(const_cast<pcre2_code*>(c)); });
  // If PCRE2 was built without its JIT, the interpreter gives the same matches.
  pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);
  return pattern;
}

Pattern Pattern::literal(std::string text) {
  Pattern pattern;
  pattern.literal_ = std::move(text);
  return pattern;
}

Result<void> Pattern::for_each_match(std::string_view text, StepBudget& budget, const Visit& visit) const {
  if (!code_) return for_each_literal(text, literal_, budget, visit);
  Matcher matcher(*code_, text, budget);
  if (!matcher.is_ready()) return fail("split pattern: out of memory");
  std::size_t from = 0;
  std::size_t last_end = std::string_view::npos;
  while (from <= text.size()) {
    DRAFTSCOPE_TRY_ASSIGN(const auto match, matcher.next(from));
    if (!match) return {};
    from = last_end == match->begin && match->begin == match->end
               // An empty match right after a match would never end, so continue one character later.
               ? after_character(text, last_end)
               : match->end;
    if (match->begin != match->end || last_end != match->begin) {
      visit(*match);
      if (budget.is_spent()) return budget.error();
    }
    last_end = match->end;
  }
  return {};
}

}  // namespace draftscope::engine::tokenizer

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

/// Searches matches in one text with bounded work. PCRE2 limits steps only for each place where a match may
/// begin, and does not count the characters that one step reads. So a search sees a few places and little
/// text after them; only where that does not suffice it sees more, which the budget pays.
class Matcher {
 public:
  Matcher(const pcre2_code& code, std::string_view text)
      : code_(&code),
        text_(text),
        data_(pcre2_match_data_create(1, nullptr)),
        context_(pcre2_match_context_create(nullptr)) {
    if (!is_ready()) return;
    constexpr std::uint32_t max_kibibytes = std::uint32_t{64} << 10U;
    constexpr std::uint32_t max_depth = 1'000'000;
    pcre2_set_heap_limit(context_.get(), max_kibibytes);
    pcre2_set_depth_limit(context_.get(), max_depth);
  }
  [[nodiscard]] bool is_ready() const { return data_ != nullptr && context_ != nullptr; }

  /// The first match that begins at `from` or later. Errors: the budget is spent, PCRE2 fails.
  Result<std::optional<Range>> next(std::size_t from, StepBudget& budget) {
    View view;
    while (true) {
      DRAFTSCOPE_TRY(budget.spend(view.steps()));
      const int count = search(from, view);
      if (count >= 0) {
        const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(data_.get());
        return Range{offsets[0], offsets[1]};
      }
      if (count == PCRE2_ERROR_NOMATCH) {
        if (text_.size() - from <= view.places) return std::nullopt;
        from = next_boundary(from + view.places + 1);
        view = {.places = std::min(2 * view.places + 1, max_places)};
      } else if (count != PCRE2_ERROR_PARTIAL && count != PCRE2_ERROR_MATCHLIMIT) {
        return fail("split pattern fails at byte {} of a piece: {}, expected to need less than 64 MiB", from,
                    error_text(count));
      } else if (view.places > 0) {
        view.places = 0;  // First see whether the other places made it fail.
        view.is_wide = true;
      } else if (count == PCRE2_ERROR_PARTIAL) {
        view.bytes *= growth;
      } else {
        view.max_steps =
            std::min(view.max_steps, std::numeric_limits<std::uint32_t>::max() / growth) * growth;
      }
    }
  }

 private:
  static constexpr std::size_t max_places = 4095;
  static constexpr std::uint32_t growth = 4;
  struct View {
    std::size_t places = 15;        ///< where a match may begin, after the first
    std::size_t bytes = 256;        ///< seen after these places
    std::uint32_t max_steps = 256;  ///< for each place
    bool is_wide = false;           ///< whether a smaller view did not suffice

    /// Steps that the budget pays: the worst case, once a search has failed.
    [[nodiscard]] std::size_t steps() const {
      constexpr std::size_t call = 16;
      return is_wide ? (places + 1) * (bytes + max_steps) : call + places;
    }
  };

  std::size_t next_boundary(std::size_t at) const {
    while (at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xC0U) == 0x80U) ++at;
    return at;
  }

  int search(std::size_t from, const View& view) {
    const std::size_t rest = text_.size() - from;
    const bool sees_all = rest <= view.places + view.bytes;
    const std::size_t end = sees_all ? text_.size() : next_boundary(from + view.places + view.bytes);
    pcre2_set_offset_limit(context_.get(), from + std::min(rest, view.places));
    pcre2_set_match_limit(context_.get(), view.max_steps);
    // The whole prompt was checked before; checking again at each match would be quadratic.
    const std::uint32_t options = PCRE2_NO_UTF_CHECK | (end < text_.size() ? PCRE2_PARTIAL_HARD : 0U);
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text_.data());
    const int count = pcre2_match(code_, subject, end, from, options, data_.get(), context_.get());
    if (count != PCRE2_ERROR_JIT_STACKLIMIT) return count;
    return pcre2_match(code_, subject, end, from, options | PCRE2_NO_JIT, data_.get(), context_.get());
  }

  const pcre2_code* code_;
  std::string_view text_;
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
                    PCRE2_UTF | PCRE2_UCP | PCRE2_USE_OFFSET_LIMIT, &code, &offset, context.get());
  if (compiled == nullptr)
    return fail("{}: bad expression: {}, expected one that PCRE2 takes", path, error_text(code));
  Pattern pattern;
  pattern.code_.reset(compiled, [](const pcre2_code* c) { pcre2_code_free(const_cast<pcre2_code*>(c)); });
  // If PCRE2 was built without its JIT, the interpreter gives the same matches.
  pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
  return pattern;
}

Pattern Pattern::literal(std::string text) {
  Pattern pattern;
  pattern.literal_ = std::move(text);
  return pattern;
}

Result<void> Pattern::for_each_match(std::string_view text, StepBudget& budget, const Visit& visit) const {
  if (!code_) return for_each_literal(text, literal_, budget, visit);
  Matcher matcher(*code_, text);
  if (!matcher.is_ready()) return fail("split pattern: out of memory");
  std::size_t from = 0;
  std::size_t last_end = std::string_view::npos;
  while (from <= text.size()) {
    DRAFTSCOPE_TRY_ASSIGN(const auto match, matcher.next(from, budget));
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

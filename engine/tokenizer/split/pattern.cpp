// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/split/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <utility>

#include "tokenizer/split/oniguruma.h"
#include "tokenizer/split/utf8.h"

namespace draftscope::engine::tokenizer {
namespace {

struct FreeMatchData {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};
struct FreeCompileContext {
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
};

std::string error_text(int code) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(code, buffer.data(), buffer.size());
  return {buffer.begin(), std::find(buffer.begin(), buffer.end(), 0)};
}

Result<void> for_each_literal(std::string_view text, std::string_view literal, const Pattern::Visit& visit) {
  for (auto at = text.find(literal); at != std::string_view::npos;
       at = text.find(literal, at + literal.size()))
    visit({at, at + literal.size()});
  return {};
}

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
  int code = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* compiled =
      // PCRE2 takes bytes as unsigned char; the view outlives the call.
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(), PCRE2_UTF | PCRE2_UCP,
                    &code, &offset, context.get());
  if (compiled == nullptr) return fail("{}: bad expression: {}", path, error_text(code));
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

Result<void> Pattern::for_each_match(std::string_view text, const Visit& visit) const {
  if (!code_) return for_each_literal(text, literal_, visit);
  const std::unique_ptr<pcre2_match_data, FreeMatchData> data(pcre2_match_data_create(1, nullptr));
  if (!data) return fail("split pattern: out of memory");
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  std::size_t from = 0;
  std::size_t last_end = std::string_view::npos;
  while (from <= text.size()) {
    // The whole prompt was checked before; checking again at each match would be quadratic.
    int count = pcre2_match(code_.get(), subject, text.size(), from, PCRE2_NO_UTF_CHECK, data.get(), nullptr);
    if (count == PCRE2_ERROR_JIT_STACKLIMIT)
      count = pcre2_match(code_.get(), subject, text.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                          data.get(), nullptr);
    if (count == PCRE2_ERROR_NOMATCH) return {};
    if (count < 0) return fail("split pattern fails at byte {} of a piece: {}", from, error_text(count));
    const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(data.get());
    const Range match{offsets[0], offsets[1]};
    if (match.begin == match.end && match.begin == last_end) {
      // An empty match right after a match would never end, so continue one character later.
      if (last_end == text.size()) return {};
      from = last_end + scan_utf8(text.substr(last_end)).length;
      continue;
    }
    visit(match);
    from = last_end = match.end;
  }
  return {};
}

}  // namespace draftscope::engine::tokenizer

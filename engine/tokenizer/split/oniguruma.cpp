// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/split/oniguruma.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tokenizer/split/utf8.h"

// Differences between the two dialects:
// \s       includes U+180E in PCRE2; it is Unicode White_Space in Oniguruma.
// \p{Han}  uses script extensions in PCRE2, the script itself in Oniguruma.
// \uHHHH   is \x{HHHH} in PCRE2.
// {n,m}+   repeats again in Oniguruma and is possessive in PCRE2.
// [[…]] and && in a class are set operations in Oniguruma and characters in PCRE2.
// ^ and $  match at every line in Oniguruma, and in PCRE2 where (?m: says so.

namespace draftscope::engine::tokenizer {
namespace {

constexpr std::array<std::string_view, 38> categories{
    "L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc", "Me", "N",  "Nd", "Nl",
    "No", "P",  "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S",  "Sm", "Sc", "Sk",
    "So", "Z",  "Zs", "Zl", "Zp", "C",  "Cc", "Cf", "Cs", "Co", "Cn", "Any"};

class Translator {
 public:
  Translator(std::string_view expression, std::string_view path) : rest_(expression), path_(path) {}

  Result<std::string> run() {
    while (!rest_.empty()) DRAFTSCOPE_TRY(in_class_ ? class_item() : item());
    return std::move(output_);
  }

 private:
  bool starts(std::string_view prefix) const { return rest_.substr(0, prefix.size()) == prefix; }

  void copy(std::size_t count) {
    output_ += rest_.substr(0, count);
    rest_.remove_prefix(count);
  }

  void replace(std::size_t count, std::string_view with) {
    output_ += with;
    rest_.remove_prefix(count);
  }

  tl::unexpected<Error> refuse(std::string_view construct) const {
    return fail("{}: '{}' in a regular expression is not implemented", path_, construct);
  }

  Result<void> item() {
    if (rest_[0] == '^') return replace(1, "(?m:^)"), Result<void>{};
    if (rest_[0] == '$') return replace(1, "(?m:$)"), Result<void>{};
    if (starts("\\A") || starts("\\z")) return copy(2), Result<void>{};
    if (rest_[0] == '\\') return escape();
    if (rest_[0] == '{') return interval();
    if (starts("(?") || starts("(*")) return group();
    if (rest_[0] == '[') {
      in_class_ = true;
      copy(starts("[^") ? 2 : 1);
      if (starts("]")) return refuse("[]");
      return {};
    }
    copy(1);
    return {};
  }

  Result<void> class_item() {
    if (rest_[0] == '\\') return escape();
    if (rest_[0] == '[') return refuse("[ within [ ]");
    if (starts("&&")) return refuse("&&");
    if (rest_[0] == ']') in_class_ = false;
    copy(1);
    return {};
  }

  Result<void> group() {
    static constexpr std::array<std::string_view, 7> known{
        "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:"};
    for (const std::string_view opening : known)
      if (starts(opening)) {
        copy(opening.size());
        return {};
      }
    return refuse(rest_.substr(0, 3));
  }

  Result<void> interval() {
    const auto close = rest_.find('}');
    const std::string_view inside = rest_.substr(1, close == std::string_view::npos ? close : close - 1);
    const bool counts = close != std::string_view::npos && !inside.empty() && inside[0] != ',' &&
                        inside.find_first_not_of("0123456789,") == std::string_view::npos;
    if (!counts) return refuse("{");
    // A long count would be a single step to the budget that pays for a pattern.
    constexpr std::size_t max_digits = 2;
    std::size_t digits = 0;
    for (const char c : inside)
      if ((digits = c == ',' ? 0 : digits + 1) > max_digits)
        return fail("{}: '{}' in a regular expression repeats too often, expected at most 99 times", path_,
                    rest_.substr(0, close + 1));
    const char after = close + 1 < rest_.size() ? rest_[close + 1] : '\0';
    if (after == '+' || after == '?') return refuse(rest_.substr(0, close + 2));
    copy(close + 1);
    return {};
  }

  Result<void> escape() {
    if (rest_.size() < 2) return refuse("\\");
    const char kind = rest_[1];
    if (kind == 's') return replace(2, "\\p{White_Space}"), Result<void>{};
    if (kind == 'S') return replace(2, "\\P{White_Space}"), Result<void>{};
    if (kind == 'u') return code_point_escape();
    if (kind == 'p' || kind == 'P') return property();
    const bool letter =
        (kind >= 'a' && kind <= 'z') || (kind >= 'A' && kind <= 'Z') || (kind >= '0' && kind <= '9');
    static constexpr std::string_view same_in_both = "dDnrtfv";
    if (letter && same_in_both.find(kind) == std::string_view::npos) return refuse(rest_.substr(0, 2));
    // \v is the vertical tab in Oniguruma, all vertical space in PCRE2.
    if (kind == 'v') return replace(2, "\\x{0B}"), Result<void>{};
    copy(2);
    return {};
  }

  Result<void> code_point_escape() {
    const std::string_view digits = rest_.substr(2, 4);
    if (digits.size() != 4 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
      return refuse(rest_.substr(0, 2));
    replace(6, fmt::format("\\x{{{}}}", digits));
    return {};
  }

  Result<void> property() {
    const auto close = rest_.find('}');
    if (rest_.size() < 3 || rest_[2] != '{' || close == std::string_view::npos)
      return refuse(rest_.substr(0, 2));
    std::string_view name = rest_.substr(3, close - 3);
    const bool inverted = !name.empty() && name[0] == '^';
    if (inverted) name.remove_prefix(1);
    const bool category = std::find(categories.begin(), categories.end(), name) != categories.end();
    static constexpr std::array<std::string_view, 6> scripts{"Han",    "Hiragana", "Katakana",
                                                             "Hangul", "Latin",    "Cyrillic"};
    const bool script = std::find(scripts.begin(), scripts.end(), name) != scripts.end();
    if (!category && !script) return refuse(rest_.substr(0, close + 1));
    const bool negated = (rest_[1] == 'P') != inverted;
    replace(close + 1, fmt::format("\\{}{{{}{}}}", negated ? 'P' : 'p', script ? "sc:" : "", name));
    return {};
  }

  std::string_view rest_;
  std::string_view path_;
  std::string output_;
  bool in_class_ = false;
};

}  // namespace

Result<std::string> translate_oniguruma(std::string_view expression, std::string_view path) {
  return Translator(expression, path).run();
}

}  // namespace draftscope::engine::tokenizer

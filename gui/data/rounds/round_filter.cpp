// SPDX-License-Identifier: GPL-3.0-or-later
#include "round_filter.h"

#include <draftscope/base/closest_names.h>
#include <draftscope/base/quote.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "data/rounds/rejections.h"

namespace draftscope::gui {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Value of one member of the round's row.
template <auto member>
double of_row(const OpenedRecording& opened, std::uint32_t round_index) {
  return static_cast<double>(opened.round(round_index).*member);
}

/// Value of a count; NaN where it was not recorded.
template <auto count>
double of_count(const OpenedRecording& opened, std::uint32_t round_index) {
  const auto value = count(opened, round_index);
  return value ? *value : none;
}

double round_number(const OpenedRecording& opened, std::uint32_t round_index) {
  const std::uint32_t number = opened.number_in_run(round_index);
  return number == no_index ? none : number;
}

double duration(const OpenedRecording& opened, std::uint32_t round_index) {
  const traces::Round& round = opened.round(round_index);
  return static_cast<double>(round.end_ns - round.start_ns);
}

double threshold(const OpenedRecording& opened, std::uint32_t round_index) {
  const double value = opened.round(round_index).threshold;
  return value < 0.0 ? none : value;
}

/// Confidence of the least sure draft token whose confidence is known.
double confidence(const OpenedRecording& opened, std::uint32_t round_index) {
  double least = none;
  for (const traces::DraftToken& token : opened.draft_tokens(round_index))
    least = std::fmin(least, token.confidence);  // The least of a number and NaN is the number.
  return least;
}

double repeat(const OpenedRecording& opened, std::uint32_t round_index) {
  return opened.request_of(round_index).repeat;
}

double question(const OpenedRecording& opened, std::uint32_t round_index) {
  const traces::Prompt* prompt = opened.prompt_of(opened.request_of(round_index));
  return prompt == nullptr ? none : static_cast<double>(prompt->question_id);
}

std::string_view category(const OpenedRecording& opened, std::uint32_t round_index) {
  const traces::Prompt* prompt = opened.prompt_of(opened.request_of(round_index));
  return prompt == nullptr ? std::string_view() : prompt->category;
}

std::string_view prompt_text(const OpenedRecording& opened, std::uint32_t round_index) {
  const traces::Prompt* prompt = opened.prompt_of(opened.request_of(round_index));
  return prompt == nullptr ? std::string_view() : prompt->text;
}

std::string_view run_name(const OpenedRecording& opened, std::uint32_t round_index) {
  return opened.runs()[opened.run_of(round_index)].run->specification;
}

std::string_view stop(const OpenedRecording& opened, std::uint32_t round_index) {
  return traces::draft_stop_name(opened.round(round_index).draft_stop);
}

using Kind = FilterKind;
using Round = traces::Round;

constexpr std::array<FilterField, 25> fields{{
    {"round", Kind::number, "place in the run, from 0", round_number},
    {"planned", Kind::number, "γ", of_row<&Round::planned>},
    {"drafted", Kind::number, "draft tokens", of_row<&Round::drafted>},
    {"accepted", Kind::number, "accepted draft tokens", of_row<&Round::accepted>},
    {"tested", Kind::number, "draft tokens that verification reached", of_count<tested_tokens>},
    {"rejected", Kind::number, "tested draft tokens that were not accepted", of_count<rejected_tokens>},
    {"emitted", Kind::number, "tokens that reached the output", of_row<&Round::emitted>},
    {"depth", Kind::number, "draft steps", of_row<&Round::tree_depth>},
    {"rows", Kind::number, "rows of the target forward", of_row<&Round::verify_rows>},
    {"exit", Kind::number, "exit layer of the draft", of_row<&Round::exit_layer>},
    {"threshold", Kind::number, "draft-exit threshold", threshold},
    {"confidence", Kind::number, "of the least sure draft token", confidence},
    {"position", Kind::number, "of the root", of_row<&Round::root_position>},
    {"repeat", Kind::number, "of the prompt, from 0", repeat},
    {"question", Kind::number, "number of the prompt", question},
    {"time", Kind::time, "of the round", duration},
    {"draft", Kind::time, "spent on drafting", of_row<&Round::draft_ns>},
    {"verify", Kind::time, "spent on verification", of_row<&Round::verify_ns>},
    {"optimise", Kind::time, "spent on better parameters", of_row<&Round::optimise_ns>},
    {"control", Kind::time, "spent on planning and observing", of_row<&Round::control_ns>},
    {"category", Kind::text, "of the prompt", nullptr, category},
    {"prompt", Kind::text, "text of the prompt", nullptr, prompt_text},
    {"run", Kind::text, "specification of the run", nullptr, run_name},
    {"stop", Kind::text, "why the draft ended", nullptr, stop},
    {"token", Kind::tokens, "drafted or emitted in the round"},
}};

}  // namespace

std::span<const FilterField> filter_fields() {
  return fields;
}

const FilterField* filter_field(std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const FilterField& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

namespace {

constexpr std::size_t max_terms = 64;
constexpr std::size_t max_found = 24;  // Maximum bytes of the found text in a message.

struct TestSign {
  std::string_view sign;
  FilterTest test;
};
/// Longer signs come first.
constexpr std::array<TestSign, 7> signs{{{"!=", FilterTest::unequal},
                                         {"<=", FilterTest::at_most},
                                         {">=", FilterTest::at_least},
                                         {":", FilterTest::contains},
                                         {"=", FilterTest::equal},
                                         {"<", FilterTest::less},
                                         {">", FilterTest::more}}};

struct TimeUnit {
  std::string_view name;
  double ns;
};
constexpr std::array<TimeUnit, 5> units{{{"ns", 1.0}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

bool is_space(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}

bool is_field_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_' ||
         letter == '-';
}

/// Fields with the nearest names; all fields if `name` is empty.
std::string fields_like(std::string_view name) {
  std::vector<std::string> names;
  for (const FilterField& field : filter_fields()) names.emplace_back(field.name);
  return name.empty() ? fmt::format("{}", fmt::join(names, " ")) : closest_names(name, names);
}

class Parser {
 public:
  explicit Parser(std::string_view words) : words_(words) {}

  Result<RoundFilter> parse() {
    RoundFilter filter;
    for (skip_spaces(); !is_done(); skip_spaces()) {
      if (filter.terms.size() == max_terms)
        return wrong("a further term", fmt::format("at most {}", max_terms));
      DRAFTSCOPE_TRY_ASSIGN(FilterTerm term, parse_term());
      filter.terms.push_back(std::move(term));
    }
    return filter;
  }

 private:
  [[nodiscard]] bool is_done() const { return at_ == words_.size(); }
  void skip_spaces() {
    while (!is_done() && is_space(words_[at_])) ++at_;
  }
  /// The text up to the next space.
  [[nodiscard]] std::string_view rest_of_word() const {
    std::size_t end = at_;
    while (end < words_.size() && !is_space(words_[end])) ++end;
    return words_.substr(at_, end - at_);
  }

  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view found, std::string_view expected) const {
    return fail("filter, character {}: found {}, expected {}", begin_ + 1, found, expected);
  }
  /// The text in quotes, on one line, short.
  [[nodiscard]] static std::string quoted(std::string_view found) {
    if (found.empty()) return "the end";
    return quote(found.substr(0, max_found)) + (found.size() > max_found ? "…" : "");
  }

  Result<FilterTerm> parse_term() {
    FilterTerm term;
    begin_ = at_;
    if (words_[at_] == '!') {
      term.is_negated = true;
      ++at_;
    }
    begin_ = at_;
    while (!is_done() && is_field_letter(words_[at_])) ++at_;
    const std::string_view name = words_.substr(begin_, at_ - begin_);
    term.field = filter_field(name);
    if (term.field == nullptr) {
      at_ = begin_;
      return wrong(quoted(name.empty() ? rest_of_word() : name),
                   fmt::format("a field: {}", fields_like(name)));
    }
    DRAFTSCOPE_TRY(parse_test(term));
    DRAFTSCOPE_TRY(parse_value(term));
    return term;
  }

  Result<void> parse_test(FilterTerm& term) {
    begin_ = at_;
    const auto found = std::find_if(signs.begin(), signs.end(), [&](const TestSign& sign) {
      return words_.substr(at_).starts_with(sign.sign);
    });
    const bool is_text = term.field->kind == FilterKind::text || term.field->kind == FilterKind::tokens;
    const std::string_view expected = is_text ? ": = or !=" : "= != < <= > or >=";
    if (found == signs.end())
      return wrong(quoted(rest_of_word()), fmt::format("{} after \"{}\"", expected, term.field->name));
    at_ += found->sign.size();
    term.test = found->test;
    if (!is_text && term.test == FilterTest::contains) term.test = FilterTest::equal;
    if (is_text && term.test != FilterTest::contains && term.test != FilterTest::equal &&
        term.test != FilterTest::unequal)
      return wrong(quoted(found->sign), fmt::format("{} after \"{}\"", expected, term.field->name));
    return {};
  }

  Result<void> parse_value(FilterTerm& term) {
    begin_ = at_;
    if (term.field->kind == FilterKind::number || term.field->kind == FilterKind::time)
      return parse_number(term);
    if (is_done() || words_[at_] != '"') {
      const std::string_view word = rest_of_word();
      if (word.empty()) return wrong(quoted(word), "a text");
      if (word.find('"') != std::string_view::npos)
        return wrong(quoted(word), "a word without quotes, or all of it in quotes");
      term.text = word;
      at_ += word.size();
      return {};
    }
    for (++at_; !is_done() && words_[at_] != '"'; ++at_) {
      if (words_[at_] == '\\' && at_ + 1 < words_.size()) ++at_;
      term.text += words_[at_];
    }
    if (is_done()) return wrong(quoted(words_.substr(begin_)), "a closing quote");
    ++at_;
    if (!is_done() && !is_space(words_[at_])) {
      begin_ = at_;
      return wrong(quoted(rest_of_word()), "a space after the quote");
    }
    return {};
  }

  Result<void> parse_number(FilterTerm& term) {
    const bool is_time = term.field->kind == FilterKind::time;
    const std::string_view word = rest_of_word();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), term.number);
    const std::string_view unit = word.substr(static_cast<std::size_t>(end - word.data()));
    const auto known = std::find_if(units.begin(), units.end(),
                                    [&](const TimeUnit& candidate) { return candidate.name == unit; });
    const bool is_unit = is_time ? known != units.end() : unit.empty();
    if (error == std::errc() && is_unit && is_time) term.number *= known->ns;
    if (error != std::errc() || !is_unit || !std::isfinite(term.number))
      return wrong(quoted(word), is_time ? "a time with its unit, such as 3ms (ns, us, ms, s)" : "a number");
    at_ += word.size();
    return {};
  }

  std::string_view words_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;  ///< Start of the term or value being read, for messages.
};

}  // namespace

Result<RoundFilter> parse_filter(std::string_view words) {
  return Parser(words).parse();
}

}  // namespace draftscope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/split/pre_tokenizer.h"

#include <array>
#include <utility>

#include "tokenizer/byte_alphabet.h"
#include "tokenizer/read_json.h"
#include "tokenizer/split/utf8.h"

namespace draftscope::engine::tokenizer {
namespace {

constexpr std::string_view gpt2_words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

Result<PreTokenizerStep> parse_split(const JsonField& field) {
  static constexpr std::array<std::pair<std::string_view, SplitBehavior>, 5> behaviors{{
      {"Removed", SplitBehavior::removed},
      {"Isolated", SplitBehavior::isolated},
      {"MergedWithPrevious", SplitBehavior::merged_with_previous},
      {"MergedWithNext", SplitBehavior::merged_with_next},
      {"Contiguous", SplitBehavior::contiguous},
  }};
  DRAFTSCOPE_TRY_ASSIGN(auto pattern, Pattern::parse(field["pattern"]));
  DRAFTSCOPE_TRY_ASSIGN(const auto name, field["behavior"].text());
  DRAFTSCOPE_TRY_ASSIGN(const auto invert, field["invert"].boolean());
  for (const auto& [known, behavior] : behaviors)
    if (name == known) return PreTokenizerStep(Split{std::move(pattern), behavior, invert});
  return fail(
      "{}.behavior: '{}' is unknown, expected Removed, Isolated, MergedWithPrevious, MergedWithNext or "
      "Contiguous",
      field.name(), name);
}

Result<PreTokenizerStep> parse_byte_level(const JsonField& field) {
  DRAFTSCOPE_TRY_ASSIGN(const auto add_prefix_space, field["add_prefix_space"].boolean());
  DRAFTSCOPE_TRY_ASSIGN(const auto use_regex, field["use_regex"].boolean_or(true));
  DRAFTSCOPE_TRY_ASSIGN(auto step, make_byte_level(add_prefix_space, use_regex, field.name()));
  return PreTokenizerStep(std::move(step));
}

Result<PreTokenizerStep> parse_metaspace(const JsonField& field) {
  using Prepend = Metaspace::Prepend;
  static constexpr std::array<std::pair<std::string_view, Prepend>, 3> schemes{
      {{"always", Prepend::always}, {"first", Prepend::first}, {"never", Prepend::never}}};
  DRAFTSCOPE_TRY_ASSIGN(auto replacement, one_character(field["replacement"]));
  DRAFTSCOPE_TRY_ASSIGN(const auto split, field["split"].boolean_or(true));
  // Older files have add_prefix_space, newer ones prepend_scheme; if a file has both they must agree.
  DRAFTSCOPE_TRY_ASSIGN(const auto add_prefix_space, field["add_prefix_space"].boolean_or(true));
  const JsonField scheme = field["prepend_scheme"];
  std::string name = "always";
  if (!scheme.value().is_null()) {
    DRAFTSCOPE_TRY_ASSIGN(name, scheme.text());
  }
  if (!add_prefix_space && name != "never")
    return fail("{}.add_prefix_space is false, expected true with prepend_scheme '{}'", field.name(), name);
  for (const auto& [known, prepend] : schemes)
    if (name == known) return PreTokenizerStep(Metaspace{std::move(replacement), prepend, split});
  return fail("{}: '{}' is unknown, expected always, first or never", scheme.name(), name);
}

Result<PreTokenizerStep> parse_split_step(const std::string& type, const JsonField& field) {
  if (type == "Split") return parse_split(field);
  if (type == "ByteLevel") return parse_byte_level(field);
  if (type == "Metaspace") return parse_metaspace(field);
  if (type == "Digits") {
    DRAFTSCOPE_TRY_ASSIGN(const auto individual, field["individual_digits"].boolean());
    return PreTokenizerStep(Digits{individual});
  }
  return fail("{}: pre-tokenizer '{}' is not implemented", field.name(), type);
}

Result<std::vector<TextStretch>> stretches_of_pattern(std::string_view text, const Pattern& pattern,
                                                      bool invert, StepBudget& budget) {
  std::vector<TextStretch> stretches;
  std::size_t covered = 0;
  DRAFTSCOPE_TRY(pattern.for_each_match(text, budget, [&](Range match) {
    if (!budget.take(sizeof(TextStretch))) return;
    if (covered != match.begin) stretches.push_back({{covered, match.begin}, invert});
    stretches.push_back({match, !invert});
    covered = match.end;
  }));
  if (covered != text.size()) stretches.push_back({{covered, text.size()}, invert});
  return stretches;
}

std::vector<TextStretch> stretches_of_digits(std::string_view text) {
  std::vector<TextStretch> stretches;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Scan scan = scan_utf8(text.substr(at));
    const bool digit = is_numeric(scan.code_point);
    if (digit || stretches.empty() || stretches.back().is_match) {
      stretches.push_back({{at, at + scan.length}, digit});
    } else {
      stretches.back().range.end = at + scan.length;
    }
    at += scan.length;
  }
  return stretches;
}

// Splits every piece by `stretches_of` and `behavior`; the results replace it.
template <typename StretchesOf>
Result<Pieces> split_pieces(Pieces pieces, SplitBehavior behavior, const StretchesOf& stretches_of) {
  std::vector<Range> cut;
  for (const Range range : pieces.ranges) {
    Result<std::vector<TextStretch>> stretches = stretches_of(pieces.piece(range));
    if (!stretches) return tl::unexpected<Error>(std::move(stretches).error());
    for (const Range part : split_stretches(*stretches, behavior))
      if (part.begin != part.end) cut.push_back({range.begin + part.begin, range.begin + part.end});
  }
  // If a split removes the front of the first piece, no remaining piece starts the input.
  if (!pieces.ranges.empty() && !cut.empty() && cut.front().begin != pieces.ranges.front().begin)
    pieces.starts_input = false;
  pieces.ranges = std::move(cut);
  return pieces;
}

// Rewrites every piece by calling `append(piece, is_first, output)`.
template <typename Append>
Pieces map_pieces(const Pieces& pieces, const Append& append) {
  Pieces mapped{{}, {}, pieces.starts_input};
  mapped.text.reserve(pieces.text.size() + pieces.ranges.size());
  mapped.ranges.reserve(pieces.ranges.size());
  for (std::size_t i = 0; i < pieces.ranges.size(); ++i) {
    const std::size_t begin = mapped.text.size();
    append(pieces.piece(pieces.ranges[i]), i == 0 && pieces.starts_input, mapped.text);
    mapped.ranges.push_back({begin, mapped.text.size()});
  }
  return mapped;
}

Result<Pieces> apply_step(const Split& step, Pieces pieces, StepBudget& budget) {
  return split_pieces(std::move(pieces), step.behavior, [&](std::string_view text) {
    return stretches_of_pattern(text, step.pattern, step.invert, budget);
  });
}

Result<Pieces> apply_step(const Digits& step, Pieces pieces, StepBudget& /*budget*/) {
  const auto behavior = step.individual ? SplitBehavior::isolated : SplitBehavior::contiguous;
  return split_pieces(std::move(pieces), behavior, [](std::string_view text) {
    return Result<std::vector<TextStretch>>(stretches_of_digits(text));
  });
}

Result<Pieces> apply_step(const ByteLevel& step, Pieces pieces, StepBudget& budget) {
  if (step.add_prefix_space)
    pieces = map_pieces(pieces, [](std::string_view piece, bool, std::string& output) {
      if (piece.front() != ' ') output += ' ';
      output += piece;
    });
  if (step.words) {
    DRAFTSCOPE_TRY_ASSIGN(
        pieces, apply_step(Split{*step.words, SplitBehavior::isolated, false}, std::move(pieces), budget));
  }
  return map_pieces(pieces, [](std::string_view piece, bool, std::string& output) {
    append_byte_characters(piece, output);
  });
}

Result<Pieces> apply_step(const Metaspace& step, const Pieces& pieces, StepBudget& budget) {
  using Prepend = Metaspace::Prepend;
  Pieces mapped = map_pieces(pieces, [&](std::string_view piece, bool starts_input, std::string& output) {
    const bool prefixed =
        piece.front() == ' ' || piece.substr(0, step.replacement.size()) == step.replacement;
    const bool wanted = step.prepend == Prepend::always || (step.prepend == Prepend::first && starts_input);
    if (wanted && !prefixed) output += step.replacement;
    for (const char byte : piece) {
      if (byte == ' ') {
        output += step.replacement;
      } else {
        output += byte;
      }
    }
  });
  if (!step.split) return mapped;
  return apply_step(Split{Pattern::literal(step.replacement), SplitBehavior::merged_with_next, false},
                    std::move(mapped), budget);
}

}  // namespace

Result<ByteLevel> make_byte_level(bool add_prefix_space, bool words, std::string_view path) {
  ByteLevel step{add_prefix_space, std::nullopt};
  if (words) {
    DRAFTSCOPE_TRY_ASSIGN(step.words, Pattern::regex(gpt2_words, path));
  }
  return step;
}

Result<PreTokenizer> PreTokenizer::parse(const JsonField& field) {
  PreTokenizer pre_tokenizer;
  DRAFTSCOPE_TRY(for_each_in_sequence(
      field, "pretokenizers", [&](const std::string& type, const JsonField& step_field) -> Result<void> {
        DRAFTSCOPE_TRY_ASSIGN(auto step, parse_split_step(type, step_field));
        pre_tokenizer.steps_.push_back(std::move(step));
        return {};
      }));
  return pre_tokenizer;
}

Result<Pieces> PreTokenizer::apply(std::string text, bool starts_input, StepBudget& budget) const {
  budget.at_stage("pre_tokenizer");
  Pieces pieces{std::move(text), {}, starts_input};
  if (!pieces.text.empty()) pieces.ranges.push_back({0, pieces.text.size()});
  for (const PreTokenizerStep& step : steps_) {
    // A step may write each byte as two, and each space as a character of four bytes.
    DRAFTSCOPE_TRY(budget.spend(4 * pieces.text.size() + 1));
    DRAFTSCOPE_TRY_ASSIGN(
        pieces, std::visit([&](const auto& s) { return apply_step(s, std::move(pieces), budget); }, step));
  }
  return pieces;
}

}  // namespace draftscope::engine::tokenizer

// SPDX-License-Identifier: GPL-3.0-or-later
// The "decoder" of a tokenizer.json.

#include <draftscope/base/quote.h>

#include <utility>

#include "tokenizer/piece_decoder.h"
#include "tokenizer/read_json.h"
#include "tokenizer/split/pattern.h"
#include "tokenizer/split/utf8.h"

namespace draftscope::engine::tokenizer {
namespace {

Result<DecoderStep> parse_replace(const JsonField& field, bool fused) {
  DRAFTSCOPE_TRY_ASSIGN(const auto pattern, Pattern::parse(field["pattern"]));
  if (pattern.literal_text().empty())
    return fail("{}.pattern: a Regex in a decoder is not implemented, expected a String", field.name());
  // Pieces are whole characters, so one character can be found in them just as in the resulting text.
  const std::string& text = pattern.literal_text();
  if (fused && scan_utf8(text).length != text.size())
    return fail("{}.pattern is {}, expected one character after Fuse or ByteLevel", field.name(),
                quote(text));
  DRAFTSCOPE_TRY_ASSIGN(auto content, field["content"].text());
  return DecoderStep(ReplaceText{pattern.literal_text(), std::move(content)});
}

Result<DecoderStep> parse_strip(const JsonField& field, bool fused) {
  DRAFTSCOPE_TRY_ASSIGN(auto character, one_character(field["content"]));
  DRAFTSCOPE_TRY_ASSIGN(const auto start, non_negative(field["start"]));
  DRAFTSCOPE_TRY_ASSIGN(const auto stop, non_negative(field["stop"]));
  if (stop != 0) return fail("{}.stop is {}, expected 0", field.name(), stop);
  return DecoderStep(StripStart{std::move(character), start, fused});
}

Result<DecoderStep> parse_metaspace(const JsonField& field) {
  DRAFTSCOPE_TRY_ASSIGN(auto replacement, one_character(field["replacement"]));
  DRAFTSCOPE_TRY_ASSIGN(const auto add_prefix_space, field["add_prefix_space"].boolean_or(true));
  const bool never = !add_prefix_space || field["prepend_scheme"].value() == "never";
  return DecoderStep(MetaspaceToSpace{std::move(replacement), !never});
}

}  // namespace

Result<std::vector<DecoderStep>> parse_decoder(const JsonField& field) {
  std::vector<DecoderStep> steps;
  if (field.value().is_null()) return std::vector<DecoderStep>{JoinWithSpaces{}};
  bool fused = false;  // After this step, Hugging Face sees the whole text as one piece.
  const auto parse_step = [&](const std::string& type, const JsonField& step) -> Result<DecoderStep> {
    if (type == "Strip") return parse_strip(step, fused);
    if (type == "Replace") return parse_replace(step, fused);
    if (fused) return fail("{}: decoder '{}' after Fuse or ByteLevel is not implemented", step.name(), type);
    if (type == "ByteFallback") return DecoderStep(ByteFallback{});
    if (type == "Metaspace") return parse_metaspace(step);
    if (type == "ByteLevel") return DecoderStep(JoinBytes{true});
    return fail("{}: decoder '{}' is not implemented", step.name(), type);
  };
  DRAFTSCOPE_TRY(for_each_in_sequence(
      field, "decoders", [&](const std::string& type, const JsonField& step_field) -> Result<void> {
        if (type != "Fuse") {
          DRAFTSCOPE_TRY_ASSIGN(auto step, parse_step(type, step_field));
          steps.push_back(std::move(step));
        }
        fused = fused || type == "Fuse" || type == "ByteLevel";
        return {};
      }));
  return steps;
}

}  // namespace draftscope::engine::tokenizer

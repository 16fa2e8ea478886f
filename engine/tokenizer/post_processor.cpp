// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/post_processor.h"

#include <string>
#include <utility>

#include "tokenizer/read_json.h"

namespace draftscope::engine::tokenizer {
namespace {

Result<std::vector<std::int32_t>> special_token_ids(const JsonField& special_tokens, const std::string& name,
                                                    std::int32_t vocab_size) {
  std::vector<std::int32_t> ids;
  DRAFTSCOPE_TRY_ASSIGN(const auto elements, special_tokens[name]["ids"].list());
  for (const JsonField& element : elements) {
    DRAFTSCOPE_TRY_ASSIGN(const auto id, non_negative(element));
    if (id >= vocab_size)
      return fail("{} is {}, expected below the vocabulary's {}", element.name(), id, vocab_size);
    ids.push_back(id);
  }
  return ids;
}

}  // namespace

PostProcessor PostProcessor::around(std::optional<std::int32_t> begin, std::optional<std::int32_t> end) {
  PostProcessor processor;
  auto& pieces = processor.pieces_;
  pieces.clear();
  if (begin) pieces.push_back(*begin);
  pieces.push_back(sequence);
  if (end) pieces.push_back(*end);
  return processor;
}

Result<PostProcessor> PostProcessor::parse(const JsonField& field, std::int32_t vocab_size) {
  PostProcessor processor;
  const auto parse_template = [&](const JsonField& step) -> Result<void> {
    std::vector<std::int32_t> pieces;
    const auto too_many = [&] {
      return fail("{}: found more than {} tokens with those of the templates before it, expected at most {}",
                  step.name(), max_pieces, max_pieces);
    };
    if (step["single"].value().size() > max_pieces) return too_many();
    DRAFTSCOPE_TRY_ASSIGN(const auto elements, step["single"].list());
    for (const JsonField& element : elements) {
      DRAFTSCOPE_TRY(element.object());
      if (!element["Sequence"].is_null()) {
        DRAFTSCOPE_TRY_ASSIGN(const auto id, element["Sequence"]["id"].text());
        if (id != "A") return fail("{}.Sequence.id is '{}', expected 'A'", element.name(), id);
        pieces.insert(pieces.end(), processor.pieces_.begin(), processor.pieces_.end());
        if (pieces.size() > max_pieces) return too_many();
        continue;
      }
      DRAFTSCOPE_TRY_ASSIGN(const auto name, element["SpecialToken"]["id"].text());
      if (step["special_tokens"][name]["ids"].value().size() > max_pieces - pieces.size()) return too_many();
      DRAFTSCOPE_TRY_ASSIGN(const auto ids, special_token_ids(step["special_tokens"], name, vocab_size));
      pieces.insert(pieces.end(), ids.begin(), ids.end());
    }
    processor.pieces_ = std::move(pieces);
    return {};
  };
  DRAFTSCOPE_TRY(for_each_in_sequence(
      field, "processors", [&](const std::string& type, const JsonField& step) -> Result<void> {
        if (type == "TemplateProcessing") return parse_template(step);
        if (type == "ByteLevel") return {};  // It trims offsets, which tokens do not have here.
        return fail("{}: post-processor '{}' is not implemented", step.name(), type);
      }));
  return processor;
}

Result<std::vector<std::int32_t>> PostProcessor::apply(std::vector<std::int32_t> tokens,
                                                       StepBudget& budget) const {
  budget.at_stage("post_processor");
  std::vector<std::int32_t> wrapped;
  wrapped.reserve(tokens.size() + pieces_.size());
  for (const std::int32_t piece : pieces_) {
    if (piece == sequence) {
      DRAFTSCOPE_TRY(budget.spend(sizeof(piece) * tokens.size()));
      wrapped.insert(wrapped.end(), tokens.begin(), tokens.end());
    } else {
      wrapped.push_back(piece);
    }
  }
  return wrapped;
}

}  // namespace draftscope::engine::tokenizer

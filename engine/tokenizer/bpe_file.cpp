// SPDX-License-Identifier: GPL-3.0-or-later
// The "model" of a tokenizer.json.

#include <draftscope/base/json_text.h>

#include "tokenizer/bpe.h"
#include "tokenizer/split/utf8.h"

namespace draftscope::engine::tokenizer {
namespace {

struct MergePair {
  std::string_view left;
  std::string_view right;
};

/// Parses a merge, "a b" or ["a", "b"]; the views point into the value.
Result<MergePair> parse_pair(const nlohmann::json& value, const JsonField& field, std::size_t index) {
  if (value.is_string()) {
    const std::string_view text = value.get_ref<const std::string&>();
    const auto space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos)
      return fail("{}[{}]: '{}' is something else, expected two pieces with one space between", field.name(),
                  index, text);
    return MergePair{text.substr(0, space), text.substr(space + 1)};
  }
  if (value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string())
    return MergePair{value[0].get_ref<const std::string&>(), value[1].get_ref<const std::string&>()};
  return fail("{}[{}] is {}, expected \"left right\" or [\"left\", \"right\"]", field.name(), index,
              describe(value));
}

Result<void> expect_absent(const JsonField& field) {
  const bool absent = field.value().is_null() ||
                      (field.value().is_string() && field.value().get_ref<const std::string&>().empty());
  if (!absent) return fail("{} is not implemented, expected null", field.name());
  return {};
}

}  // namespace

Result<BpeModel> BpeModel::parse(const JsonField& field) {
  DRAFTSCOPE_TRY(field.object());
  if (!field["type"].is_null()) {
    DRAFTSCOPE_TRY_ASSIGN(const auto type, field["type"].text());
    if (type != "BPE") return fail("{}: model '{}' is not implemented, expected BPE", field.name(), type);
  }
  DRAFTSCOPE_TRY(expect_absent(field["continuing_subword_prefix"]));
  DRAFTSCOPE_TRY(expect_absent(field["end_of_word_suffix"]));
  const JsonField dropout = field["dropout"];
  if (!dropout.value().is_null() && dropout.value() != 0)
    return dropout.wrong("null: dropout is for training");

  BpeModel model;
  DRAFTSCOPE_TRY_ASSIGN(model.fuse_unknown_, field["fuse_unk"].boolean_or(false));
  DRAFTSCOPE_TRY_ASSIGN(model.byte_fallback_, field["byte_fallback"].boolean_or(false));
  DRAFTSCOPE_TRY_ASSIGN(model.ignore_merges_, field["ignore_merges"].boolean_or(false));
  DRAFTSCOPE_TRY(model.parse_vocabulary(field["vocab"]));
  DRAFTSCOPE_TRY(model.parse_merges(field["merges"]));
  DRAFTSCOPE_TRY(model.parse_unknown(field["unk_token"]));
  model.find_byte_tokens();
  return model;
}

Result<void> BpeModel::parse_vocabulary(const JsonField& field) {
  DRAFTSCOPE_TRY(field.object());
  ids_.reserve(field.value().size());
  for (const auto& [piece, value] : field.value().get_ref<const nlohmann::json::object_t&>()) {
    DRAFTSCOPE_TRY_ASSIGN(const auto token, non_negative(field[piece]));
    ids_.emplace(piece, token);
  }
  return {};
}

Result<void> BpeModel::parse_merges(const JsonField& field) {
  if (!field.value().is_array()) return field.wrong("a list");
  merges_.reserve(field.value().size());
  std::string joined;
  for (std::size_t i = 0; i < field.value().size(); ++i) {
    const nlohmann::json& value = field.value()[i];
    if (value.is_string() && value.get_ref<const std::string&>().rfind("#version", 0) == 0) continue;
    DRAFTSCOPE_TRY_ASSIGN(const auto pair, parse_pair(value, field, i));
    joined.assign(pair.left).append(pair.right);
    const auto left = find(pair.left);
    const auto right = find(pair.right);
    const auto merged = find(joined);
    if (!left || !right || !merged) {
      const std::string_view missing = !left ? pair.left : !right ? pair.right : std::string_view(joined);
      return fail("{}[{}]: '{}' is unknown, expected a piece of the vocabulary", field.name(), i, missing);
    }
    const auto key = (static_cast<std::uint64_t>(*left) << 32U) | static_cast<std::uint32_t>(*right);
    merges_.insert_or_assign(key, MergeRule{static_cast<std::uint32_t>(i), *merged});
  }
  return {};
}

Result<void> BpeModel::parse_unknown(const JsonField& field) {
  if (field.value().is_null()) return {};
  DRAFTSCOPE_TRY_ASSIGN(const auto piece, field.text());
  unknown_ = find(piece);
  if (!unknown_) return fail("{}: '{}' is unknown, expected a piece of the vocabulary", field.name(), piece);
  return {};
}

}  // namespace draftscope::engine::tokenizer

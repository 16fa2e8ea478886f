// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A JSON value that knows where it stands, so that every error names its field:
// "tokenizer.json: added_tokens[3].id: is a string, expected an integer".

#include <draftscope/base/result.h>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::engine::tokenizer {

class JsonField {
 public:
  /// The root of a document; `label` is the file's name. `value` must outlive the field.
  JsonField(const nlohmann::json& value, std::string label);

  [[nodiscard]] const nlohmann::json& value() const { return *value_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Null when the member is missing or null.
  [[nodiscard]] bool has(std::string_view key) const;
  /// A member; a missing one reads as null. The value must be an object.
  [[nodiscard]] JsonField member(std::string_view key) const;
  [[nodiscard]] JsonField element(std::size_t index) const;

  [[nodiscard]] Result<void> expect_object() const;
  [[nodiscard]] Result<std::vector<JsonField>> elements() const;
  [[nodiscard]] Result<std::string> string() const;
  [[nodiscard]] Result<bool> boolean() const;
  [[nodiscard]] Result<bool> boolean_or(bool missing) const;
  [[nodiscard]] Result<std::int32_t> non_negative() const;
  /// A string that is exactly one code point.
  [[nodiscard]] Result<std::string> character() const;
  /// The member "type" of an object.
  [[nodiscard]] Result<std::string> type() const;

  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view expected) const;

 private:
  JsonField(const nlohmann::json& value, std::string path, bool is_root);

  const nlohmann::json* value_;
  std::string path_;
  bool is_root_;
};

/// Parses a document; the error names the byte where it stops being JSON.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, std::string_view label);

}  // namespace draftscope::engine::tokenizer

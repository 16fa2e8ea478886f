// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Typed reads from a JSON object, each with its plausible range; an error names file, field, found, expected.

#include <draftscope/base/result.h>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::engine {

template <typename T>
struct Range {
  T least;
  T most;
};

/// Absent and null are the same, as Hugging Face's optional fields have it; has() tells whether the key is
/// there.
class ConfigFields {
 public:
  /// `path` is put before field names in errors: "rope_scaling.". Both views must outlive this object.
  ConfigFields(const nlohmann::json& object, std::string_view file, std::string path = "")
      : object_(&object), file_(file), path_(std::move(path)) {}

  [[nodiscard]] bool has(const char* field) const { return object_->contains(field); }
  [[nodiscard]] bool is_null_or_absent(const char* field) const;
  [[nodiscard]] std::string_view file() const { return file_; }

  [[nodiscard]] Result<std::int32_t> integer(const char* field, Range<std::int32_t> range) const;
  [[nodiscard]] Result<std::int32_t> integer_or(const char* field, Range<std::int32_t> range,
                                                std::int32_t otherwise) const;
  [[nodiscard]] Result<double> number(const char* field, Range<double> range) const;
  [[nodiscard]] Result<double> number_or(const char* field, Range<double> range, double otherwise) const;
  [[nodiscard]] Result<bool> boolean_or(const char* field, bool otherwise) const;
  [[nodiscard]] Result<std::string> text_or(const char* field, std::string otherwise) const;
  /// One integer or a list of them.
  [[nodiscard]] Result<std::vector<std::int32_t>> integers(const char* field,
                                                           Range<std::int32_t> range) const;
  /// The object under `field`, or nothing.
  [[nodiscard]] Result<std::optional<ConfigFields>> object(const char* field) const;
  [[nodiscard]] Result<std::vector<std::string>> texts(const char* field) const;

  /// "config.json: field head_dim is 7, expected …"
  [[nodiscard]] tl::unexpected<Error> wrong(const char* field, std::string_view expected) const;

 private:
  [[nodiscard]] std::string found(const char* field) const;
  const nlohmann::json* object_;  ///< never null
  std::string_view file_;
  std::string path_;
};

}  // namespace draftscope::engine

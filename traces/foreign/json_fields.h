// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Optional fields of an answer and their limits, built on base/json_field.h.

#include <draftscope/base/result.h>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace draftscope::traces {

/// Token id of a row whose source does not tell the token.
inline constexpr std::int32_t unknown_token = -1;
/// Maximum accepted length of a draft, in tokens.
inline constexpr std::int64_t max_draft_tokens = 512;
/// Maximum accepted length of an answer, in tokens.
inline constexpr std::int64_t max_answer_tokens = std::int64_t{1} << 17U;

class JsonFields {
 public:
  /// Creates the reader of an object's fields; both arguments must outlive it.
  JsonFields(const nlohmann::json& object, const std::string& where) : object_(object), where_(where) {}

  [[nodiscard]] const std::string& where() const { return where_; }
  /// The field, or null if it is absent or JSON's null.
  [[nodiscard]] const nlohmann::json* find(const char* name) const;

  // Each function returns no value where the field is absent.
  [[nodiscard]] Result<std::optional<std::int64_t>> integer(const char* name, std::int64_t least,
                                                            std::int64_t most) const;
  [[nodiscard]] Result<std::optional<std::string>> text(const char* name) const;
  [[nodiscard]] Result<std::optional<std::vector<std::int64_t>>> integers(const char* name,
                                                                          std::int64_t least,
                                                                          std::int64_t most) const;
  /// Reads seconds as nanoseconds.
  [[nodiscard]] Result<std::optional<std::vector<std::int64_t>>> seconds(const char* name) const;

 private:
  const nlohmann::json& object_;
  const std::string& where_;
};

/// Reads one element of a list or a field; `field` is its name with its index.
[[nodiscard]] Result<std::int64_t> json_integer(const nlohmann::json& value, std::int64_t least,
                                                std::int64_t most, const std::string& where,
                                                const std::string& field);
/// Reads a duration in units of `unit_ns`, from 0 to 2^54 ns (208 days).
[[nodiscard]] Result<std::int64_t> json_duration_ns(const nlohmann::json& value, double unit_ns,
                                                    const std::string& where, const std::string& field);

/// Reads a time on its source's clock in units of `unit_ns`, from 0 to 2^61 ns: since the epoch, or since a
/// host began.
[[nodiscard]] Result<std::int64_t> json_time_ns(const nlohmann::json& value, double unit_ns,
                                                const std::string& where, const std::string& field);

/// Makes the error "where: field is X, expected Y".
[[nodiscard]] tl::unexpected<Error> unexpected_json(const nlohmann::json& value, const std::string& where,
                                                    const std::string& field, const std::string& expected);

}  // namespace draftscope::traces

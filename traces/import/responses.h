// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One request after the other, as servers' answers and load generators say them.

#include <draftscope/base/result.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "foreign/foreign_round.h"
#include "foreign/foreign_writer.h"
#include "foreign/json_fields.h"
#include "import/formats.h"

namespace draftscope::traces {

// Fields of what engines say of a request, as JSON objects. Names move from version to version, so that each
// value has a list of them. Sums without an order fill no rounds: they go to stated_figures.

inline constexpr std::int64_t max_response_count = std::int64_t{1} << 40U;
inline constexpr double response_ms_ns = 1e6;
inline constexpr double response_second_ns = 1e9;

/// One value under the names that it has or had, the newest first.
using FieldNames = std::span<const char* const>;
inline constexpr std::array verify_step_names{"spec_verify_ct", "num_spec_steps", "num_verification_steps"};

/// The object of that name in an object; null where there is none.
[[nodiscard]] const nlohmann::json* object_in(const nlohmann::json* object, const char* name);

[[nodiscard]] Result<std::optional<std::int64_t>> first_of(const JsonFields& fields, FieldNames names);

/// A duration in a field, in nanoseconds; -1 if absent.
[[nodiscard]] Result<std::int64_t> duration_in(const nlohmann::json* object, const char* name, double unit_ns,
                                               const std::string& where);

/// The rounds of one request, from its ordered lists; no rounds where it has no lists.
[[nodiscard]] Result<std::vector<ForeignRound>> ordered_rounds(const JsonFields& fields,
                                                               const std::string& where);

/// Sums over a whole run of counts that a request does not order by round.
struct ResponseSums {
  std::map<std::string, std::int64_t> counts;
  std::map<std::int64_t, std::int64_t> histogram;  ///< by accepted draft tokens, without the bonus token

  /// Adds the counts of one request. Errors: counts that contradict each other, or are no counts.
  [[nodiscard]] Result<void> add(const JsonFields& fields, const std::string& where);
  /// As JSON, for stated_figures.
  [[nodiscard]] std::string text() const;
};

// One request after the other.

inline constexpr std::int64_t max_response_ns = std::int64_t{1} << 60U;

/// A request as the sources say it; -1 = unknown.
struct Response {
  std::int64_t start_ns = -1;  ///< on the source's clock; unknown: requests follow one another
  std::int64_t wall_ns = -1;
  std::int64_t first_token_ns = -1;  ///< after the start
  std::int64_t prompt_tokens = -1;
  std::int64_t tokens = -1;
  std::optional<std::string> text;
  std::optional<RequestStop> stop;
  std::vector<ForeignRound> rounds;
  std::vector<std::int64_t> gaps_ns;  ///< between chunks of the stream
};

/// Rows of the responses of one file. The context must outlive it.
class Responses {
 public:
  Responses(const std::filesystem::path& file, ImportContext& context);

  [[nodiscard]] ResponseSums& sums() { return sums_; }

  /// `number`: the request's, in its file. Errors begin with `where`: what breaks a rule of the schema.
  [[nodiscard]] Result<void> add(Response& response, std::int64_t number, const std::string& where);

  /// Stores the sums for `stated_figures`.
  void finish();

 private:
  ImportContext& context_;
  ForeignWriter& rows_;
  RunName run_;
  ResponseSums sums_;
  std::int64_t now_ns_ = context_.next_ns;
  std::int64_t taken_rows_ = rows_.counts().rows;
};

/// Reads one line of a source that has a request per line, and adds to `sums`.
using ReadResponse = Result<Response> (*)(const nlohmann::json& object, const std::string& where,
                                          ResponseSums& sums);

/// A file with a request a line.
[[nodiscard]] Result<void> import_responses(const std::filesystem::path& file, ImportContext& context,
                                            ReadResponse read);

}  // namespace draftscope::traces

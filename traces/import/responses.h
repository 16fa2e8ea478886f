// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Requests one after the other, as servers' answers and load generators report them.

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

// Fields of engines' reports about a request, as JSON objects. Names change from version to version, so each
// value has a list of them. Sums without an order fill no rounds; they go to stated_figures.

inline constexpr std::int64_t max_response_count = std::int64_t{1} << 40U;
inline constexpr double response_ms_ns = 1e6;
inline constexpr double response_second_ns = 1e9;

/// All present and former names of one value, the newest first.
using FieldNames = std::span<const char* const>;
inline constexpr std::array verify_step_names{"spec_verify_ct", "num_spec_steps", "num_verification_steps"};

/// Reads an object in an object; null where `object` is, or where the field is absent or JSON's null.
[[nodiscard]] Result<const nlohmann::json*> object_in(const nlohmann::json* object, const char* name,
                                                      const std::string& where);

[[nodiscard]] Result<std::optional<std::int64_t>> first_of(const JsonFields& fields, FieldNames names);

/// Reads a duration in a field, in nanoseconds; -1 if absent.
[[nodiscard]] Result<std::int64_t> duration_in(const nlohmann::json* object, const char* name, double unit_ns,
                                               const std::string& where);

/// A number of tokens; -1 if the field is absent.
[[nodiscard]] Result<std::int64_t> tokens_in(const JsonFields& fields, const char* name);

/// Rounds of accepted lengths, with the bonus token or without, and of drafted lengths, if known. Error:
/// lists of different lengths.
[[nodiscard]] Result<std::vector<ForeignRound>> rounds_of_lengths(
    const std::vector<std::int64_t>& lengths, bool have_bonus,
    const std::optional<std::vector<std::int64_t>>& drafted, const std::string& where);

/// Reduces the last round to a response of `tokens`, the first of which is the prefill's: it may have been
/// cut at the budget or at the end of the sequence. -1 = unknown.
void cut_to_tokens(std::vector<ForeignRound>& rounds, std::int64_t tokens);

/// Reads the rounds of one request from its ordered lists; no rounds where it has no lists.
[[nodiscard]] Result<std::vector<ForeignRound>> ordered_rounds(const JsonFields& fields,
                                                               const std::string& where);

/// Sums over a whole run of counts that a request does not order by round.
struct ResponseSums {
  std::map<std::string, std::int64_t> counts;
  std::map<std::int64_t, std::int64_t> histogram;  ///< By accepted draft tokens, without the bonus token.

  /// Adds the counts of one request. Errors: counts that contradict each other, or are no counts.
  [[nodiscard]] Result<void> add(const JsonFields& fields, const std::string& where);
  /// The sums as JSON, for stated_figures.
  [[nodiscard]] std::string text() const;
};

// Requests are added one after the other.

inline constexpr std::int64_t max_response_ns = std::int64_t{1} << 60U;

/// A request as its source reports it; -1 = unknown.
struct Response {
  std::int64_t start_ns = -1;  ///< Start on the source's clock; unknown = requests follow one another.
  std::int64_t wall_ns = -1;
  std::int64_t first_token_ns = -1;  ///< Time after the start.
  std::int64_t prompt_tokens = -1;
  std::int64_t tokens = -1;
  std::optional<std::string> text;
  std::optional<std::vector<std::int32_t>> token_ids;
  std::optional<RequestStop> stop;
  std::vector<ForeignRound> rounds;
  std::vector<std::int64_t> gaps_ns;  ///< Gaps between chunks of the stream.
};

/// Rows of the responses of one file. The context must outlive it.
class Responses {
 public:
  Responses(const std::filesystem::path& file, ImportContext& context)
      : Responses(run_name(file, context), context) {}
  Responses(RunName run, ImportContext& context);

  [[nodiscard]] ResponseSums& sums() { return sums_; }

  /// Adds a request. `number`: its number in its file. Errors begin with `where`: anything that breaks a rule
  /// of the schema.
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

/// Reads one line of a source that has one request per line, and adds to `sums`.
using ReadResponse = Result<Response> (*)(const nlohmann::json& object, const std::string& where,
                                          ResponseSums& sums);

/// Imports a file with one request per line.
[[nodiscard]] Result<void> import_responses(const std::filesystem::path& file, ImportContext& context,
                                            ReadResponse read);
template <ReadResponse read>
[[nodiscard]] Result<void> import_responses(const std::filesystem::path& file, ImportContext& context) {
  return import_responses(file, context, read);
}

}  // namespace draftscope::traces

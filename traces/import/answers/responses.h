// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One request after the other, as servers' answers and load generators say them.

#include <draftscope/base/result.h>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "foreign/foreign_writer.h"
#include "import/answers/response_fields.h"
#include "import/formats.h"

namespace draftscope::traces {

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

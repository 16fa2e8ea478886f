// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Calls every reading function on a file, as a test or the fuzzer does with a hostile one.

#include <draftscope/traces/reader.h>
#include <filesystem>
#include <functional>
#include <string>

namespace draftscope::traces {

/// Calls `hear` with each function's error. Returns the first violation, or "".
inline std::string hear_errors(const std::filesystem::path& path,
                               const std::function<void(const std::string& error)>& hear) {
  auto reader = Reader::open(path);
  if (!reader) {
    hear(reader.error().message);
    return "";
  }
  const auto keep = [&hear](const auto& result) {
    if (!result) hear(result.error().message);
  };
  keep(reader->recording());
  keep(reader->strings());
  keep(reader->token_texts());
  keep(reader->row_counts());
  keep(reader->decisions([](const Decision& /*decision*/) { return true; }));
  keep(reader->shadow_tokens([](const ShadowToken& /*token*/) { return true; }));
  keep(reader->spans([](const Span& /*span*/) { return true; }));
  keep(reader->kernels([](const Kernel& /*kernel*/) { return true; }));
  keep(reader->counters([](const Counter& /*counter*/) { return true; }));
  keep(reader->outline());
  keep(reader->overview());
  keep(reader->highest_ids());
  keep(reader->rounds({}, [](const Round& /*round*/) { return true; }));
  keep(reader->draft_tokens({}, [](const DraftToken& /*token*/) { return true; }));
  keep(reader->spans({}, [](const Span& /*span*/) { return true; }));
  keep(reader->kernels({}, [](const Kernel& /*kernel*/) { return true; }));
  keep(reader->decisions({}, [](const Decision& /*decision*/) { return true; }));
  const auto violations = reader->validate();
  keep(violations);
  return violations && !violations->empty() ? violations->front().rule : "";
}

/// The first error or violation; empty if there is none.
inline std::string read_everything(const std::filesystem::path& path) {
  std::string first;
  const std::string violation = hear_errors(path, [&first](const std::string& error) {
    if (first.empty()) first = error;
  });
  return first.empty() ? violation : first;
}

}  // namespace draftscope::traces

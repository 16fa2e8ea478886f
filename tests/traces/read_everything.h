// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Takes a file through every reading function, as a test or the fuzzer does with a hostile one.

#include <draftscope/traces/bulk_reader.h>
#include <draftscope/traces/reader.h>
#include <filesystem>
#include <string>

namespace draftscope::traces {

/// The first error or violation; empty if there is none.
inline std::string read_everything(const std::filesystem::path& path) {
  auto reader = Reader::open(path);
  if (!reader) return reader.error().message;
  std::string first;
  const auto keep = [&first](const auto& result) {
    if (!result && first.empty()) first = result.error().message;
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
  const std::atomic<bool> never{false};
  auto bulk = BulkReader::open(path, never);
  if (!bulk) return bulk.error().message;
  keep(bulk->outline());
  keep(bulk->overview());
  keep(bulk->highest_ids());
  keep(bulk->recording());
  keep(bulk->spans({}, [](const Span& /*span*/) { return true; }));
  keep(bulk->kernels({}, [](const Kernel& /*kernel*/) { return true; }));
  keep(bulk->decisions([](const Decision& /*decision*/) { return true; }));
  const auto violations = reader->validate();
  keep(violations);
  if (first.empty() && violations && !violations->empty()) first = violations->front().rule;
  return first;
}

}  // namespace draftscope::traces

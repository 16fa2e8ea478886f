// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/opening_notes.h>

#include <set>

#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>

namespace draftscope::engine {
namespace {

template <typename T>
Result<T> parse_value(std::string_view key, std::string_view text, std::string_view expected) {
  const auto value = parse_number<T>(text);
  if (!value) return fail("--model synthetic: {} is {}, expected {}", key, quote(text), expected);
  return *value;
}

Result<std::int32_t> parse_count(std::string_view key, std::string_view text) {
  DRAFTSCOPE_TRY_ASSIGN(const auto count, parse_value<std::int32_t>(key, text, "a positive integer"));
  if (count < 1) return fail("--model synthetic: {} is {}, expected a positive integer", key, count);
  return count;
}

Result<void> apply(std::string_view setting, SyntheticOptions& options, std::set<std::string_view>& seen) {
  const auto equals = setting.find('=');
  const auto key = setting.substr(0, equals);
  const auto text = equals == std::string_view::npos ? std::string_view() : setting.substr(equals + 1);
  if (!seen.insert(key).second)
    return fail("--model synthetic: {} is given twice, expected once", quote(key));
  if (key == "redundancy") {
    DRAFTSCOPE_TRY_ASSIGN(options.redundancy, parse_value<double>(key, text, "a number from 0 to below 1"));
  } else if (key == "seed") {
    DRAFTSCOPE_TRY_ASSIGN(options.seed, parse_value<std::uint64_t>(key, text, "an unsigned integer"));
  } else if (key == "layers") {
    DRAFTSCOPE_TRY_ASSIGN(options.n_layers, parse_count(key, text));
  } else if (key == "vocab") {
    DRAFTSCOPE_TRY_ASSIGN(options.vocab, parse_count(key, text));
  } else {
    return fail("--model synthetic: unknown key {}, expected redundancy, seed, layers or vocab", quote(key));
  }
  return {};
}

}  // namespace

Result<Checkpoint> load_checkpoint(const std::filesystem::path& folder, BlockMatrices blocks) {
  std::vector<std::string> unread;
  return load_checkpoint(folder, blocks, unread);
}

Result<Checkpoint> load_gguf(const std::filesystem::path& path, BlockMatrices blocks) {
  std::vector<std::string> unread;
  return load_gguf(path, blocks, unread);
}

Result<Checkpoint> open_model(std::string_view argument, SyntheticMatrices matrices, BlockMatrices blocks) {
  std::vector<std::string> unread;
  return open_model(argument, matrices, blocks, unread);
}

Result<Checkpoint> open_model(std::string_view argument, SyntheticMatrices matrices, BlockMatrices blocks,
                              std::vector<std::string>& notes) {
  constexpr std::string_view prefix = "synthetic:";
  if (!argument.starts_with(prefix)) {
    const std::filesystem::path path(argument);
    std::error_code error;
    return std::filesystem::is_regular_file(path, error) ? load_gguf(path, blocks, notes)
                                                         : load_checkpoint(path, blocks, notes);
  }
  argument.remove_prefix(prefix.size());
  SyntheticOptions options;
  options.model = argument.substr(0, argument.find(','));
  std::set<std::string_view> seen;
  while (argument.find(',') != std::string_view::npos) {
    argument.remove_prefix(argument.find(',') + 1);
    DRAFTSCOPE_TRY(apply(argument.substr(0, argument.find(',')), options, seen));
  }
  return make_synthetic(options, matrices);
}

}  // namespace draftscope::engine

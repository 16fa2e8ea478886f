// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Byte-pair encoding of one piece. Characters become symbols; then the adjacent pair of lowest rank is
// merged, leftmost first, until no pair is left. A heap makes this O(n log n).

#include <draftscope/base/result.h>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/read_json.h"

namespace draftscope::engine::tokenizer {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
using TokenIds = std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>>;

/// Two adjacent tokens that merge into one.
struct BpeMerge {
  std::int32_t left;
  std::int32_t right;
  std::int32_t token;
  std::uint32_t rank;  ///< lowest first; ties go to the leftmost in the text
};

struct BpeRules {
  TokenIds ids{};
  std::vector<BpeMerge> merges{};
  std::optional<std::int32_t> unknown{};
  bool fuse_unknown = false;   ///< whether a run of unknown characters is one token
  bool byte_fallback = false;  ///< whether an unknown character becomes its bytes' tokens, <0x00> to <0xFF>
  bool ignore_merges = false;  ///< whether a piece that is a token as a whole becomes that token
};

class BpeModel {
 public:
  BpeModel() = default;
  explicit BpeModel(BpeRules rules);
  [[nodiscard]] static Result<BpeModel> parse(const JsonField& field);

  /// Appends the tokens of one piece of valid UTF-8.
  void encode(std::string_view piece, std::vector<std::int32_t>& tokens) const;
  [[nodiscard]] const TokenIds& token_ids() const { return ids_; }

 private:
  struct MergeRule {
    std::uint32_t rank;
    std::int32_t token;
  };

  [[nodiscard]] Result<void> parse_vocabulary(const JsonField& field);
  [[nodiscard]] Result<void> parse_merges(const JsonField& field);
  [[nodiscard]] Result<void> parse_unknown(const JsonField& field);
  void find_byte_tokens();
  [[nodiscard]] std::vector<std::int32_t> symbols(std::string_view piece) const;
  [[nodiscard]] const MergeRule* merge_rule(std::int32_t left, std::int32_t right) const;
  void merge(const std::vector<std::int32_t>& symbols, std::vector<std::int32_t>& tokens) const;
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view piece) const;

  TokenIds ids_;
  std::unordered_map<std::uint64_t, MergeRule> merges_;
  std::array<std::int32_t, 256> byte_tokens_{};  ///< tokens <0x00> to <0xFF>; -1 if the vocabulary lacks one
  std::optional<std::int32_t> unknown_;
  bool fuse_unknown_ = false;
  bool byte_fallback_ = false;
  bool ignore_merges_ = false;
};

}  // namespace draftscope::engine::tokenizer

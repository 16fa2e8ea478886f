// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/shared_tokens.h>

#include <draftscope/base/quote.h>

#include <algorithm>

namespace draftscope::engine {
namespace {

/// Pieces alone do not say how a text is divided into them.
Result<void> check_merges(const Tokenizer& target, const Tokenizer& draft, std::string_view draft_name) {
  constexpr std::string_view sample =
      "def f(x):\n    return x**2 # caf\u00e9 \u4f60\u597d 1234 Hello, World!\t";
  const EncodeOptions plain{.add_special_tokens = false};
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<std::int32_t> expected, target.encode(sample, plain));
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<std::int32_t> found, draft.encode(sample, plain));
  if (found != expected)
    return fail("{}: tokenizes differently, expected the target's tokenizer", draft_name);
  return {};
}

}  // namespace

Result<std::vector<bool>> shared_tokens(const TokenRows& target, const TokenRows& draft,
                                        std::string_view draft_name) {
  std::vector<bool> shared(static_cast<std::size_t>(std::min(target.rows, draft.rows)));
  const std::int32_t named = std::min(target.tokenizer.vocab_size(), draft.tokenizer.vocab_size());
  bool any = false;
  for (std::int32_t token = 0; token < named; ++token) {
    const auto expected = target.tokenizer.piece(token);
    const auto found = draft.tokenizer.piece(token);
    if (!expected || !found) continue;
    if (*found != *expected)
      return fail("{}: token {} is {}, expected {} as in the target's tokenizer", draft_name, token,
                  quote(*found), quote(*expected));
    const auto row = static_cast<std::size_t>(token);
    if (row >= shared.size()) continue;
    shared[row] = any = true;
  }
  if (!any) return fail("{}: shares no token with the target, expected the target's tokenizer", draft_name);
  DRAFTSCOPE_TRY(check_merges(target.tokenizer, draft.tokenizer, draft_name));
  return shared;
}

}  // namespace draftscope::engine

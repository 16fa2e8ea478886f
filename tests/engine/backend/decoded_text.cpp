// SPDX-License-Identifier: GPL-3.0-or-later
#include "decoded_text.h"

#include "../decode/expect_decoded.h"

namespace draftscope::engine::test {

std::vector<std::int32_t> text_under(Backend& backend, const std::string& specification,
                                     const DecodeRequest& request, DecodeListener& listener,
                                     const StrategyResources& resources) {
  return expect_decoded(backend, specification, request, listener, 7, resources).tokens;
}

std::vector<std::int32_t> text_under(Backend& backend, const std::string& specification,
                                     const DecodeRequest& request, const StrategyResources& resources) {
  DecodeListener unheard;
  return text_under(backend, specification, request, unheard, resources);
}

std::vector<std::int32_t> random_prompt(Random& random, std::int32_t vocab, std::int32_t most) {
  std::vector<std::int32_t> prompt(static_cast<std::size_t>(pick(random, 1, most)));
  for (std::int32_t& token : prompt) token = pick(random, 0, vocab - 1);
  return prompt;
}

}  // namespace draftscope::engine::test

// SPDX-License-Identifier: GPL-3.0-or-later
#include "packed_text.h"

#include <draftscope/engine/decode.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cuda_device.h"
#include "decoded_text.h"
#include "every_strategy.h"
#include "same_bits.h"

namespace draftscope::engine::test {

void expect_text_of_widened(std::span<const PackedAndWidened> models, std::size_t step,
                            std::int32_t max_new_tokens, Random& random) {
  const speculation::ModelShape& shape = models.front().packed.shape;
  const CudaOptions options{.cache_rows = packed_cache_rows};
  const Checkpoint other = random_checkpoint(shape, DType::bf16, random());
  const auto draft = std::shared_ptr<Backend>(backend_on_device(other, options));
  const StrategyResources resources{
      .open_draft_model = [&](const std::string&) -> Result<std::shared_ptr<Backend>> { return draft; }};
  const std::vector<std::int32_t> prompt = random_prompt(random, shape.vocab, 12);
  std::vector<std::unique_ptr<Backend>> backends;
  for (const PackedAndWidened& model : models) backends.push_back(backend_on_device(model.packed, options));
  struct Kind {
    Backend& packed;
    DecodeRequest request;
    std::vector<std::int32_t> expected;
  };
  Kind kinds[] = {{*backends.front(), {.prompt = prompt, .max_new_tokens = max_new_tokens}, {}},
                  {*backends.back(), {.prompt = prompt, .max_new_tokens = max_new_tokens}, {}}};
  kinds[1].request.sampling = {.temperature = 0.8, .coupled = true};
  kinds[0].expected =
      text_under(*backend_on_device(models.front().widened, options), "vanilla", kinds[0].request, resources);
  kinds[1].expected =
      text_under(*backend_on_device(models.back().widened, options), "vanilla", kinds[1].request, resources);
  const EveryStrategy strategies(shape, {});  // and the files that they name
  const std::vector<std::string>& all = strategies.specifications();
  for (std::size_t i = 0; i < all.size(); i += step) {
    SCOPED_TRACE(all[i]);
    const Kind& kind = kinds[i % 2];
    EXPECT_EQ(text_under(kind.packed, all[i], kind.request, resources), kind.expected);
  }
}

}  // namespace draftscope::engine::test

// SPDX-License-Identifier: GPL-3.0-or-later
#include "small_backend.h"

#include <draftscope/engine/strategy.h>

#include <memory>
#include <stdexcept>

#include "cuda_shapes.h"

namespace draftscope::cuda_stand_in {

using namespace draftscope::engine;

const Checkpoint& small_checkpoint() {
  static const Checkpoint made = [] {
    auto checkpoint = make_synthetic(engine::test::tiny_cuda_shape(), 0.6, 5, SyntheticMatrices::by_backend);
    if (!checkpoint) throw std::runtime_error(checkpoint.error().message);
    return *std::move(checkpoint);
  }();
  return made;
}

Result<std::vector<std::int32_t>> text_of(Backend& backend, const std::string& specification,
                                          std::size_t prompt_tokens, std::int32_t tokens, double temperature,
                                          DecodeListener* listener) {
  DRAFTSCOPE_TRY_ASSIGN(const auto strategy, make_strategy(specification, backend.shape()));
  std::vector<std::int32_t> prompt;
  for (std::size_t i = 0; i < prompt_tokens; ++i)
    prompt.push_back(static_cast<std::int32_t>(i * i) % backend.shape().vocab);
  DecodeRequest request{.prompt = prompt, .max_new_tokens = tokens};
  request.sampling.temperature = temperature;
  SeededChooser chooser(11, 1);
  DecodeListener unheard;
  DRAFTSCOPE_TRY_ASSIGN(auto decoded, decode(backend, *strategy.strategy, request, chooser,
                                             listener != nullptr ? *listener : unheard));
  return decoded.tokens;
}

Result<std::vector<std::int32_t>> text_on_device(const std::string& strategy, std::size_t prompt,
                                                 std::int32_t tokens, double temperature,
                                                 DecodingPasses passes) {
  DRAFTSCOPE_TRY_ASSIGN(const std::unique_ptr<Backend> backend,
                        make_cuda_backend(small_checkpoint(), {.cache_rows = 160, .passes = passes}));
  return text_of(*backend, strategy, prompt, tokens, temperature);
}

}  // namespace draftscope::cuda_stand_in

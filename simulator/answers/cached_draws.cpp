// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/cached_draws.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace draftscope::simulator {

namespace {

struct CachedDraws {
  explicit CachedDraws(std::size_t draws) : prices(draws), once(draws) {}
  std::vector<Prices> prices;
  std::vector<std::once_flag> once;
};

}  // namespace

SweepTarget cached_draws(const PriceMap& map, const std::string& name, const SweepOptions& options,
                         std::shared_ptr<CachedNormals> normals) {
  constexpr std::int32_t max_cached = 4096;  // some kilobytes each
  const auto kept =
      std::make_shared<CachedDraws>(static_cast<std::size_t>(std::clamp(options.draws, 0, max_cached)));
  const auto draw_once = [map, seed = options.seed, normals = std::move(normals)](std::uint64_t draw,
                                                                                  Prices& into) {
    if (normals != nullptr && draw < normals->count())
      map.draw(normals->first(draw, map.noise_size()), {}, into);
    else
      map.draw(seed, draw, {}, into);
  };
  return {.name = name,
          .prices = map.mean(),
          .draws = [map, kept, draw_once, seed = options.seed](std::uint64_t draw, PriceSources vary) {
            const bool is_of_all = vary.fit && vary.width && vary.transfer;
            if (!is_of_all || draw >= kept->prices.size()) {
              Prices prices;
              map.draw(seed, draw, vary, prices);
              return prices;
            }
            std::call_once(kept->once[draw], [&] { draw_once(draw, kept->prices[draw]); });
            return kept->prices[draw];
          }};
}

}  // namespace draftscope::simulator

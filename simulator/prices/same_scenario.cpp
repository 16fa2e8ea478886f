// SPDX-License-Identifier: GPL-3.0-or-later
// Each structure is taken apart as a whole, so that a new member does not go unseen: it does not compile.
#include "prices/same_scenario.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace draftscope::simulator {

namespace {

auto parts_of(const ProductLaw& law) {
  const auto& [t0_us, efficiency, calibration, t0_sigma, efficiency_sigma] = law;
  return std::tie(t0_us, efficiency, calibration, t0_sigma, efficiency_sigma);
}

auto parts_of(const HostTime& host) {
  const auto& [name, min_share, max_share, min_ns, max_ns, is_per_pass] = host;
  return std::tie(name, min_share, max_share, min_ns, max_ns, is_per_pass);
}

auto parts_of(const DraftCostInput& cost) {
  const auto& [kind, share, vocabulary] = cost;
  return std::tie(kind, share, vocabulary);
}

template <typename T>
bool same(const T& a, const T& b) {
  return parts_of(a) == parts_of(b);
}

bool same(const ModelShape& a, const ModelShape& b) {
  return a.name == b.name && speculation::same_sizes(a, b);
}

bool same(const GpuSpecification& a, const GpuSpecification& b);

template <typename T>
bool same(const std::optional<T>& a, const std::optional<T>& b) {
  return a.has_value() == b.has_value() && (!a || same(*a, *b));
}

bool same(const GpuSpecification& a, const GpuSpecification& b) {
  const auto parts = [](const GpuSpecification& gpu) {
    const auto& [name, architecture, memory, bandwidth_gb_s, bf16_tflops, fp8_tflops, memory_gb, l2_mb,
                 link_gb_s, read_efficiency, t0_us, efficiency, calibration, narrow_products, narrow_tflops,
                 number_types] = gpu;
    (void)narrow_products;  // below
    return std::tie(name, architecture, memory, bandwidth_gb_s, bf16_tflops, fp8_tflops, memory_gb, l2_mb,
                    link_gb_s, read_efficiency, t0_us, efficiency, calibration, narrow_tflops, number_types);
  };
  return parts(a) == parts(b) &&
         std::ranges::equal(a.narrow_products, b.narrow_products,
                            [](const auto& one, const auto& other) { return same(one, other); });
}

}  // namespace

bool same_scenario(const Scenario& a, const Scenario& b) {
  const auto& [gpu, shape, weights, regime, host, draft_cost, verified_layers, batch, tensor_parallel, widths,
               context, with_stalls, drafts, auxiliary_passes, widest_auxiliary_pass, draft_model] =
      a;
  return same(gpu, b.gpu) && same(shape, b.shape) && weights == b.weights && regime == b.regime &&
         same(host, b.host) && same(draft_cost, b.draft_cost) && verified_layers == b.verified_layers &&
         batch == b.batch && tensor_parallel == b.tensor_parallel && widths == b.widths && context == b.context && with_stalls == b.with_stalls && drafts == b.drafts &&
         auxiliary_passes == b.auxiliary_passes && widest_auxiliary_pass == b.widest_auxiliary_pass &&
         same(draft_model, b.draft_model);
}

}  // namespace draftscope::simulator

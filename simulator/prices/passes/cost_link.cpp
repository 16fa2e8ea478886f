// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/passes/cost_link.h"

#include <algorithm>
#include <array>

namespace draftscope::simulator {

namespace {

struct Ends {
  double small_ns;
  double large_ns;
};
using Degrees = std::array<Ends, 3>;  ///< 2, 4, 8 GPUs

struct LinkRow {
  std::string_view name;
  Degrees degrees;
  double sigma;
};

// Ends of the tables between GPUs.
constexpr double small_bytes = 8192.0;
constexpr double large_bytes = 65536.0;

/// [LinkKind]
constexpr std::array<LinkRow, 4> links{
    {{"NVLink (as of an A100)", {{{5.3e3, 5.7e3}, {6.0e3, 7.8e3}, {6.5e3, 11.4e3}}}, 0.3},
     {"NVLink (as of an H100)", {{{4.5e3, 4.8e3}, {4.8e3, 5.8e3}, {5.3e3, 7.9e3}}}, 0.3},
     {"NVLink (as of a B200)", {{{7.1e3, 7.4e3}, {7.4e3, 8.1e3}, {8.1e3, 9.4e3}}}, 0.3},
     {"PCIe", {{{5e3, 8e3}, {15e3, 25e3}, {27e3, 49e3}}}, 0.5}}};

const LinkRow& row_of(LinkKind kind) {
  return links[static_cast<std::size_t>(kind)];
}

std::size_t place_of(std::int32_t degree) {
  return degree <= 2 ? 0 : degree <= 4 ? 1 : 2;
}

/// Relative position between the table's small and large end: 0 below the small one, above 1 beyond the large
/// one.
double share_of(double bytes) {
  return std::max((bytes - small_bytes) / (large_bytes - small_bytes), 0.0);
}

double growth_ns(const LinkRow& row, std::int32_t degree) {
  const Ends ends = row.degrees[place_of(degree)];
  return ends.large_ns - ends.small_ns;
}

}  // namespace

std::string_view link_kind_name(LinkKind kind) {
  return row_of(kind).name;
}

LinkKind link_kind(const GpuSpecification& gpu) {
  constexpr double slowest_nvlink_gb_s = 150.0;
  if (gpu.link_gb_s.value_or(0.0) < slowest_nvlink_gb_s) return LinkKind::pcie;
  if (gpu.architecture.starts_with("sm10")) return LinkKind::nvlink_b200;
  return gpu.architecture == "sm90" ? LinkKind::nvlink_h100 : LinkKind::nvlink_a100;
}

double all_reduce_sigma(LinkKind kind) {
  return row_of(kind).sigma;
}

double all_reduce_ns(const GpuSpecification& gpu, std::int32_t degree, double bytes) {
  if (degree <= 1) return 0.0;
  const LinkRow& row = row_of(link_kind(gpu));
  constexpr double slow_link_gb_s = 16.0;  // Rate of a GPU that names none.
  const double link = std::max(gpu.link_gb_s.value_or(slow_link_gb_s), 1.0);
  return row.degrees[place_of(degree)].small_ns + std::min(share_of(bytes), 1.0) * growth_ns(row, degree) +
         2.0 * std::max(bytes - large_bytes, 0.0) / link;
}

double eager_all_reduce_ns() {
  return 30e3;
}

}  // namespace draftscope::simulator

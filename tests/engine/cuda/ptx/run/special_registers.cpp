// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/special_registers.h"

#include <algorithm>
#include <iterator>

namespace draftscope::ptx {

namespace {

struct SpecialRow {
  std::string_view name;
  std::uint64_t (*value)(const Warp& warp, std::uint32_t lane);
};

const Grid& grid_of(const Warp& warp) {
  return *warp.block->grid;
}

std::uint64_t thread_of(const Warp& warp, std::uint32_t lane) {
  return static_cast<std::uint64_t>(warp.index) * warp_lanes + lane;
}

constexpr SpecialRow special_rows[] = {
    {"%tid.x", [](const Warp& w, std::uint32_t l) { return thread_of(w, l) % grid_of(w).threads.x; }},
    {"%tid.y", [](const Warp& w,
                  std::uint32_t l) { return thread_of(w, l) / grid_of(w).threads.x % grid_of(w).threads.y; }},
    {"%tid.z", [](const Warp& w,
                  std::uint32_t l) { return thread_of(w, l) / grid_of(w).threads.x / grid_of(w).threads.y; }},
    {"%ntid.x", [](const Warp& w, std::uint32_t) -> std::uint64_t { return grid_of(w).threads.x; }},
    {"%ntid.y", [](const Warp& w, std::uint32_t) -> std::uint64_t { return grid_of(w).threads.y; }},
    {"%ntid.z", [](const Warp& w, std::uint32_t) -> std::uint64_t { return grid_of(w).threads.z; }},
    {"%ctaid.x", [](const Warp& w, std::uint32_t) -> std::uint64_t { return w.block->x; }},
    {"%ctaid.y", [](const Warp& w, std::uint32_t) -> std::uint64_t { return w.block->y; }},
    {"%ctaid.z", [](const Warp& w, std::uint32_t) -> std::uint64_t { return w.block->z; }},
    {"%nctaid.x", [](const Warp& w, std::uint32_t) -> std::uint64_t { return grid_of(w).blocks.x; }},
    {"%nctaid.y", [](const Warp& w, std::uint32_t) -> std::uint64_t { return grid_of(w).blocks.y; }},
    {"%nctaid.z", [](const Warp& w, std::uint32_t) -> std::uint64_t { return grid_of(w).blocks.z; }},
    {"%laneid", [](const Warp&, std::uint32_t l) -> std::uint64_t { return l; }},
    {"%warpid",
     [](const Warp& w, std::uint32_t) -> std::uint64_t { return static_cast<std::uint64_t>(w.index); }},
    {"%nwarpid", [](const Warp& w, std::uint32_t) -> std::uint64_t { return w.block->warps.size(); }},
    {"%lanemask_eq", [](const Warp&, std::uint32_t l) -> std::uint64_t { return 1U << l; }},
    {"%lanemask_lt", [](const Warp&, std::uint32_t l) -> std::uint64_t { return (1U << l) - 1U; }},
    {"%lanemask_le", [](const Warp&, std::uint32_t l) -> std::uint64_t { return (2U << l) - 1U; }},
    {"%lanemask_ge", [](const Warp&, std::uint32_t l) -> std::uint64_t { return ~((1U << l) - 1U); }},
    {"%lanemask_gt", [](const Warp&, std::uint32_t l) -> std::uint64_t { return ~((2U << l) - 1U); }},
    {"%dynamic_smem_size",
     [](const Warp& w, std::uint32_t) -> std::uint64_t {
       return grid_of(w).shared_bytes - grid_of(w).program->static_shared_bytes;
     }},
    {"%total_smem_size",
     [](const Warp& w, std::uint32_t) -> std::uint64_t { return grid_of(w).shared_bytes; }},
};

const SpecialRow* find_special(std::string_view name) {
  const auto* found = std::find_if(std::begin(special_rows), std::end(special_rows),
                                   [&](const SpecialRow& row) { return row.name == name; });
  return found == std::end(special_rows) ? nullptr : found;
}

}  // namespace

bool is_special_register(std::string_view name) {
  return find_special(name) != nullptr;
}

std::uint64_t special_value(std::string_view name, const Warp& warp, int lane) {
  return find_special(name)->value(warp, static_cast<std::uint32_t>(lane));
}

}  // namespace draftscope::ptx

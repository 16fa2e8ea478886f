// SPDX-License-Identifier: GPL-3.0-or-later
#include "nvtx_ranges.h"

#include <nvtx3/nvToolsExt.h>

#include <string>

namespace draftscope::profiler {
namespace {

std::uint32_t category_of(traces::Phase phase) {
  return static_cast<std::uint32_t>(phase) + 1;  // 0 means no category.
}

/// Makes a domain; null if no tool is attached.
nvtxDomainHandle_t make_domain() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("draftscope");
  if (domain == nullptr) return nullptr;
  for (int i = 0; i < traces::phase_count; ++i) {
    const auto phase = static_cast<traces::Phase>(i);
    nvtxDomainNameCategoryA(domain, category_of(phase), std::string(phase_name(phase)).c_str());
  }
  return domain;
}

nvtxDomainHandle_t process_domain() {
  static const nvtxDomainHandle_t domain = make_domain();
  return domain;
}

}  // namespace

std::unique_ptr<NvtxRanges> NvtxRanges::attach() {
  const nvtxDomainHandle_t domain = process_domain();
  if (domain == nullptr) return nullptr;
  return std::unique_ptr<NvtxRanges>(new NvtxRanges(domain));
}

void NvtxRanges::register_name(traces::StringId name_id, std::string_view text) {
  void*& handle = names_[name_id];
  if (handle == nullptr)
    handle = nvtxDomainRegisterStringA(static_cast<nvtxDomainHandle_t>(domain_), std::string(text).c_str());
}

void NvtxRanges::push(const traces::Span& span) const {
  nvtxEventAttributes_t range{};
  range.version = NVTX_VERSION;
  range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  range.category = category_of(span.phase);
  range.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  range.payload.llValue = span.depth == 0 || span.layer < 0 ? span.round_id.value() : span.layer;
  if (const auto name = names_.find(span.name_id); name != names_.end()) {
    range.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    range.message.registered = static_cast<nvtxStringHandle_t>(name->second);
  }
  nvtxDomainRangePushEx(static_cast<nvtxDomainHandle_t>(domain_), &range);
}

void NvtxRanges::pop() const {
  nvtxDomainRangePop(static_cast<nvtxDomainHandle_t>(domain_));
}

}  // namespace draftscope::profiler

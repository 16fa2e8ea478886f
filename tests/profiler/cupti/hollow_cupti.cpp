// SPDX-License-Identifier: GPL-3.0-or-later
// A library that calls itself CUPTI and has no other functions.
#include <cupti.h>
#include <cstdint>

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

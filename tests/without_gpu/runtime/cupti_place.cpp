// SPDX-License-Identifier: GPL-3.0-or-later
// The profiler loads the stand-in of CUPTI that the stand-in's calls are told to.

#include <cstdlib>

namespace {

const int told = ::setenv("DRAFTSCOPE_CUPTI_LIBRARY", FAKE_CUPTI, 0);

}  // namespace

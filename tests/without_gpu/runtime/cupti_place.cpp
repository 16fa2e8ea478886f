// SPDX-License-Identifier: GPL-3.0-or-later
// Tells the profiler to load the stand-in of CUPTI, which receives the reports of the stand-in's calls.

#include <cstdlib>

namespace {

const int told = ::setenv("DRAFTSCOPE_CUPTI_LIBRARY", FAKE_CUPTI, 0);

}  // namespace

// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a trace that does not exist and measures an empty recording, through the installed headers and
// libraries.
#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/simulator/simulator.h>
#include <draftscope/traces/reader.h>

#include <cstdio>

int main() {
  const auto reader = draftscope::traces::Reader::open("no such file");
  if (reader) return 1;
  std::puts(reader.error().message.c_str());
  const auto figures = draftscope::simulator::measure(draftscope::traces::Recording{});
  return figures.runs.empty() ? 0 : 1;
}

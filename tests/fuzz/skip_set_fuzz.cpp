// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a file of skip sets, or a policy with one inside. Any input is read or refused in one line, and
// one set is what all of them together have under its name.

#include <draftscope/engine/skip_set.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "promises.h"

namespace {

using namespace draftscope;
using namespace draftscope::engine;
using namespace draftscope::fuzz;

constexpr std::int32_t n_layers = 8;

void read(const std::filesystem::path& path) {
  const auto sets = read_skip_sets(path, n_layers);
  require_value_or_line(sets);
  const auto chosen = read_skip_set(path, "default", n_layers);
  require_value_or_line(chosen);
  if (sets) require(chosen.has_value() == sets->contains("default"));
  if (sets && chosen) require(*chosen == sets->at("default"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const InputFile file(".json", {reinterpret_cast<const char*>(data), size});
  read(file.path());
  return 0;
}

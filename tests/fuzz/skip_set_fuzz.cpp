// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a file of skip sets, or a policy with one inside. Any input is read or refused in one line. A set
// that is written into a file is read back, and the others stay unchanged.

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

void read_and_write(const std::filesystem::path& path) {
  const auto sets = read_skip_sets(path, n_layers);
  require_value_or_line(sets);
  const auto chosen = read_skip_set(path, "default", n_layers);
  require_value_or_line(chosen);
  if (sets) require(chosen.has_value() == sets->contains("default"));
  const speculation::SublayerMask set = speculation::SublayerMask(n_layers).skip_attention(1).skip_mlp(6);
  if (const auto written = write_skip_set(path, "new", set); !written)
    return require_one_line(written.error());
  require(read_skip_set(path, "new", n_layers).value() == set);
  if (!sets) return;
  const auto after = read_skip_sets(path, n_layers);
  require(after.has_value());
  for (const auto& [name, mask] : *sets) require(name == "new" || after->at(name) == mask);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const InputFile file(".json", {reinterpret_cast<const char*>(data), size});
  read_and_write(file.path());
  return 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a policy file. Any input is read or refused in one line. A policy that was read is the same after
// writing and reading again, and `tuned` makes a strategy of it or refuses it in one line.

#include <draftscope/engine/strategy.h>
#include <draftscope/engine/tuning/policy.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "../engine/tuning/example_policy.h"
#include "promises.h"

namespace {

using namespace draftscope;
using namespace draftscope::engine;
using namespace draftscope::fuzz;

void make_tuned(std::string_view text) {
  const InputFile file(".json", text);
  const auto made = make_strategy("tuned:policy=" + file.path().string(), small_shape(), {{}, "0123abcd"});
  if (!made) return require_one_line(made.error());
  require(made->strategy != nullptr);
  require(nlohmann::json::accept(made->parameters));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto policy = parse_policy(text, "input");
  if (!policy) {
    require_one_line(policy.error());
    return 0;
  }
  const std::string written = policy_json(*policy);
  const auto again = parse_policy(written, "written");
  require(again.has_value());
  require(policy_json(*again) == written);
  require(!policy->finished || score_spread(policy->repeats).has_value());
  make_tuned(text);
  return 0;
}

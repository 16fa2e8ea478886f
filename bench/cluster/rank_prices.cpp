// SPDX-License-Identifier: GPL-3.0-or-later
// What the simulator's law says of a rank's operations, from the recording of one process: microseconds of
// one execution, as JSON {"operation": {"rows": us}}. bench/cluster/operations holds it to ranks.
//
//   bench_rank_prices RECORDING RANKS ROWS…

#include <draftscope/base/number.h>
#include <draftscope/simulator/hardware/roofline.h>
#include <draftscope/simulator/what_if/asked_machine.h>
#include <draftscope/simulator/what_if/what_if.h>
#include <draftscope/traces/reader.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "costs/cost_link.h"

namespace draftscope::bench {
namespace {

Result<nlohmann::ordered_json> prices_of(const std::string& recording_path, std::int32_t ranks,
                                         const std::vector<std::int32_t>& rows) {
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(recording_path));
  DRAFTSCOPE_TRY_ASSIGN(const traces::Recording recording, reader.recording());
  DRAFTSCOPE_TRY_ASSIGN(const simulator::WhatIf what_if, simulator::WhatIf::train(reader, recording));
  const simulator::Scenario recorded = what_if.recorded_scenario();
  simulator::Scenario shared = recorded;
  shared.tensor_parallel = ranks;
  DRAFTSCOPE_TRY_ASSIGN(const simulator::Machine machine, simulator::asked_machine(shared, recorded));
  // At the middle of the recorded contexts.
  DRAFTSCOPE_TRY_ASSIGN(const simulator::Roofline law,
                        simulator::roofline(what_if.costs().model, machine, 0.5 * recorded.context, rows));
  nlohmann::ordered_json prices = nlohmann::ordered_json::object();
  for (const simulator::RooflinePoint& point : law.points)
    prices[std::string(speculation::operation_name(point.operation))][std::to_string(point.rows)] =
        1e-3 * point.ns;
  for (const std::int32_t width : rows)
    prices["all-reduce"][std::to_string(width)] =
        1e-3 * simulator::rank_all_reduce_ns(ranks, 4.0 * width * shared.shape.d_model);
  return prices;
}

int run(int argc, char** argv) {
  std::vector<std::int32_t> numbers;
  for (int i = 2; i < argc; ++i) numbers.push_back(parse_number<std::int32_t>(argv[i]).value_or(0));
  if (numbers.size() < 2) {
    fmt::print(stderr, "bench_rank_prices: expected RECORDING RANKS ROWS…\n");
    return 2;
  }
  const auto prices = prices_of(argv[1], numbers.front(), {numbers.begin() + 1, numbers.end()});
  if (!prices) {
    fmt::print(stderr, "bench_rank_prices: {}\n", prices.error().message);
    return 1;
  }
  fmt::print("{}\n", prices->dump(2));
  return 0;
}

}  // namespace
}  // namespace draftscope::bench

int main(int argc, char** argv) {
  return draftscope::bench::run(argc, argv);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a prediction. Whatever comes is read or refused in one line, as it is and with the digest of its
// content, which random changes would never meet; what is read is written and read again as the same.

#include <draftscope/simulator/answers/prediction_file.h>

#include <cstdint>

#include "../promises.h"
#include "answers/validation/prediction_format.h"

namespace {

using namespace draftscope;
using namespace draftscope::fuzz;
using simulator::parse_prediction;

void read_and_write(std::string_view text) {
  const auto prediction = parse_prediction(text, "input");
  if (!prediction) return require_one_line(prediction.error());
  const std::string written = simulator::prediction_text(*prediction);
  const auto again = parse_prediction(written, "written");
  require(again.has_value(), again ? "" : again.error().message);
  require(simulator::prediction_text(*again) == written, "written twice as two things");
  require_value_or_line(simulator::score_prediction(*prediction, {}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  read_and_write(input);
  nlohmann::json content = nlohmann::json::parse(input, nullptr, false);
  if (!content.is_object()) return 0;
  content["digest"] = simulator::prediction_digest(content);
  read_and_write(content.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/hardware/scenario.h>

#include <draftscope/speculation/model_shape_json.h>

namespace draftscope::simulator {

Result<ModelShape> recorded_shape(const traces::Meta& meta) {
  constexpr std::string_view name = "meta model_shape";
  const auto found = meta.find("model_shape");
  if (found == meta.end()) return fail("{} is missing, expected the recorded model's shape", name);
  DRAFTSCOPE_TRY_ASSIGN(ModelShape shape, speculation::parse_recorded_shape(found->second, name));
  const auto model = meta.find("model");
  shape.name = model == meta.end() ? "recorded model" : model->second;
  return shape;
}

}  // namespace draftscope::simulator

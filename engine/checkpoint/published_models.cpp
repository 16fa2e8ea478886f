// SPDX-License-Identifier: GPL-3.0-or-later
#include "published_models.h"

#include <draftscope/base/quote.h>
#include <draftscope/speculation/model_families.h>
#include <draftscope/speculation/published_models.h>

namespace draftscope::engine {

Result<speculation::ModelShape> published_shape(std::string_view name) {
  DRAFTSCOPE_TRY_ASSIGN(auto shape, speculation::published_model(name));
  if (!shape) {
    DRAFTSCOPE_TRY_ASSIGN(const std::string closest, speculation::closest_models(name));
    return fail("synthetic model {} is unknown, expected one of models.csv; closest: {}", quote(name),
                closest);
  }
  const speculation::ModelFamily* const family = speculation::find_architecture(shape->architecture);
  if (family == nullptr)
    return fail("synthetic model {}: its architecture is not known, expected one of model_families()",
                quote(name));
  DRAFTSCOPE_TRY(speculation::check_shape(*shape, "synthetic model " + shape->name));
  return *std::move(shape);
}

}  // namespace draftscope::engine

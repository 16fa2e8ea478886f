// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/stated_sums.h"

#include <array>
#include <cmath>

namespace draftscope::traces {
namespace {

/// Whole numbers as such, so that counts are read as counts.
nlohmann::json number_json(double value) {
  constexpr double exact = 0x1p53;
  if (value == std::floor(value) && std::abs(value) < exact) return static_cast<std::int64_t>(value);
  return value;
}

}  // namespace

Result<nlohmann::json> stated_figures_of(const StatedSums& sums, const std::string& where) {
  const auto& [requests, steps, drafted, accepted, output, by_position, others] = sums;
  if (drafted && accepted && *accepted > *drafted)
    return fail("{}: {} draft tokens were accepted of {}, expected at most as many as were drafted", where,
                *accepted, *drafted);
  constexpr double rounding = 2e-3;  // Sources print three decimals.
  double share_before = 1.0;
  for (std::size_t i = 0; i < by_position.size(); ++i) {
    if (!(by_position[i] >= 0.0 && by_position[i] <= share_before + rounding))
      return fail("{}: the acceptance of position {} is {:.3f}, expected 0 to {:.3f}, that of the one before",
                  where, i, by_position[i], share_before);
    share_before = by_position[i];
  }
  nlohmann::json stated = nlohmann::json::object();
  for (const auto& [name, value] : {std::pair{"requests", requests},
                                    {"verify_steps", steps},
                                    {"drafted_tokens", drafted},
                                    {"accepted_tokens", accepted},
                                    {"output_tokens", output}})
    if (value) stated[name] = number_json(*value);
  if (drafted && accepted && *drafted > 0.0) stated["acceptance_rate"] = *accepted / *drafted;
  if (steps && accepted && *steps > 0.0) stated["mean_accepted_length"] = 1.0 + *accepted / *steps;
  if (!by_position.empty()) stated["acceptance_by_position"] = by_position;
  stated.update(others);
  if (stated.empty()) return fail("{}: holds no figures, expected sums of speculative decoding", where);
  return stated;
}

void note_no_requests(ImportContext& context) {
  for (const MissingData missing :
       {MissingData::rounds, MissingData::token_ids, MissingData::output_lengths, MissingData::prompts,
        MissingData::output_text, MissingData::wall_times, MissingData::first_token_times,
        MissingData::round_times, MissingData::phase_times, MissingData::confidences, MissingData::layer_sets,
        MissingData::device})
    context.target.note(missing);
}

Result<void> state_run(const std::filesystem::path& file, const RunName& name, const StatedSums& sums,
                       ImportContext& context) {
  DRAFTSCOPE_TRY(take_run(file, name, context));
  DRAFTSCOPE_TRY_ASSIGN(const nlohmann::json stated, stated_figures_of(sums, file.string()));
  context.answers.run(name.specification, context.is_baseline);
  note_no_requests(context);
  context.stated_figures[name.specification] =
      stated.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return {};
}

}  // namespace draftscope::traces

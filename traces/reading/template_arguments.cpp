// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <draftscope/traces/template_arguments.h>
#include <nlohmann/json.hpp>

namespace draftscope::traces {

Result<std::string> template_arguments_json(std::span<const std::string> arguments) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (equals == 0 || equals == std::string::npos)
      return fail("template-arg: found {}, expected NAME=JSON", quote(argument));
    const std::string name = argument.substr(0, equals);
    auto value =
        nlohmann::ordered_json::parse(argument.substr(equals + 1), nullptr, /*allow_exceptions=*/false);
    if (value.is_discarded())
      return fail("template-arg: {} is {}, expected JSON (a text stands between double quotes)", quote(name),
                  quote(argument.substr(equals + 1)));
    if (all.contains(name)) return fail("template-arg: {} is given twice, expected it once", quote(name));
    all[name] = std::move(value);
  }
  return all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace draftscope::traces

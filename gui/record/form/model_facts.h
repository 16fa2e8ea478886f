// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Facts about a model that the form needs, as `draftscope inspect MODEL --json` prints it (cli/OUTPUT.md).

#include <draftscope/base/result.h>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::gui {

/// A GPU of this machine.
struct GpuFacts {
  std::string device;  ///< Value of --device.
  std::string name;    ///< Name that the driver gives it.
};

struct ModelFacts {
  std::string name;
  std::int32_t n_layers = 0;
  std::int64_t context_tokens = 0;
  std::int64_t parameters = 0;
  std::int64_t weight_bytes = 0;
  std::string dtype;
  bool synthetic = false;
  bool has_chat_template = false;
  std::string chat_template_problem;         ///< Why the chat template can't be rendered; empty = it can.
  std::string tokenizer_problem;             ///< Why no text can be decoded; empty = it can.
  std::map<std::string, std::string> lacks;  ///< Reason [strategy] why it can't decode with its defaults.
  std::vector<GpuFacts> gpus;
  std::string gpus_problem;  ///< Why there is no GPU; empty = there is one.
};

/// Reads the facts from JSON. Errors: other text, with the field.
[[nodiscard]] Result<ModelFacts> model_facts_of(std::string_view json);

}  // namespace draftscope::gui

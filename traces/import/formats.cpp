// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/formats.h"

#include <array>

namespace draftscope::traces {

extern const FormatRow spec_bench_row;
extern const FormatRow swift_row;
extern const FormatRow layerskip_row;
extern const FormatRow acceptance_row;
extern const FormatRow chrome_row;
extern const FormatRow nsys_row;
extern const FormatRow rounds_row;
extern const FormatRow llama_cpp_row;
extern const FormatRow llama_answers_row;
extern const FormatRow sglang_row;
extern const FormatRow trtllm_row;
extern const FormatRow aiperf_row;

std::span<const FormatRow* const> format_rows() {
  static constexpr std::array rows{&spec_bench_row,    &swift_row,  &layerskip_row, &acceptance_row,
                                   &chrome_row,        &nsys_row,   &rounds_row,    &llama_cpp_row,
                                   &llama_answers_row, &sglang_row, &trtllm_row,    &aiperf_row};
  return rows;
}

}  // namespace draftscope::traces

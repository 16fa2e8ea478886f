// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Meanings of the choices for a recording, one line each, for the help of `draftscope record` and the app's
// page Record.

#include <array>

namespace draftscope::traces::record_help {

inline constexpr const char* model = "Hugging Face folder, GGUF file, or synthetic:NAME[,redundancy=R,…]";
inline constexpr const char* prompts =
    "Questions, one a line or in a JSON array: turns, prompt, text, question, messages or conversations; "
    ".txt: one "
    "text a line";
inline constexpr const char* skip_unfit =
    "Leave out questions without a prompt, or with one longer than the context";
inline constexpr const char* output = "The trace to write (.dstrace)";
inline constexpr const char* overwrite = "Replace an existing trace";
inline constexpr const char* max_tokens = "Tokens to generate at most";
inline constexpr const char* repeats =
    "How often to record each prompt and strategy; each repeat starts every strategy anew";
inline constexpr const char* warmup = "Unrecorded decodes of the first prompt before the start";
inline constexpr const char* level =
    "How fine to record time: rounds alone, their phases, layers, or every operation";
inline constexpr const char* device_trace =
    "On a GPU: launches = a row a launch, by CUPTI; operations = beside them a row an operation of a "
    "program, timed by the device itself; auto = launches there";
/// Values of --device-trace; the first is its default.
inline constexpr std::array device_traces{"auto", "off", "launches", "operations"};
inline constexpr const char* template_arguments =
    "NAME=JSON: a variable of the chat template, such as enable_thinking=false; repeatable";
inline constexpr const char* shadow =
    "After each request, record what every layer would have predicted at every position: what-ifs of "
    "settings "
    "that were not recorded need it";

}  // namespace draftscope::traces::record_help

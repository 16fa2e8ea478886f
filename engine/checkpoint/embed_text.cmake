# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DINPUT=… -DOUTPUT=… -DNAME=… -P embed_text.cmake: a text file as a C++ string, so that a program needs no
# data folder at run time.
file(READ "${INPUT}" text)
string(FIND "${text}" ")embedded\"" delimiter)
if(NOT delimiter EQUAL -1)
  message(FATAL_ERROR "${INPUT}: contains the raw string's delimiter )embedded\"")
endif()
file(WRITE "${OUTPUT}" "// Made by embed_text.cmake.
#include <string_view>
namespace draftscope::engine {
extern const std::string_view ${NAME};
const std::string_view ${NAME} = R\"embedded(${text})embedded\";
}  // namespace draftscope::engine
")

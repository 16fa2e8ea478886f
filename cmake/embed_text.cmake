# SPDX-License-Identifier: GPL-3.0-or-later
# draftscope_embed_text(TARGET FILE NAMESPACE NAME): a text file as `extern const std::string_view NAMESPACE::NAME` in the
# library TARGET, so that a program needs no data folder at run time.
# The same file is the script that the build runs: cmake -DINPUT=… -DOUTPUT=… -DNAMESPACE=… -DNAME=… -P embed_text.cmake
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${INPUT}" text)
  string(FIND "${text}" ")embedded\"" delimiter)
  if(NOT delimiter EQUAL -1)
    message(FATAL_ERROR "${INPUT}: contains the raw string's delimiter )embedded\"")
  endif()
  # A compiler may refuse a literal of more than 64 KiB; adjacent ones are joined. Clang's pedantry counts what they are
  # together.
  string(LENGTH "${text}" length)
  set(literals "")
  set(begin 0)
  while(begin LESS length)
    string(SUBSTRING "${text}" ${begin} 30000 part)
    string(APPEND literals "\n    R\"embedded(${part})embedded\"")
    math(EXPR begin "${begin} + 30000")
  endwhile()
  file(WRITE "${OUTPUT}" "// Made by embed_text.cmake.
#include <string_view>
#ifdef __clang__
#pragma clang diagnostic ignored \"-Woverlength-strings\"
#endif
namespace ${NAMESPACE} {
extern const std::string_view ${NAME};
const std::string_view ${NAME} =${literals};
}  // namespace ${NAMESPACE}
")
  return()
endif()

set(DRAFTSCOPE_EMBED_TEXT ${CMAKE_CURRENT_LIST_FILE})
function(draftscope_embed_text target file namespace name)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${output} -DNAMESPACE=${namespace} -DNAME=${name} -P ${DRAFTSCOPE_EMBED_TEXT}
    DEPENDS ${file} ${DRAFTSCOPE_EMBED_TEXT}
    VERBATIM)
  # A target of its own: the library may be made in another folder, where this folder's custom command is not known.
  add_custom_target(${target}_${name} DEPENDS ${output})
  add_dependencies(${target} ${target}_${name})
  set_property(SOURCE ${output} TARGET_DIRECTORY ${target} PROPERTY GENERATED ON)
  target_sources(${target} PRIVATE ${output})
endfunction()

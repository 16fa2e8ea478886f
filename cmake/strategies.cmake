# SPDX-License-Identifier: GPL-3.0-or-later
# Folders of strategies/, in the order in which `draftscope strategies` shows their rows. What a file holds, and so which library
# compiles it, is its name's first word: row and rule → speculation, engine → engine, predict → simulator; *_test.cpp →
# the tests of that library.
set(DRAFTSCOPE_STRATEGIES
  vanilla parts presets swift clasp knapspec conflayers del quantised mix two-model mtp prompt-lookup
  suffix-decoding token-recycling jacobi lookahead cascade auto tuned)

file(GLOB rows CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/strategies strategies/*/row.cpp)
foreach(row IN LISTS rows)
  cmake_path(GET row PARENT_PATH folder)
  if(NOT folder IN_LIST DRAFTSCOPE_STRATEGIES)
    message(FATAL_ERROR "strategies/${folder} is not in DRAFTSCOPE_STRATEGIES (cmake/strategies.cmake), expected its place in the list")
  endif()
endforeach()

# draftscope_strategy_files(VARIABLE PATTERN…): files of strategies/ and of its folders whose names match.
function(draftscope_strategy_files variable)
  set(found "")
  foreach(pattern IN LISTS ARGN)
    file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/strategies/${pattern} ${PROJECT_SOURCE_DIR}/strategies/*/${pattern})
    list(APPEND found ${files})
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# draftscope_strategy_sources(LIBRARY WORD TYPE [OTHER WORD…]): gives a library the files of strategies/ whose names begin with
# the words. Of the first word each folder makes a value by a function, as row.cpp of swift makes StrategyRows row_of_swift(),
# and every_row() is those of all folders, in order.
function(draftscope_strategy_sources library word type)
  target_include_directories(draftscope_${library} PRIVATE ${PROJECT_SOURCE_DIR})
  foreach(first IN ITEMS ${word} ${ARGN})
    draftscope_strategy_files(sources ${first}*.cpp)
    list(FILTER sources EXCLUDE REGEX "_test[.]cpp$")
    target_sources(draftscope_${library} PRIVATE ${sources})
  endforeach()
  set(declarations "")
  set(calls "")
  foreach(folder IN LISTS DRAFTSCOPE_STRATEGIES)
    if(EXISTS ${PROJECT_SOURCE_DIR}/strategies/${folder}/${word}.cpp)
      string(MAKE_C_IDENTIFIER ${folder} name)
      string(APPEND declarations "${type} ${word}_of_${name}();\n")
      string(APPEND calls "          ${word}_of_${name}(),\n")
    endif()
  endforeach()
  set(made ${CMAKE_CURRENT_BINARY_DIR}/every_${word}.cpp)
  file(CONFIGURE OUTPUT ${made} CONTENT "// Made by cmake/strategies.cmake.
#include \"strategies/${word}.h\"
namespace draftscope::${library} {
${declarations}std::vector<${type}> every_${word}() {
  return {
${calls}  };
}
}  // namespace draftscope::${library}
")
  target_sources(draftscope_${library} PRIVATE ${made})
endfunction()

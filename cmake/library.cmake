# SPDX-License-Identifier: GPL-3.0-or-later
# draftscope_library(NAME SOURCES … PUBLIC … PRIVATE … PRECOMPILED …): one target per folder, alias draftscope::NAME,
# installed headers.
include(GNUInstallDirs)
include(cmake/unity.cmake)

# draftscope_precompile(TARGET): the standard library's and others' headers that most files include, parsed once. Half of
# the time to compile is theirs. Headers of the project are no part of it: they change. It takes as long as three files
# save, so that targets of few files have none where those of a folder are compiled together (unity.cmake).
function(draftscope_precompile target)
  target_precompile_headers(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:<algorithm$<ANGLE-R>>
    $<$<COMPILE_LANGUAGE:CXX>:<array$<ANGLE-R>>
    $<$<COMPILE_LANGUAGE:CXX>:<cmath$<ANGLE-R>>
    $<$<COMPILE_LANGUAGE:CXX>:<cstdint$<ANGLE-R>>
    $<$<COMPILE_LANGUAGE:CXX>:<filesystem$<ANGLE-R>>
    $<$<COMPILE_LANGUAGE:CXX>:<functional$<ANGLE-R>>
    $<$<COMPILE_LANGUAGE:CXX>:<map$<ANGLE-R>>
    $<$<COMPILE_LANGUAGE:CXX>:<memory$<ANGLE-R>>
    $<$<COMPILE_LANGUAGE:CXX>:<optional$<ANGLE-R>>
    $<$<COMPILE_LANGUAGE:CXX>:<span$<ANGLE-R>>
    $<$<COMPILE_LANGUAGE:CXX>:<string$<ANGLE-R>>
    $<$<COMPILE_LANGUAGE:CXX>:<string_view$<ANGLE-R>>
    $<$<COMPILE_LANGUAGE:CXX>:<vector$<ANGLE-R>>
    $<$<COMPILE_LANGUAGE:CXX>:<draftscope/base/result.h$<ANGLE-R>>)
  if(ARGN)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

function(draftscope_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE;PRECOMPILED" ${ARGN})
  add_library(draftscope_${name} STATIC ${ARG_SOURCES})
  add_library(draftscope::${name} ALIAS draftscope_${name})
  target_include_directories(draftscope_${name}
    PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(draftscope_${name} PUBLIC ${ARG_PUBLIC} PRIVATE $<BUILD_INTERFACE:draftscope_options> ${ARG_PRIVATE})
  target_compile_features(draftscope_${name} PUBLIC cxx_std_20)
  if(ARG_PRECOMPILED OR NOT DRAFTSCOPE_UNITY)
    draftscope_precompile(draftscope_${name} ${ARG_PRECOMPILED})
  endif()
  draftscope_unity(draftscope_${name})
  set_target_properties(draftscope_${name} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS draftscope_${name} EXPORT draftscope ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
  install(DIRECTORY include/draftscope DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
endfunction()

# Seconds after which CTest ends a test. They only end what hangs: beside four busy loops every test stays below 600, but
# the longest walks take twenty times as long with sanitizers.
set(draftscope_test_seconds 600)
if(DRAFTSCOPE_SANITIZE OR DRAFTSCOPE_COVERAGE)
  set(draftscope_test_seconds 7200)
endif()

# Where test code finds models and prompts. Tests of a GPU are packed and taken to another machine: they start in the root.
set(draftscope_test_root "${PROJECT_SOURCE_DIR}")
if(DRAFTSCOPE_TESTS STREQUAL GPU)
  set(draftscope_test_root .)
endif()

# draftscope_test_code(TARGET HEADERS): how test code is compiled: sources of a folder together, with the headers that the
# target HEADERS has parsed (draftscope_test_headers, below).
function(draftscope_test_code target headers)
  target_link_libraries(${target} PRIVATE draftscope_options GTest::gmock GTest::gtest)
  target_compile_definitions(${target} PRIVATE DRAFTSCOPE_SOURCE_DIR="${draftscope_test_root}")
  # An object library is compiled as a program is: a precompiled header fits only one of the two kinds.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL OBJECT_LIBRARY)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIE)
  endif()
  if(NOT target STREQUAL headers)
    target_precompile_headers(${target} REUSE_FROM ${headers})
    draftscope_unity(${target})
  endif()
endfunction()

# draftscope_test_headers(NAME SOURCE HEADER…): the target whose precompiled headers test code takes. A source of its own,
# which may be empty, lets CMake compile them.
function(draftscope_test_headers name source)
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE draftscope::base)
  draftscope_test_code(${name} ${name})
  draftscope_precompile(${name} <gmock/gmock.h> <gtest/gtest.h> ${ARGN})
endfunction()

# draftscope_test(NAME SOURCES … LIBRARIES … [LONG FILTER]): one GoogleTest program, its cases listed to CTest one by one.
# Those that FILTER takes, in the words of --gtest_filter, have the label "long".
function(draftscope_test name)
  cmake_parse_arguments(ARG "" "LONG" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} GTest::gtest_main)
  draftscope_test_code(${name} draftscope_test_headers)
  if(ARG_LONG)
    gtest_discover_tests(${name} TEST_FILTER "${ARG_LONG}" DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT ${draftscope_test_seconds} LABELS long)
    set(others TEST_FILTER "-${ARG_LONG}")
  endif()
  gtest_discover_tests(${name} ${others} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${draftscope_test_seconds})
endfunction()

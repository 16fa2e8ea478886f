# SPDX-License-Identifier: GPL-3.0-or-later
# Language level, warnings, sanitizers, compiler cache.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# RelWithDebInfo is the build people measure: line tables for profilers, assertions kept. What computes over whole matrices
# has ${draftscope_optimised}; the rest is as quick without, and takes a third less time to compile.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -finline-small-functions -findirect-inlining -g1")
set(draftscope_optimised $<$<CONFIG:RelWithDebInfo>:-O3>)
if(DRAFTSCOPE_SANITIZE OR DRAFTSCOPE_COVERAGE OR DRAFTSCOPE_FUZZ)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
  set(draftscope_optimised)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(DRAFTSCOPE_CCACHE ccache)
if(DRAFTSCOPE_CCACHE)
  # Without the sloppiness, ccache takes nothing that was compiled with a precompiled header; in depend mode it leaves out
  # the preprocessor's run before each compilation.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${DRAFTSCOPE_CCACHE})
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  # GCC collects its garbage again and again while it compiles (a tenth of the time) to stay below 128 MB.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=1000000>")
endif()

# With lld the links of a whole build take a third less time than with GNU ld. nvcc, where it links, has its own linker.
find_program(DRAFTSCOPE_LLD ld.lld)
if(DRAFTSCOPE_LLD)
  add_link_options($<$<LINK_LANGUAGE:C,CXX>:-fuse-ld=lld>)
endif()

add_library(draftscope_options INTERFACE)
target_compile_options(draftscope_options INTERFACE
  -Wall -Wextra -Werror -Wpedantic -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual -Woverloaded-virtual
  -Wformat=2 -Wimplicit-fallthrough
  # Designated initialisers with default member values are the idiom here.
  -Wno-missing-field-initializers
  # Floating point: bit-for-bit results are a contract, so the compiler may not fuse or reorder by its own choice.
  -ffp-contract=off)
if(NOT DRAFTSCOPE_UNITY)
  target_compile_options(draftscope_options INTERFACE -Wshadow)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Of the names that a file keeps to itself, others of its folder may well take theirs anew.
  target_compile_options(draftscope_options INTERFACE -Wshadow=local -Wno-subobject-linkage)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 and 13 report these inside the standard library at -O3 (false positives of and friends).
  target_compile_options(draftscope_options INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
                         -Wno-array-bounds -Wno-maybe-uninitialized)
endif()
if(DRAFTSCOPE_SANITIZE)
  add_compile_options(-fsanitize=${DRAFTSCOPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${DRAFTSCOPE_SANITIZE})
endif()
if(DRAFTSCOPE_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()
if(DRAFTSCOPE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
endif()

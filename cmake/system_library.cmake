# SPDX-License-Identifier: GPL-3.0-or-later
# draftscope_system_library(NAME LIBRARY HEADER [OPTIONAL]): the target draftscope_system::NAME for a library that brings no CMake
# files of its own, found where CMake looks for libraries (CMAKE_PREFIX_PATH). Needs no pkg-config. OPTIONAL: no target where it is not found.
function(draftscope_system_library name library header)
  set(required REQUIRED)
  if("OPTIONAL" IN_LIST ARGN)
    set(required "")
  endif()
  find_library(DRAFTSCOPE_${name}_LIBRARY ${library} ${required})
  find_path(DRAFTSCOPE_${name}_INCLUDE ${header} ${required})
  mark_as_advanced(DRAFTSCOPE_${name}_LIBRARY DRAFTSCOPE_${name}_INCLUDE)
  if(DRAFTSCOPE_${name}_LIBRARY AND DRAFTSCOPE_${name}_INCLUDE AND NOT TARGET draftscope_system::${name})
    add_library(draftscope_system::${name} UNKNOWN IMPORTED)
    set_target_properties(draftscope_system::${name} PROPERTIES
      IMPORTED_LOCATION "${DRAFTSCOPE_${name}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${DRAFTSCOPE_${name}_INCLUDE}")
  endif()
endfunction()

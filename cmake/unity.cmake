# SPDX-License-Identifier: GPL-3.0-or-later
# draftscope_unity(TARGET): compiles the target's sources together, up to ten at once: a folder with those that stand beside
# it in the list, or a part of a large folder. Headers and the templates of the standard library are most of what a file
# costs, and are then paid for once. Names that two files of a group give to different things of their own are an error;
# clang-tidy reads every file by itself (preset lint), so that each still includes what it uses.
set(draftscope_max_sources_together 10)

# To be called once the target's list of sources is complete: at the end of its directory.
function(draftscope_group_sources target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(directory ${target} SOURCE_DIR)
  set(folders)
  foreach(source IN LISTS sources)
    if(NOT source MATCHES "\\.cpp$")
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${directory} NORMALIZE)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    if(folder MATCHES "^strategies/")
      set(folder strategies)  # of a library each has a file or two
    endif()
    string(MAKE_C_IDENTIFIER "${folder}" key)
    list(APPEND "sources_${key}" ${source})
    list(APPEND folders ${key})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  set(group "")  # name of the group that the next small folder joins
  set(room 0)    # sources that it still takes
  foreach(key IN LISTS folders)
    list(LENGTH "sources_${key}" count)
    if(count GREATER room)
      set(group ${key})
      set(room ${draftscope_max_sources_together})
    endif()
    math(EXPR parts "(${count} + ${draftscope_max_sources_together} - 1) / ${draftscope_max_sources_together}")
    set(index 0)
    foreach(source IN LISTS "sources_${key}")
      math(EXPR part "${index} * ${parts} / ${count}")
      set_property(SOURCE ${source} TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP "${group}_${part}")
      math(EXPR index "${index} + 1")
    endforeach()
    math(EXPR room "${room} - ${count}")
  endforeach()
endfunction()

function(draftscope_unity target)
  if(DRAFTSCOPE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    cmake_language(EVAL CODE "cmake_language(DEFER CALL draftscope_group_sources ${target})")
  endif()
endfunction()

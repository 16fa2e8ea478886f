# SPDX-License-Identifier: GPL-3.0-or-later
# DRAFTSCOPE_HAS_MPI: whether ranks may be processes of an MPI job. Without it a model is one process's.
set(DRAFTSCOPE_MPI AUTO CACHE STRING "Share models among the processes of an MPI job: AUTO (where MPI is), ON, OFF")
set_property(CACHE DRAFTSCOPE_MPI PROPERTY STRINGS AUTO ON OFF)
set(DRAFTSCOPE_HAS_MPI OFF)
if(DRAFTSCOPE_MPI STREQUAL ON)
  find_package(MPI REQUIRED COMPONENTS C)
elseif(NOT DRAFTSCOPE_MPI STREQUAL OFF)
  find_package(MPI QUIET COMPONENTS C)
endif()
if(MPI_C_FOUND AND NOT DRAFTSCOPE_MPI STREQUAL OFF)
  set(DRAFTSCOPE_HAS_MPI ON)
endif()
message(STATUS "MPI: ${DRAFTSCOPE_HAS_MPI}")

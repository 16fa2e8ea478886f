# SPDX-License-Identifier: GPL-3.0-or-later
# DRAFTSCOPE_HAS_ONEDNN: whether the CPU backend's wide products run on oneDNN. Without it our own kernels do every
# width: the same text, a slower prefill.
set(DRAFTSCOPE_ONEDNN ON CACHE STRING "Prefill on the CPU by oneDNN: ON, AUTO (where it is), OFF")
set_property(CACHE DRAFTSCOPE_ONEDNN PROPERTY STRINGS ON AUTO OFF)
set(DRAFTSCOPE_HAS_ONEDNN OFF)
if(DRAFTSCOPE_ONEDNN STREQUAL AUTO)
  find_package(dnnl QUIET)
elseif(DRAFTSCOPE_ONEDNN)
  find_package(dnnl REQUIRED)
endif()
if(DRAFTSCOPE_ONEDNN AND dnnl_FOUND)
  set(DRAFTSCOPE_HAS_ONEDNN ON)
endif()
message(STATUS "oneDNN: ${DRAFTSCOPE_HAS_ONEDNN}")

# SPDX-License-Identifier: GPL-3.0-or-later
# Debian packages, by `cpack --preset package`: draftscope (the command; needs no display), draftscope-gui (the app) and
# draftscope-dev (libraries and headers). Without the CUDA backend, whose libraries no Debian package brings.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME draftscope)
set(CPACK_PACKAGE_VENDOR "Draftscope")
# The first line of each component's description is its summary.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_PACKAGE_CONTACT "The Draftscope developers <developers@draftscope.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_COMPONENTS_ALL cli dev)

set(CPACK_DEBIAN_CLI_PACKAGE_NAME draftscope)
set(CPACK_DEBIAN_CLI_PACKAGE_SUGGESTS draftscope-gui)
set(CPACK_COMPONENT_CLI_DESCRIPTION
  "recorder and simulator of self-speculative decoding
The command draftscope records what a language model drafts with a part of itself
and what the whole of it keeps, reports and compares strategies, and predicts them
on other hardware and with other settings. Needs no display.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME draftscope-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "libsqlite3-dev, nlohmann-json3-dev, libfmt-dev, libexpected-dev, libeigen3-dev, libpcre2-dev, libutf8proc-dev, libxxhash-dev, libcsv-dev, nettle-dev, zlib1g-dev")
if(TARGET draftscope_system::ZSTD)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libzstd-dev")
endif()
if(DRAFTSCOPE_HAS_ONEDNN)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libdnnl-dev, ocl-icd-opencl-dev")
endif()
set(CPACK_COMPONENT_DEV_DESCRIPTION
  "libraries of draftscope
Static libraries and headers that read and write recordings, decode and simulate,
found by CMake's find_package(draftscope).")

if(DRAFTSCOPE_GUI)
  list(APPEND CPACK_COMPONENTS_ALL gui)
  set(CPACK_DEBIAN_GUI_PACKAGE_NAME draftscope-gui)
  set(CPACK_DEBIAN_GUI_PACKAGE_RECOMMENDS draftscope)
  set(CPACK_COMPONENT_GUI_DESCRIPTION
    "viewer of recordings of self-speculative decoding
The app shows, round by round, which layers a draft skipped, how confident each
drafted token was, what was accepted and where the time went, replays the text and
compares strategies.")
endif()

foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME} RENAME copyright
          COMPONENT ${component})
endforeach()
include(CPack)

# SPDX-License-Identifier: GPL-3.0-or-later
# find_package(draftscope) for others: the targets draftscope::base, speculation, traces, profiler, engine and simulator.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/draftscope)
install(EXPORT draftscope NAMESPACE draftscope:: FILE draftscopeTargets.cmake DESTINATION ${package_folder} COMPONENT dev)
configure_package_config_file(cmake/draftscopeConfig.cmake.in ${PROJECT_BINARY_DIR}/draftscopeConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/draftscopeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/system_library.cmake ${PROJECT_BINARY_DIR}/draftscopeConfig.cmake
  ${PROJECT_BINARY_DIR}/draftscopeConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT dev)

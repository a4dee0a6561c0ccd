# SPDX-License-Identifier: LGPL-2.1-or-later
# For find_package(rdmad-glib); a program links to the target rdmad-glib::rdmad-glib.

include(CMakeFindDependencyMacro)
find_dependency(PkgConfig)
pkg_check_modules(GIO QUIET IMPORTED_TARGET gio-2.0>=2.74)
if(NOT GIO_FOUND)
	set(${CMAKE_FIND_PACKAGE_NAME}_FOUND FALSE)
	set(${CMAKE_FIND_PACKAGE_NAME}_NOT_FOUND_MESSAGE "gio-2.0 is not installed")
	return()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/rdmad-glib-targets.cmake)

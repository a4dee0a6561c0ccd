# SPDX-License-Identifier: LGPL-2.1-or-later

# Flags that make errors in the code harder to use. A distribution has flags of its own, in CFLAGS and LDFLAGS or in its compiler:
# each flag here is used only where those say nothing about the same thing.

include(CheckCSourceCompiles)

if(NOT CMAKE_C_FLAGS MATCHES "-f(no-)?stack-protector")
	add_compile_options(-fstack-protector-strong)
endif()

# Some compilers set _FORTIFY_SOURCE by themselves when they optimize.
set(CMAKE_REQUIRED_FLAGS -O2)
check_c_source_compiles("
#ifndef _FORTIFY_SOURCE
#error the compiler does not set it
#endif
int main(void) { return 0; }" RDMAD_FORTIFY_IS_SET)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT CMAKE_C_FLAGS MATCHES "_FORTIFY_SOURCE" AND NOT RDMAD_FORTIFY_IS_SET)
	add_compile_options(-D_FORTIFY_SOURCE=2)
endif()

set(link_flags "${CMAKE_C_FLAGS} ${CMAKE_EXE_LINKER_FLAGS} ${CMAKE_SHARED_LINKER_FLAGS}")
if(NOT link_flags MATCHES "-z[, ]*(no)?relro")
	add_link_options(-Wl,-z,relro)
endif()
if(NOT link_flags MATCHES "-z[, ]*(now|lazy)")
	add_link_options(-Wl,-z,now)
endif()

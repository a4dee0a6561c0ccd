# SPDX-License-Identifier: LGPL-2.1-or-later

# room(NAME SEES ROOM... LIBS LIBRARY...): a room is a folder and a static library. Its files can include the headers of the
# rooms after SEES and of no other room: such an include does not compile. A program that links a room also gets the rooms and
# libraries that the room needs. A file *-main.c is a program and no part of the room. The folder has the name of the room, without
# the "cli-" of the rooms of rdmactl.
function(room name)
	cmake_parse_arguments(R "" "" "SOURCES;SEES;LIBS" ${ARGN})
	if(NOT R_SOURCES)
		string(REGEX REPLACE "^cli-" "" folder ${name})
		file(GLOB R_SOURCES CONFIGURE_DEPENDS ${folder}/*.c)
		list(FILTER R_SOURCES EXCLUDE REGEX "-main\\.c$")
		set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
	else()
		set(folder ${CMAKE_CURRENT_SOURCE_DIR})
	endif()
	add_library(room-${name} STATIC ${R_SOURCES})
	target_include_directories(room-${name} PUBLIC ${folder})
	foreach(seen ${R_SEES})
		# only the folder of that room, not the rooms that that room sees
		target_include_directories(room-${name} PRIVATE $<TARGET_PROPERTY:room-${seen},ROOM_FOLDER>)
	endforeach()
	set_target_properties(room-${name} PROPERTIES ROOM_FOLDER ${folder})
	set_property(GLOBAL APPEND_STRING PROPERTY RDMAD_SEES "${name}: ${R_SEES}\n")
	list(TRANSFORM R_SEES PREPEND room-)
	target_link_libraries(room-${name} INTERFACE ${R_SEES} PUBLIC ${R_LIBS})
	set_property(GLOBAL APPEND PROPERTY RDMAD_ROOMS room-${name})
endfunction()

# For tests/rooms: a line "ROOM: ROOMS THAT IT SEES" for each room, in the order in which they are defined.
set_property(GLOBAL PROPERTY RDMAD_SEES "model: \n")

# saccade_room(NAME SOURCES a.cpp ... [TESTS a_test.cpp ...] [ROOMS core ...] [LIBS targets ...])
# makes the static library saccade_NAME, visible to users through ROOMS, and one GoogleTest program
# saccade_NAME_test registered with ctest case by case. OpenVINO's TBB must be told to open its parts
# without RTLD_DEEPBIND, or AddressSanitizer stops the program; without a sanitizer it is no matter.
function(saccade_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;TESTS;ROOMS;LIBS;TEST_LIBS" ${ARGN})
  set(target saccade_${name})
  add_library(${target} STATIC ${ROOM_SOURCES})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE ${ROOM_LIBS} saccade_flags)
  foreach(room IN LISTS ROOM_ROOMS)
    target_link_libraries(${target} PUBLIC saccade_${room})
  endforeach()
  if(ROOM_TESTS)
    add_executable(${target}_test ${ROOM_TESTS})
    target_link_libraries(${target}_test PRIVATE ${target} ${ROOM_TEST_LIBS} GTest::gtest_main
                                                 saccade_flags)
    gtest_discover_tests(${target}_test WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
                         DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300
                         ENVIRONMENT "OMP_WAIT_POLICY=passive"
                         ENVIRONMENT_MODIFICATION "TBB_ENABLE_SANITIZERS=set:1")
  endif()
endfunction()

# Every header must compile alone: one object library with a generated file per header.
function(saccade_check_headers)
  file(GLOB_RECURSE headers RELATIVE ${CMAKE_SOURCE_DIR}/src CONFIGURE_DEPENDS
       ${CMAKE_SOURCE_DIR}/src/*.h)
  set(units)
  foreach(header IN LISTS headers)
    string(REPLACE "/" "_" unit ${header})
    set(unit ${CMAKE_BINARY_DIR}/headers/${unit}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${header}\"\n")
    list(APPEND units ${unit})
  endforeach()
  add_library(saccade_headers OBJECT EXCLUDE_FROM_ALL ${units})
  target_include_directories(saccade_headers PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(saccade_headers PRIVATE saccade_flags)
endfunction()

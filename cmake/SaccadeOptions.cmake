# Language level, warnings, sanitizers and ccache for our own code.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(SACCADE_SANITIZE "" CACHE STRING "sanitizers of our own code, e.g. address,undefined or thread")
option(SACCADE_FUZZ "build the fuzzers (needs clang)" OFF)

find_program(SACCADE_CCACHE ccache)
if(SACCADE_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${SACCADE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SACCADE_CCACHE})
endif()

add_library(saccade_flags INTERFACE)
target_compile_options(saccade_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                                               -Werror -march=x86-64-v3)
# GCC 12 sees an overlap that is not there in `"literal" + std::string` (its bug 105329).
target_compile_options(saccade_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
target_compile_definitions(saccade_flags INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
if(SACCADE_SANITIZE)
  # Instrumented moves of std::variant look uninitialized to GCC 12, and frames of Asio's coroutines
  # look freed in another way than they were made; release builds keep both checks.
  target_compile_options(saccade_flags INTERFACE
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>)
  target_compile_options(saccade_flags INTERFACE -fsanitize=${SACCADE_SANITIZE}
                                                 -fno-omit-frame-pointer -g1 -O1)
  target_link_options(saccade_flags INTERFACE -fsanitize=${SACCADE_SANITIZE})
  if(SACCADE_SANITIZE STREQUAL thread)
    # ThreadSanitizer does not know bare fences; what Asio guards by them, its mutexes guard too.
    target_compile_definitions(saccade_flags INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
endif()

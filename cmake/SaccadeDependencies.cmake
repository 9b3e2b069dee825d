# Outside code, each behind one interface target so that only the room that may use it links it.
# Where it comes from and why: third_party/versions.toml.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(GTest REQUIRED)
include(GoogleTest)

set(SACCADE_DEPS ${CMAKE_SOURCE_DIR}/build/deps CACHE PATH "where third_party/ was built")
set(SACCADE_DEPS_SRC ${CMAKE_SOURCE_DIR}/build/deps-src CACHE PATH "sources of third_party/")
set(SACCADE_MODELS ${CMAKE_SOURCE_DIR}/build/models CACHE PATH "fetched weights")

function(saccade_dep name)
  cmake_parse_arguments(DEP "" "" "INCLUDES;LIBS" ${ARGN})
  add_library(dep_${name} INTERFACE)
  target_include_directories(dep_${name} SYSTEM INTERFACE ${DEP_INCLUDES})
  target_link_libraries(dep_${name} INTERFACE ${DEP_LIBS})
endfunction()

# ggml was built with GCC's OpenMP: its runtime is needed whatever compiler we use.
set(llama ${SACCADE_DEPS_SRC}/llama.cpp)
saccade_dep(ggml INCLUDES ${llama}/ggml/include
  LIBS ${SACCADE_DEPS}/llama.cpp/ggml/src/libggml.a ${SACCADE_DEPS}/llama.cpp/ggml/src/libggml-cpu.a
       ${SACCADE_DEPS}/llama.cpp/ggml/src/libggml-base.a gomp Threads::Threads
       ${CMAKE_DL_LIBS})
saccade_dep(llama INCLUDES ${llama}/include LIBS ${SACCADE_DEPS}/llama.cpp/src/libllama.a dep_ggml)
saccade_dep(mtmd INCLUDES ${llama}/tools/mtmd
  LIBS ${SACCADE_DEPS}/llama.cpp/tools/mtmd/libmtmd.a
       ${SACCADE_DEPS}/llama.cpp/vendor/hash/libvendor-hash.a dep_llama)
saccade_dep(jinja INCLUDES ${llama}/common ${llama}/vendor LIBS ${SACCADE_DEPS}/libsaccade_jinja.a
                                                               dep_ggml)
# An imported target, not a bare path: CMake then keeps ggml behind it on the link line also where
# nothing else needs ggml.
add_library(whisper_archive STATIC IMPORTED GLOBAL)
set_target_properties(whisper_archive PROPERTIES
  IMPORTED_LOCATION ${SACCADE_DEPS}/whisper.cpp/src/libwhisper.a
  INTERFACE_LINK_LIBRARIES dep_ggml)
saccade_dep(whisper INCLUDES ${SACCADE_DEPS_SRC}/whisper.cpp/include LIBS whisper_archive)

pkg_check_modules(FFMPEG REQUIRED IMPORTED_TARGET libavformat libavcodec libavutil libswscale
                  libswresample libavdevice)
pkg_check_modules(WEBP REQUIRED IMPORTED_TARGET libwebp libwebpdemux)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(JPEG REQUIRED IMPORTED_TARGET libjpeg)
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)
find_library(SACCADE_YUV yuv REQUIRED)
saccade_dep(ffmpeg LIBS PkgConfig::FFMPEG PkgConfig::WEBP ${SACCADE_YUV})
saccade_dep(seccomp LIBS PkgConfig::SECCOMP)
saccade_dep(jpeg LIBS PkgConfig::JPEG)
saccade_dep(crypto LIBS PkgConfig::CRYPTO)
# Headers only. Exceptions of Asio stay inside transport; its own threads are not used.
find_package(Boost 1.81 EXACT REQUIRED)
saccade_dep(boost INCLUDES ${Boost_INCLUDE_DIRS})
saccade_dep(curl LIBS PkgConfig::CURL PkgConfig::CRYPTO)

# The wheel's folder is known through the project's own Python environment.
file(GLOB openvino_cmake ${CMAKE_SOURCE_DIR}/build/venv/lib/python3*/site-packages/openvino/cmake)
set(OpenVINO_DIR ${openvino_cmake} CACHE PATH "OpenVINO's CMake package")
find_package(OpenVINO REQUIRED COMPONENTS Runtime)
saccade_dep(openvino LIBS openvino::runtime)
# Debian's OpenCV and the wheel's OpenVINO both want a libtbb.so.12 and get the one named first: it
# must be the wheel's, or OpenVINO runs on Debian's older one.
saccade_dep(opencv INCLUDES /usr/include/opencv4 LIBS dep_openvino opencv_imgproc opencv_core)
target_link_options(dep_opencv INTERFACE ${OpenVINO_DIR}/../libs/libtbb.so.12)

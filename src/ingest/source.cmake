# What runs beside the decode worker, and the worker's own shell: process, sandbox, shared memory.
set(SOURCE_SOURCES
  backoff.cpp feed_push.cpp filter_syscalls.cpp from_push.cpp pace.cpp pass_packet.cpp redact_url.cpp resolve_input.cpp
  run_worker.cpp sandbox.cpp shared_slots.cpp source_process.cpp spawn_worker.cpp timeline.cpp
  watchdog.cpp worker_protocol.cpp worker_slots.cpp)
set(SOURCE_TESTS
  source_test_support.cpp backoff_test.cpp from_push_test.cpp lying_worker_test.cpp pace_test.cpp pass_packet_test.cpp
  redact_url_test.cpp resolve_input_test.cpp sandbox_test.cpp source_live_test.cpp
  source_process_test.cpp source_push_test.cpp timeline_test.cpp watchdog_test.cpp)

# Programs that stand for the worker in tests: the real one without the rest of saccade, one that
# lies, and one that tries what the sandbox forbids.
add_executable(saccade_decode_worker EXCLUDE_FROM_ALL
               ${CMAKE_CURRENT_LIST_DIR}/decode_worker_main.cpp)
add_executable(saccade_lying_worker EXCLUDE_FROM_ALL
               ${CMAKE_CURRENT_LIST_DIR}/lying_worker_main.cpp)
add_executable(saccade_sandbox_probe EXCLUDE_FROM_ALL
               ${CMAKE_CURRENT_LIST_DIR}/sandbox_probe_main.cpp)
foreach(program decode_worker lying_worker sandbox_probe)
  target_link_libraries(saccade_${program} PRIVATE saccade_ingest saccade_flags)
endforeach()
cmake_language(DEFER CALL add_dependencies saccade_ingest_test
               saccade_decode_worker saccade_lying_worker saccade_sandbox_probe)
set_source_files_properties(source_test_support.cpp sandbox_test.cpp PROPERTIES
  COMPILE_DEFINITIONS "SACCADE_DECODE_WORKER=\"$<TARGET_FILE:saccade_decode_worker>\";\
SACCADE_LYING_WORKER=\"$<TARGET_FILE:saccade_lying_worker>\";\
SACCADE_SANDBOX_PROBE=\"$<TARGET_FILE:saccade_sandbox_probe>\"")

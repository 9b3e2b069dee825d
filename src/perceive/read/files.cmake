# On-screen text. Paths are relative to src/perceive.
set(READ_SOURCES read/decode_ctc.cpp read/text_models.cpp read/model_picture.cpp
                 read/detect_text.cpp read/join_boxes.cpp read/recognize_line.cpp read/order_lines.cpp
                 read/vote_text.cpp read/track_text.cpp read/plan_regions.cpp read/read.cpp)
set(READ_TESTS read/decode_ctc_test.cpp read/detect_text_test.cpp read/order_lines_test.cpp
               read/vote_text_test.cpp read/track_text_test.cpp read/plan_regions_test.cpp
               read/read_test.cpp read/read_models_test.cpp)
# Tests that need weights skip themselves when the folder is empty.
set_source_files_properties(read/read_models_test.cpp PROPERTIES
  COMPILE_DEFINITIONS "SACCADE_MODELS_DIR=\"${SACCADE_MODELS}\"")

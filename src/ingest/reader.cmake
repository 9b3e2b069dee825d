# What runs inside the decode worker.
set(READER_SOURCES media_support.cpp
  media_reader.cpp allow_list.cpp describe_failure.cpp open_input.cpp open_network.cpp
  read_bytes.cpp read_stream.cpp read_still.cpp read_push.cpp read_webp.cpp probe_header.cpp av_handles.cpp
  stamp_time.cpp choose_picture.cpp key_pictures.cpp detect_scene.cpp
  convert_picture.cpp convert_video.cpp orient_picture.cpp
  convert_sound.cpp assemble_sound.cpp)
set(READER_TESTS
  reader_test_support.cpp stamp_time_test.cpp media_reader_test.cpp
  read_still_test.cpp read_stream_test.cpp orient_picture_test.cpp choose_picture_test.cpp
  assemble_sound_test.cpp detect_scene_test.cpp read_network_test.cpp
  allow_list_test.cpp reader_contract_test.cpp
  convert_video_test.cpp key_pictures_test.cpp)

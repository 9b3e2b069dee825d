# Hearing: voice detection, segments, streaming speech. Paths are relative to src/perceive.
set(HEAR_SOURCES hear/detect_voice.cpp hear/segment_speech.cpp hear/agree_hypotheses.cpp
                 hear/hear.cpp)
set(HEAR_TESTS hear/segment_speech_test.cpp hear/agree_hypotheses_test.cpp hear/hear_test.cpp
               hear/hear_model_test.cpp)

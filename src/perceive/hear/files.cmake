# Hearing: voice detection, segments, streaming speech. Paths are relative to src/perceive.
set(HEAR_SOURCES hear/detect_voice.cpp hear/segment_speech.cpp hear/agree_hypotheses.cpp
                 hear/hear.cpp)
set(HEAR_TESTS)

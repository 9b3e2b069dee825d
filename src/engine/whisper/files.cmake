# Speech to text: the SpeechModel on whisper.cpp. Paths are relative to src/engine.
set(WHISPER_SOURCES whisper/check_weights.cpp whisper/place_words.cpp whisper/whisper_speech.cpp)
set(WHISPER_TESTS whisper/check_weights_test.cpp whisper/place_words_test.cpp
                  whisper/whisper_speech_test.cpp)

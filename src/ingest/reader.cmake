# What runs inside the decode worker.
set(READER_SOURCES stamp_time.cpp)
set(READER_TESTS)

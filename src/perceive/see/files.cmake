set(SEE_SOURCES see/measure_change.cpp see/see.cpp see/tile_cache.cpp see/tile_grid.cpp)
set(SEE_TESTS see/measure_change_test.cpp see/see_test.cpp see/tile_cache_test.cpp
              see/tile_grid_test.cpp)

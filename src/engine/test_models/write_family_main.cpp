// For end-to-end tests: writes a pair of model files with random weights.
//   saccade-write-family FAMILY FOLDER    without arguments: the names of the families
#include <cstdio>
#include <exception>
#include <string>

#include "engine/test_models/random_family.h"

int main(int argc, char** argv) {
  namespace test = saccade::engine::test;
  if (argc != 3) {
    for (const auto& name : test::family_names()) std::puts(name.c_str());
    return argc == 1 ? 0 : 2;
  }
  try {
    test::write_family(argv[2], argv[1]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}

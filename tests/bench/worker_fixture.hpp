// With real workers, on the processor.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/files.hpp"

namespace cudal1 {

class WorkerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("CUDAL1_PYTHON", CUDAL1_TEST_PYTHON, 1);
    const std::string command = std::string(CUDAL1_TEST_PYTHON) + " -c 'import torch' 2> /dev/null";
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << CUDAL1_TEST_PYTHON << " has no torch";
  }

  std::filesystem::path module(const std::string& name, const std::string& body) const {
    const std::filesystem::path path = folder_.path() / (name + ".py");
    std::ofstream(path) << "import os, torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        "
                        << body << "\ndef get_inputs(): return [torch.rand(64)]\n";
    return path;
  }

  TemporaryFolder folder_;
};

}  // namespace cudal1

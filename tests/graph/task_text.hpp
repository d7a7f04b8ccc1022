// Small tasks for tests, as the text of graph.json.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/result.hpp"
#include "graph/task.hpp"

namespace cudal1::testing {

inline std::string task_text(std::string_view leaves, std::string_view nodes, std::string_view outputs) {
  return R"({"format": "cudal1.graph", "version": 1, "name": "t", )" + std::string(leaves) + R"(, "nodes": [)" +
         std::string(nodes) + R"(], "outputs": [)" + std::string(outputs) + "]}";
}

//! `"inputs": [x]` with one normal input of this dtype and shape.
inline std::string one_input(std::string_view dtype, std::string_view shape) {
  return R"("inputs": [{"name": "x", "dtype": ")" + std::string(dtype) + R"(", "shape": )" + std::string(shape) +
         R"(, "draw": {"kind": "normal"}}])";
}

inline Task make_task(std::string_view leaves, std::string_view nodes, std::string_view outputs) {
  return parse_task(task_text(leaves, nodes, outputs), {});
}

//! What the Error says; empty if there is none.
inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& problem) {
    return problem.what();
  }
  return {};
}

//! A folder that goes with the test.
class TestFolder : public TemporaryFolder {
 public:
  void write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path() / name, std::ios::binary) << bytes;
  }
};

//! The bytes of a safetensors file.
inline std::string safetensors_bytes(std::string_view header, std::string_view data) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return bytes + std::string(header) + std::string(data);
}

}  // namespace cudal1::testing

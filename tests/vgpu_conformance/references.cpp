#include "references.hpp"

#include <fmt/format.h>

#include "base/result.hpp"

namespace cudal1::conformance {

std::vector<double> Task::reals(const std::string& name) const {
  const BufferSpec& buffer = given.buffer(name);
  std::vector<double> values(buffer.elements);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = element(memory.at(name), buffer.dtype, i);
  return values;
}

void Task::store(const std::string& name, const std::vector<double>& values) const {
  const Dtype dtype = given.buffer(name).dtype;
  Bytes& bytes = memory.at(name);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == Dtype::f16)
      view<Half>(bytes)[i] = Half(values[i]);
    else if (dtype == Dtype::bf16)
      view<Bfloat>(bytes)[i] = Bfloat(values[i]);
    else if (dtype == Dtype::f64)
      view<double>(bytes)[i] = values[i];
    else if (dtype == Dtype::f32)
      view<float>(bytes)[i] = static_cast<float>(values[i]);
    else
      throw Error(fmt::format("'{}' does not hold floating-point numbers", name));
  }
}

Reference find_reference(const std::string& name) {
  for (const References* table :
       {&linear_algebra_references(), &reduction_references(), &row_references(), &elementwise_references(),
        &grid_references(), &integer_references(), &module_references(), &image_references()})
    if (const auto found = table->find(name); found != table->end()) return found->second;
  throw Error(fmt::format("there is no reference '{}'", name));
}

}  // namespace cudal1::conformance

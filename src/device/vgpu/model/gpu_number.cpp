#include "device/vgpu/model/gpu_number.hpp"

#include <fmt/format.h>

#include <cmath>

namespace cudal1::vgpu {

double number_with_reason(const JsonPlace& place) {
  place.allow_keys({"value", "why"});
  const JsonPlace value = place.at("value"), why = place.at("why");
  const double number = value.number();
  if (!std::isfinite(number) || number <= 0) value.fail(fmt::format("expected a positive number, found {}", number));
  if (why.text().empty()) why.fail("say where the number comes from");
  return number;
}

void expect_format(const JsonPlace& root, const std::string& format, std::int64_t version) {
  if (const std::string found = root.at("format").text(); found != format)
    root.at("format").fail(fmt::format("expected \"{}\", found \"{}\"", format, found));
  if (const std::int64_t found = root.at("version").integer(); found != version)
    root.at("version").fail(fmt::format("version {} is not known, only {}", found, version));
}

}  // namespace cudal1::vgpu

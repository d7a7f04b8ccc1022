#include <algorithm>
#include <cmath>
#include <numbers>

#include "references.hpp"

namespace cudal1::conformance {
namespace {

template <class Function>
void each(const Task& task, Function function) {
  auto x = task.reals("x");
  for (double& value : x) value = function(value);
  task.store("y", x);
}

void saxpy(const Task& task) {
  const auto x = task.buffer("x"), y = task.buffer("y");
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2.5f * x[i] + y[i];
}

void strided_copy(const Task& task) {
  const auto x = task.buffer("x"), y = task.buffer("y");
  const auto stride = static_cast<std::size_t>(task.value("STRIDE")), row = y.size() / stride;
  const auto offset = static_cast<std::size_t>(task.value("OFFSET"));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i % row * stride + i / row + offset];
}

void silu(const Task& task) {
  each(task, [](double x) { return x / (1.0 + std::exp(-x)); });
}

void gelu(const Task& task) {
  each(task, [](double x) { return 0.5 * x * std::erfc(-x * M_SQRT1_2); });
}

void gelu_tanh(const Task& task) {
  each(task, [](double x) { return 0.5 * x * (1.0 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x))); });
}

void square_plus_one(const Task& task) {
  const auto x = task.buffer("x"), y = task.buffer("y");
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * x[i] + 1.0f;
}

void plus_one(const Task& task) {
  const auto x = task.buffer("x"), y = task.buffer("y");
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] + 1.0f;
}

void polynomial(const Task& task) {
  const std::int64_t degree = task.value("degree");
  each(task, [degree](double x) {
    double sum = 1.0;
    for (std::int64_t i = 0; i < degree; ++i) sum = sum * x + 1.0;
    return sum;
  });
}

void black_scholes(const Task& task) {
  const auto price = task.reals("price"), strike = task.reals("strike"), years = task.reals("years");
  const auto below = [](double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); };
  std::vector<double> call(price.size());
  for (std::size_t i = 0; i < call.size(); ++i) {
    const double spread = 0.3 * std::sqrt(years[i]);
    const double d1 = (std::log(price[i] / strike[i]) + (0.02 + 0.3 * 0.3 / 2.0) * years[i]) / spread;
    call[i] = price[i] * below(d1) - strike[i] * std::exp(-0.02 * years[i]) * below(d1 - spread);
  }
  task.store("call", call);
}

//! Each step rounds to the 16-bit type; products of two and sums with a third are exact in double.
template <class T>
std::vector<double> clamped_mix(const std::vector<double>& x, const std::vector<double>& z, bool minus_product) {
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double sum = static_cast<float>(T(x[i] + z[i])), product = static_cast<float>(T(x[i] * z[i]));
    const double fused = static_cast<float>(T(sum * product - x[i]));
    y[i] = std::clamp(fused, -1.5, 1.5) - (minus_product ? std::fabs(product) : 0.0);
  }
  return y;
}

void half2_arithmetic(const Task& task) { task.store("y", clamped_mix<Half>(task.reals("x"), task.reals("z"), true)); }

void bf16x2_arithmetic(const Task& task) {
  task.store("y", clamped_mix<Bfloat>(task.reals("x"), task.reals("z"), false));
}

void half_scalars(const Task& task) {
  const auto x = task.buffer<Half>("x"), z = task.buffer<Half>("z"), y = task.buffer<Half>("y");
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) {
    const float a = x[i], b = z[i];
    y[i] = Half(a + b);
    y[i + n] = Half(a / b);
    y[i + 2 * n] = Half(std::sqrt(a));
    y[i + 3 * n] = Half(a * b * 100.0f);
  }
}

void functions_not_inlined(const Task& task) {
  const auto x = task.buffer("x"), y = task.buffer("y");
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float product = x[i] * x[i ^ 1];
    const float sum = x[i] + x[i ^ 1] + (i % 3 == 0 ? product : 0.0f);
    const float values[4] = {sum, product, sum - 1.0f, 3.0f};
    y[i] = values[i % 4];
  }
}

void double_precision(const Task& task) {
  const auto x = task.buffer<double>("x"), y = task.buffer<double>("y");
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0.0, term = 1.0;
    for (int k = 1; k < 20; ++k) {
      sum += term;
      term = term * x[i] / k;
    }
    y[i] = 1.0 / x[i];
    y[i + n] = std::sqrt(x[i]);
    y[i + 2 * n] = std::fma(x[i], x[i], -x[i] * x[i]);
    y[i + 3 * n] = sum;
  }
}

std::int32_t saturated(double value) { return static_cast<std::int32_t>(std::clamp(value, -0x1p31, 0x1p31 - 1.0)); }

void conversions(const Task& task) {
  const auto x = task.buffer("x"), z = task.buffer("z");
  const auto k = task.buffer<std::int32_t>("k"), y = task.buffer<std::int32_t>("y");
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) {
    const float v = i % 2 ? x[i] : x[i] * 1e-8f;
    y[i] = saturated(std::trunc(v));
    y[i + n] = saturated(std::nearbyint(v));
    y[i + 2 * n] = saturated(std::ceil(v));
    y[i + 3 * n] = saturated(std::floor(v));
    y[i + 4 * n] =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(std::clamp<double>(std::trunc(v), 0, 0xffffffffu)));
    y[i + 5 * n] = static_cast<std::int8_t>(k[i]) + static_cast<std::uint8_t>(k[i] >> 8) * 1000;
    z[i] = static_cast<float>(k[i]);
    z[i + n] = static_cast<float>(static_cast<std::uint32_t>(k[i]));
    z[i + 2 * n] = std::nearbyint(v) + std::floor(v) - std::ceil(v) + std::trunc(v);
    z[i + 3 * n] = static_cast<float>(static_cast<double>(k[i]) * 1.000000001);
  }
}

using Function = double (*)(double);

//! y holds one stretch of results for every function.
void each_function(const Task& task, std::initializer_list<Function> functions) {
  const auto x = task.reals("x");
  std::vector<double> y;
  for (const Function function : functions)
    for (const double value : x) y.push_back(function(value));
  task.store("y", y);
}

void elementary_functions(const Task& task) {
  each_function(task,
                {[](double v) { return std::exp(v); }, [](double v) { return std::log(v); },
                 [](double v) { return std::sin(v); }, [](double v) { return std::cos(v); },
                 [](double v) { return std::tanh(v); }, [](double v) { return std::pow(v, static_cast<double>(1.7f)); },
                 [](double v) { return std::erf(v); }, [](double v) { return std::cbrt(v); },
                 [](double v) { return std::atan2(v, 2.0); }, [](double v) { return std::log1p(v); },
                 [](double v) { return 1.0 / v; }, [](double v) { return std::sqrt(v); }});
}

void fast_functions(const Task& task) {
  each_function(task, {[](double v) { return std::exp(v); }, [](double v) { return std::log(v); },
                       [](double v) { return std::sin(v); }, [](double v) { return std::cos(v); },
                       [](double v) { return 1.0 / std::sqrt(v); }, [](double v) { return 1.0 / v; },
                       [](double v) { return std::exp2(v); }});
}

//! An angle as the device's fast functions have it: over 2 pi, in fp32, toward zero; here in radians again.
double device_angle(double radians) {
  const double turns = radians * static_cast<double>(0.15915494f);
  float cut = static_cast<float>(turns);
  if (std::fabs(cut) > std::fabs(turns)) cut = std::nextafter(cut, 0.0f);
  return 2 * std::numbers::pi * std::remainder(cut, 1.0);
}

void fast_sines(const Task& task) {
  each_function(
      task, {[](double v) { return std::sin(device_angle(v)); }, [](double v) { return std::cos(device_angle(v)); }});
}

void dynamic_shared(const Task& task) {
  const auto x = task.buffer("x");
  const auto y = task.buffer<double>("y");
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t begin = i / 64 * 64, t = i % 64;
    const auto byte = static_cast<std::uint8_t>((t ^ 5) * 3);
    y[i] = x[begin + 63 - t] * 2.0 + static_cast<double>(x[begin + (t + 1) % 64]) + byte;
  }
}

void points_inside(const Task& task) {
  const auto points = task.buffer("points");
  const auto inside = task.buffer<std::uint8_t>("inside");
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const auto fits = [&](std::size_t axis) {
      const float from = points[4 * i + axis], size = std::fabs(points[4 * i + 2 + axis]);
      return from >= -0.5f && from + size <= 0.75f;
    };
    inside[i] = fits(0) && fits(1) ? 1 : fits(0) || fits(1) ? 2 : 0;
  }
}

}  // namespace

const References& elementwise_references() {
  static const References table{{"saxpy", saxpy},
                                {"strided_copy", strided_copy},
                                {"silu", silu},
                                {"silu_fast", silu},
                                {"gelu", gelu},
                                {"gelu_tanh", gelu_tanh},
                                {"square_plus_one", square_plus_one},
                                {"plus_one", plus_one},
                                {"polynomial", polynomial},
                                {"black_scholes", black_scholes},
                                {"half2_arithmetic", half2_arithmetic},
                                {"bf16x2_arithmetic", bf16x2_arithmetic},
                                {"half_scalars", half_scalars},
                                {"functions_not_inlined", functions_not_inlined},
                                {"double_precision", double_precision},
                                {"conversions", conversions},
                                {"elementary_functions", elementary_functions},
                                {"fast_functions", fast_functions},
                                {"fast_sines", fast_sines},
                                {"dynamic_shared", dynamic_shared},
                                {"points_inside", points_inside}};
  return table;
}

}  // namespace cudal1::conformance

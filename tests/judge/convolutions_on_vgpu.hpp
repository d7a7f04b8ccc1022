// What tests of convolutions on the virtual GPU share.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "convolution_cases.hpp"
#include "vgpu_walk_device.hpp"

namespace cudal1::testing {

class ConvolutionsOnVgpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!find_clang()) GTEST_SKIP() << "no clang: " << clang_search_description();
    static const auto few = std::make_shared<VgpuWalkDevice>(2);
    device_ = few;
    launches_before_ = device_->launches();
  }

  std::uint64_t launches() const { return device_->launches() - launches_before_; }

  std::shared_ptr<VgpuWalkDevice> device_;

 private:
  std::uint64_t launches_before_ = 0;
};

}  // namespace cudal1::testing

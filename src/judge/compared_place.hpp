// Where results are compared: large ones on their device, small ones on the host.
//
// To look at a number of a device is to wait for it, much longer still where processes take turns on it, and a result
// is looked at a dozen times in each of seven runs. Models with many batch norms leave hundreds of small states.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace cudal1 {

//! Copies on the host of those of one device that have few elements, brought together; the others as they are. Whoever
//! compares results passes all of them through this, so that equal sizes meet in one place.
std::vector<at::Tensor> where_compared(std::vector<at::Tensor> results);
at::Tensor where_compared(const at::Tensor& result);

}  // namespace cudal1

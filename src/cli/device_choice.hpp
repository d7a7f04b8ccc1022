#pragma once

#include <memory>
#include <string>

#include "device/vgpu/model/gpu_profile.hpp"
#include "judge/backend.hpp"

namespace cudal1 {

//! `--device auto|cuda|vgpu`: auto takes a GPU where there is one.
//! Throws Error in one line when there is no such device here.
std::unique_ptr<Backend> choose_backend(const std::string& device, const VgpuOptions& vgpu);

//! What the device can do, as numbers for those who estimate: of the GPU that is there, or whose times are predicted.
vgpu::GpuProfile profile_for(const Backend& backend, const std::string& predicted_gpu);

//! Many processes like this one judge at once: while it waits for the GPU, it sleeps. To be called before there is a
//! backend, for a context keeps the way to wait it was made with.
void leave_cores_to_others();

//! The virtual GPU as a counter for programs that are timed elsewhere. Throws Error where clang is missing.
std::unique_ptr<Backend> make_counting_backend(const std::string& gpu_file);

}  // namespace cudal1

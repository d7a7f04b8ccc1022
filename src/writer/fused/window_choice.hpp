// What `fuse` of windows leaves open, chosen; shared by the techniques that look at windows.
#pragma once

#include "writer/fused/window_code.hpp"
#include "writer/parameters.hpp"

namespace cudal1 {

std::vector<Parameter> window_parameters();

//! Throws Rejection for parameters that the windows rule out.
WindowShape choose_window_shape(const OpGraph& graph, const WindowSpace& space, const ParameterValues& parameters);

//! All of it: nodes -> a kernel.
WrittenGroup write_windows(const Region& region, const ParameterValues& parameters, SourcePosition at,
                           const std::string& name);

}  // namespace cudal1

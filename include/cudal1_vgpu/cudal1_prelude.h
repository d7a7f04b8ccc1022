// Included before every program on the virtual GPU: what nvcc knows without any include.
#pragma once

#include "cudal1_vgpu/atomics.h"
#include "cudal1_vgpu/attributes.h"
#include "cudal1_vgpu/integer.h"
#include "cudal1_vgpu/library.h"
#include "cudal1_vgpu/memory.h"
#include "cudal1_vgpu/threads.h"
#include "cudal1_vgpu/vector_types.h"
#include "cudal1_vgpu/video.h"
#include "cudal1_vgpu/warp.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

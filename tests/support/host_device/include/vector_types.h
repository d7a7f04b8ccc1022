#pragma once
#include "cuda_on_host.hpp"

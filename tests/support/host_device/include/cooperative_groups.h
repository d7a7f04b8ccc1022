#pragma once
#include "cudal1_host/cooperative_groups.hpp"

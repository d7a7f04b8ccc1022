// Programs include it by habit; all it declares is there already.
#pragma once

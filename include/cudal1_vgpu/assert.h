// `assert` is defined before every program, and does nothing.
#pragma once

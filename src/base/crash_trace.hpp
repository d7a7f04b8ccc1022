// What a process that crashes says last: which signal, and where.
#pragma once

namespace cudal1 {

//! From now on a fault of this process writes one line to standard error: the calls that led there, innermost first, as
//! FILE+OFFSET for `addr2line -e FILE OFFSET`. Then the process ends by the signal, as it would have.
void tell_where_it_crashes();

}  // namespace cudal1

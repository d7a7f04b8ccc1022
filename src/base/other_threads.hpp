// What has to be done in every thread, where the kernel restricts threads and not processes.
#pragma once

namespace cudal1 {

//! Runs `action` in every thread of this process but the caller's, in the threads' own contexts, one after the other.
//! Between two instructions of whatever they do, so it may only make system calls; it returns 0 or an errno. Throws
//! Error when it fails in a thread, or one does not answer. Not for two callers at once.
void run_in_other_threads(int (*action)(int), int argument);

}  // namespace cudal1

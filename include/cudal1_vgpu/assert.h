// `assert` is defined before every program, and does nothing unless programs are debugged. One that defines NDEBUG
// turns it off itself.
#ifdef NDEBUG
#undef assert
#define assert(condition) ((void)0)
#endif

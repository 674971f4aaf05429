// Tries: to bring a header and a grader of its own, called as the task's are.
// Task: grader. Must get: WA. Brings: twice.h grader.cpp
#include "twice.h"
#ifdef FORGED
#error "the task's header was replaced"
#endif
int twice(int number) { return number + 1; }

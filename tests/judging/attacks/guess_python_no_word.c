// Tries: to have an interactor in Python end for want of anything to read.
// Task: guess-input. Must get: WA.
int main(void) { return 0; }

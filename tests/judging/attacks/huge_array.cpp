// Tries: to fill the disk with the program.
// Task: secret. Must get: CE.
int array[1 << 30] = {1};
int main() { return array[5]; }
